/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** A name as a part of a JSON pointer: RFC 6901, section 3. */
export function pointerPart(name: unknown): string {
  return String(name).replaceAll('~', '~0').replaceAll('/', '~1')
}
