import { badRequest } from './failure.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

/** Neither null nor a list. */
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path of property names; undefined where there is no such property. Arrays have no properties. */
export function valueAt(document: Json | undefined, path: readonly string[]): Json | undefined {
  let value = document
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Parses a request's text, or answers 400 naming what it should have been. */
export function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw badRequest(`${what} is not JSON: ${(cause as Error).message}`)
  }
}

/** Parses a request's body that has to be one object. */
export function parseObject(text: string, what: string): JsonObject {
  const value = parseJson(text, what)
  if (!isJsonObject(value)) throw badRequest(`${what} must be a JSON object`)
  return value
}

/** Refuses members nobody knows, by name: an ignored setting would be a silent difference from the cloud. */
export function refuseUnknownMembers(value: JsonObject, known: ReadonlySet<string>, what: string): void {
  const unknown = Object.keys(value).find((name) => !known.has(name))
  if (unknown !== undefined) throw badRequest(`${what} has a member that is not supported: ${unknown}`)
}
