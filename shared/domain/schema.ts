import { type Static, type TProperties, type TSchema, Type } from 'typebox'

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
