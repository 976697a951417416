import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import { badRequest } from './response.ts'

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value at a path of property names. Undefined if a property does not exist. Arrays have no properties. */
export function valueAt(document: Json | undefined, path: readonly string[]): Json | undefined {
  let value = document
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** Parses JSON. @throws CosmosFailure 400 with the name of the text */
export function parseJson(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw badRequest(`${what} is not JSON: ${(cause as Error).message}`)
  }
}

/** Parses a request body that must be an object. */
export function parseObject(text: string, what: string): JsonObject {
  const value = parseJson(text, what)
  if (!isJsonObject(value)) throw badRequest(`${what} must be a JSON object`)
  return value
}

/** Rejects unknown members by name: an ignored setting would be an undetected difference from Cosmos DB. */
export function refuseUnknownMembers(value: JsonObject, known: ReadonlySet<string>, what: string): void {
  const unknown = Object.keys(value).find((name) => !known.has(name))
  if (unknown !== undefined) throw badRequest(`${what} has a member that is not supported: ${unknown}`)
}
