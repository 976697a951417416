import type { TSchema } from 'typebox'
import type { Route } from '../http/route.ts'

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
export type DocumentSchemas = {
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
export function documentSchemas(named: NamedSchemas, detailed: DetailedSchemas = {}): DocumentSchemas {
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

export type Examples = {
  /** By the name of a schema. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** By operation: what it answers, where that is not what the example of the schema shows. */
  readonly responses: Readonly<Record<string, unknown>>
}

/** An opaque cursor, of the form that such have. */
const NEXT_CURSOR = 'v1_eyJhZnRlciI6IjBmOGZhZDViIn0.kX3vBq0cYfW1dE7mZt9aRg'

export type OperationExamples = {
  bodyOf(route: Route): Json
  /** The whole envelope. */
  answerOf(route: Route): Json
}

/** Finds the examples of operations. @throws where there is none: an operation without an example is not described. */
export function operationExamples(examples: Examples, describer: DocumentSchemas): OperationExamples {
  const exampleOf = (schema: TSchema, operationId: string): unknown => {
    const name = describer.nameOf(schema)
    if (name !== undefined && Object.hasOwn(examples.schemas, name)) return examples.schemas[name]
    const { type, items } = schema as { type?: string; items?: TSchema }
    if (type === 'array' && items !== undefined) return [exampleOf(items, operationId)]
    if (type === 'null') return null
    throw new Error(`There is no example for ${operationId}`)
  }
  return {
    bodyOf: ({ body, operationId }) => (body === undefined ? null : asJson(exampleOf(body, operationId))),
    answerOf: ({ operationId, reply: { status, schema, paged } }) =>
      asJson({
        data: Object.hasOwn(examples.responses, operationId)
          ? examples.responses[operationId]
          : exampleOf(schema, operationId),
        isSuccess: true,
        statusCode: status,
        errors: [],
        ...(paged === true ? { nextCursor: NEXT_CURSOR } : {}),
      }),
  }
}

function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}
