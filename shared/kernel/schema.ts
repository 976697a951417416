import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { GUID_PATTERN } from './guid.ts'

/** Null is a value of its own: known to be nothing. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A closed object, as replies and messages are: nothing beyond what is named. Bodies are open, with `Type.Object`. */
export const Closed = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false })

/** A schema with what the API's description says of the values in this place. */
export const Described = <T extends TSchema>(schema: T, description: string) =>
  Type.Unsafe<Static<T>>({ ...schema, description })

/** One of a few words. */
export const OneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words] })

/** Accepted in any case; validation turns it to lower case, the only form that is stored and returned. */
export const Guid = Type.String({ pattern: GUID_PATTERN, 'x-lower-case': true, 'x-guid': true })
export type Guid = Static<typeof Guid>

/** Characters as limits mean them, and as JSON Schema counts them: code points. Half a surrogate pair is one too. */
export function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
