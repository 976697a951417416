import type { TSchema } from 'typebox'
import type { Route } from '../http/route.ts'
import type { Json, JsonObject } from '../kernel/json.ts'

/** The schemas that become components of the document, by component name. */
export type NamedSchemas = Readonly<Record<string, TSchema>>

/**
 * Components by name. A component with the name of a named schema replaces it: it describes what the validator's schema
 * leaves to checks in code.
 */
export type DetailedSchemas = Readonly<Record<string, JsonObject>>

/** Converts schemas of the validator to schemas of the document. */
export type DocumentSchemas = {
  /** The schema, or a reference to its component. */
  describe(schema: TSchema): Json
  /** The component name of a schema. */
  nameOf(schema: TSchema): string | undefined
  /** All components by name. */
  components(): JsonObject
}

/**
 * Converts keywords of our validator to standard JSON Schema: a GUID becomes a string of format `uuid`. Its pattern
 * remains, for clients that do not check formats.
 */
export function documentSchemas(named: NamedSchemas, detailed: DetailedSchemas = {}): DocumentSchemas {
  const names = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  const describe = (value: Json, isDefinition = false): Json => {
    if (Array.isArray(value)) return value.map((item: Json) => describe(item))
    if (typeof value !== 'object' || value === null) return value
    const { description, ...bare } = value as JsonObject
    const name = isDefinition ? undefined : (names.get(JSON.stringify(value)) ?? names.get(JSON.stringify(bare)))
    if (name !== undefined) {
      // OpenAPI 3.1 allows a description beside a reference.
      return description === undefined ? schemaReference(name) : { ...schemaReference(name), description }
    }
    const { 'x-guid': isGuidText, 'x-lower-case': _isLowered, ...rest } = value as JsonObject
    const described = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, describe(member)]))
    return isGuidText === true ? { ...described, format: 'uuid' } : described
  }
  return {
    describe: (schema) => describe(asJson(schema)),
    nameOf: (schema) => names.get(JSON.stringify(schema)),
    components: () => ({
      ...Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, describe(asJson(schema), true)])),
      ...detailed,
    }),
  }
}

export function schemaReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** One of these words. */
export function words(allowed: readonly string[]): JsonObject {
  return { type: 'string', enum: allowed }
}

/** The examples of the document. */
export type Examples = {
  /** By component name. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** The `data` of responses that differ from the example of their schema, by operation id. */
  readonly responses: Readonly<Record<string, unknown>>
}

/** A cursor of the form that the service creates. */
const NEXT_CURSOR = 'v1_eyJhZnRlciI6IjBmOGZhZDViIn0.kX3vBq0cYfW1dE7mZt9aRg'

/** The example bodies of an operation. */
export type OperationExamples = {
  requestOf(route: Route): Json
  /** The whole envelope. */
  responseOf(route: Route): Json
}

/** Looks up the examples of operations. @throws Error when an operation has none: each needs one. */
export function operationExamples(examples: Examples, schemas: DocumentSchemas): OperationExamples {
  const exampleOf = (schema: TSchema, operationId: string): unknown => {
    const name = schemas.nameOf(schema)
    if (name !== undefined && Object.hasOwn(examples.schemas, name)) return examples.schemas[name]
    const { type, items } = schema as { type?: string; items?: TSchema }
    if (type === 'array' && items !== undefined) return [exampleOf(items, operationId)]
    if (type === 'null') return null
    throw new Error(`There is no example for ${operationId}`)
  }
  return {
    requestOf: ({ body, operationId }) => (body === undefined ? null : asJson(exampleOf(body, operationId))),
    responseOf: ({ operationId, reply: { status, schema, paged } }) =>
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

/** Without what JSON cannot represent: schemas have hidden members for the compiler. */
function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value))
}
