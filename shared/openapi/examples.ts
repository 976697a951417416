import type { TSchema } from 'typebox'
import type { Route } from '../http/route.ts'
import type { Json, SchemaDescriber } from './schemas.ts'

export type Examples = {
  /** By the name of a schema. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** By operation: what it answers, where that is not what the example of the schema shows. */
  readonly answers: Readonly<Record<string, unknown>>
}

/** An opaque cursor, of the form that such have. */
const NEXT_CURSOR = 'v1_eyJhZnRlciI6IjBmOGZhZDViIn0.kX3vBq0cYfW1dE7mZt9aRg'

export type ExampleFinder = {
  bodyOf(route: Route): Json
  /** The whole envelope. */
  answerOf(route: Route): Json
}

/** Finds the examples of operations. @throws where there is none: an operation without an example is not described. */
export function exampleFinder(examples: Examples, describer: SchemaDescriber): ExampleFinder {
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
        data: Object.hasOwn(examples.answers, operationId)
          ? examples.answers[operationId]
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
