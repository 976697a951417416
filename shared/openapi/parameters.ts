import { isCreating, pathParameters, type Route } from '../http/route.ts'
import type { DocumentSchemas, JsonObject } from './schemas.ts'

/** Parameters that many operations share, as components. */
export const SHARED_PARAMETERS: JsonObject = {
  RequestId: {
    name: 'x-request-id',
    in: 'header',
    description: 'Comes back in the answer and stands in the log. One of another form is replaced.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      "A name of the caller's own for this creation, best a random one. Sent again within 24 hours with the same body, " +
      'it creates nothing more and has the first answer again, marked `idempotency-replayed`; a request that was refused ' +
      'or has failed is tried anew. With another body or at another route it is refused, 422 `IdempotencyKeyReused`; ' +
      'while the first request is still at work, 409 `IdempotencyKeyInUse` with `retry-after`.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` of the version that is to be changed; 412 if there is a later one.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a version already known: 304 if it is still the last one.',
    schema: { type: 'string' },
  },
}

/** Headers of answers, as components. */
export const SHARED_HEADERS: JsonObject = {
  RequestId: { description: 'Names the request in the log.', schema: { type: 'string' } },
  ETag: { description: 'Names the version.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: 'The answer is that of an earlier request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
  },
  Location: { description: 'The path of what was made.', schema: { type: 'string' } },
  Allow: { description: 'The methods that the path takes.', schema: { type: 'string' } },
  WwwAuthenticate: { description: 'How to authenticate: `Bearer`.', schema: { type: 'string' } },
  Deprecation: {
    description: 'Since when the operation is deprecated: RFC 9745.',
    schema: { type: 'string' },
  },
  Successor: { description: 'The path to use instead: RFC 8288.', schema: { type: 'string' } },
}

/** All parameters of an operation, those that every operation has at the end. */
export function parametersOf(route: Route, describer: DocumentSchemas): JsonObject[] {
  const { path, parameters = {}, query, reply, refusals, method } = route
  const guid: JsonObject = { type: 'string', format: 'uuid' }
  const required: readonly string[] = query?.required ?? []
  return [
    ...pathParameters(path).map((name) => {
      const schema = parameters[name]
      return { name, in: 'path', required: true, schema: schema === undefined ? guid : describer.describe(schema) }
    }),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => {
      const { description } = schema as { description?: string }
      return {
        name,
        in: 'query',
        required: required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: describer.describe(schema),
      }
    }),
    ...(isCreating(route) ? [parameterReference('IdempotencyKey')] : []),
    ...(refusals.includes('PreconditionFailed') ? [parameterReference('IfMatch')] : []),
    ...(method === 'GET' && reply.versioned === true ? [parameterReference('IfNoneMatch')] : []),
    parameterReference('RequestId'),
  ]
}

/** A reference to a parameter that many operations share. */
export function parameterReference(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}

/** Headers of an answer: by their names on the wire, the components that describe them. */
export function headerReferences(components: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )
}
