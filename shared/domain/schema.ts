import { type TProperties, type TSchema, Type } from 'typebox'

/** Null is a value of its own: known to be nothing. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A closed object, as replies and messages are: nothing beyond what is named. Bodies are open, with `Type.Object`. */
export const Closed = <T extends TProperties>(properties: T) => Type.Object(properties, { additionalProperties: false })

/** One of a few words. */
export const OneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words] })
