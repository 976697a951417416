import type { TSchema } from 'typebox'

type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** Schemas that the document names, so that each is written down once. */
export type NamedSchemas = Readonly<Record<string, TSchema>>

/** Turns schemas as the service validates by them into those of the document. */
export type SchemaDescriber = {
  /** A schema in its place: a reference where it is a named one. */
  describe(schema: TSchema): Json
  /** All named schemas, by name. */
  components(): JsonObject
}

/**
 * Makes the describer. What only our validator understands is told in the words of JSON Schema: a GUID is a string of
 * format `uuid`. Its pattern stays, so that whoever ignores formats checks it too.
 */
export function schemaDescriber(named: NamedSchemas): SchemaDescriber {
  const names = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  const describe = (value: Json, isDefinition = false): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => describe(item))
    if (typeof value !== 'object' || value === null) return value
    const name = isDefinition ? undefined : names.get(JSON.stringify(value))
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    const { 'x-guid': isGuidText, 'x-lower-case': _isLowered, ...rest } = value as JsonObject
    const described = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, describe(member)]))
    return isGuidText === true ? { ...described, format: 'uuid' } : described
  }
  return {
    describe: (schema) => describe(plain(schema)),
    components: () =>
      Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, describe(plain(schema), true)])),
  }
}

/** Only what JSON can say: a schema carries hidden members for the compiler's sake. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema))
}
