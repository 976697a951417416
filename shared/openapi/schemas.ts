import type { TSchema } from 'typebox'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** Schemas that the document names, so that each is written down once. */
export type NamedSchemas = Readonly<Record<string, TSchema>>

/**
 * Components of the document by name. One of the name of a named schema takes its place: it tells what is checked by
 * rules of its own, of which the validator's schema says little.
 */
export type DetailedSchemas = Readonly<Record<string, JsonObject>>

/** Turns schemas as the service validates by them into those of the document. */
export type SchemaDescriber = {
  /** A schema in its place: a reference where it is a named one. */
  describe(schema: TSchema): Json
  /** The name that the document knows a schema by. */
  nameOf(schema: TSchema): string | undefined
  /** All named schemas and further components, by name. */
  components(): JsonObject
}

/**
 * Makes the describer. What only our validator understands is told in the words of JSON Schema: a GUID is a string of
 * format `uuid`. Its pattern stays, so that whoever ignores formats checks it too.
 */
export function schemaDescriber(named: NamedSchemas, detailed: DetailedSchemas = {}): SchemaDescriber {
  const names = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  const describe = (value: Json, isDefinition = false): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => describe(item))
    if (typeof value !== 'object' || value === null) return value
    const { description, ...bare } = value as JsonObject
    const name = isDefinition ? undefined : (names.get(JSON.stringify(value)) ?? names.get(JSON.stringify(bare)))
    if (name !== undefined) {
      // OpenAPI 3.1 lets a reference have a description of its own.
      return description === undefined ? schemaReference(name) : { ...schemaReference(name), description }
    }
    const { 'x-guid': isGuidText, 'x-lower-case': _isLowered, ...rest } = value as JsonObject
    const described = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, describe(member)]))
    return isGuidText === true ? { ...described, format: 'uuid' } : described
  }
  return {
    describe: (schema) => describe(plain(schema)),
    nameOf: (schema) => names.get(JSON.stringify(schema)),
    components: () => ({
      ...Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, describe(plain(schema), true)])),
      ...detailed,
    }),
  }
}

/** A reference to a component. */
export function schemaReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** Only what JSON can say: a schema carries hidden members for the compiler's sake. */
function plain(schema: TSchema): Json {
  return JSON.parse(JSON.stringify(schema))
}
