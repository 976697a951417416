import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { GUID_PATTERN } from './guid.ts'

/** The schema or null. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/**
 * A closed object, for responses and messages. Request bodies are open (`Type.Object`): unknown members are ignored.
 */
export const Closed = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false })

/** A schema with a description for the API document. */
export const Described = <T extends TSchema>(schema: T, description: string) =>
  Type.Unsafe<Static<T>>({ ...schema, description })

export const OneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words] })

/** The members of a record that a schema names, without those that have no value. */
export function membersNamedIn<Properties extends TProperties, Record extends object>(
  { properties }: TObject<Properties>,
  record: Record,
): Pick<Record, keyof Properties & keyof Record> {
  const members: { [name: string]: unknown } = {}
  for (const name in properties) {
    const value = record[name as unknown as keyof Record]
    if (value !== undefined) members[name] = value
  }
  return members as Pick<Record, keyof Properties & keyof Record>
}

/** Accepted in any case. Validation converts it to lower case, the only form that is stored and returned. */
export const Guid = Type.String({ pattern: GUID_PATTERN, 'x-lower-case': true, 'x-guid': true })
export type Guid = Static<typeof Guid>

/** The length of a text in code points, as JSON Schema counts it. An unpaired surrogate counts as one. */
export function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
