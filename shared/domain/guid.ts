import { type Static, Type } from 'typebox'

export const GUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const GUID = new RegExp(GUID_PATTERN)

/** Accepted in any case; validation turns it to lower case, the only form that is stored and returned. */
export const Guid = Type.String({ pattern: GUID_PATTERN, 'x-lower-case': true, 'x-guid': true })
export type Guid = Static<typeof Guid>

export function isGuid(text: string): boolean {
  return GUID.test(text)
}
