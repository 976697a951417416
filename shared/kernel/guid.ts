/** The form of a GUID, in any case. Not in `schema.ts`, because settings are read before schemas are loaded. */
export const GUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const GUID = new RegExp(GUID_PATTERN)

/** Whether a text is a GUID: in any case, with hyphens and without braces. */
export function isGuid(text: string): boolean {
  return GUID.test(text)
}
