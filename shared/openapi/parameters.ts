import { isConditional, isCreating, pathParameters, type Route } from '../http/route.ts'
import type { JsonObject } from '../kernel/json.ts'
import type { DocumentSchemas } from './schemas.ts'

/** Parameters of many operations, as components. */
export const SHARED_PARAMETERS: JsonObject = {
  RequestId: {
    name: 'x-request-id',
    in: 'header',
    description:
      'Identifies the request in the response and in the log. A missing or malformed id is replaced by a new one.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A unique key that makes the request safe to retry, for example a random UUID. Keys are scoped to the caller and ' +
      'expire after 24 hours. A repeated request with the same key and body creates nothing and returns the first ' +
      'response again, with the header `idempotency-replayed`. If the first request was refused or failed, the repeated ' +
      'request runs. The same key with another body or operation: 422 `IdempotencyKeyReused`. While the first request ' +
      'is in progress: 409 `IdempotencyKeyInUse`, with `retry-after`.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]*$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'The `ETag` of the version to change. 412 `PreconditionFailed` if the record has changed since.',
    schema: { type: 'string' },
  },
  IfPlan: {
    name: 'If-Plan',
    in: 'header',
    description:
      'The `planId` of a plan for this collection. Saves only if the effect is still exactly the planned one; otherwise ' +
      '409 `PlanChanged`, and nothing is saved. 409 `PlanExpired` after an hour, or for an unknown plan.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a known version. 304 if it is still the current one.',
    schema: { type: 'string' },
  },
}

export const SHARED_HEADERS: JsonObject = {
  RequestId: { description: 'Identifies the request in the log.', schema: { type: 'string' } },
  ETag: { description: 'Identifies the version of the record or file.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: 'The response is that of an earlier request with the same `Idempotency-Key`.',
    schema: { const: 'true' },
  },
  Location: { description: 'The path of the new record.', schema: { type: 'string' } },
  Allow: { description: 'The methods that the path supports.', schema: { type: 'string' } },
  WwwAuthenticate: { description: 'The authentication scheme: `Bearer`.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds after which the request can be repeated.', schema: { type: 'string' } },
  Deprecation: {
    description: 'The time since which the operation is deprecated: RFC 9745.',
    schema: { type: 'string' },
  },
  MergedInto: {
    description: 'The path to use instead, with `rel="successor-version"`: RFC 8288.',
    schema: { type: 'string' },
  },
}

/** All parameters of an operation. Those of every operation come last. */
export function parametersOf(route: Route, schemas: DocumentSchemas): JsonObject[] {
  const { path, parameters = {}, query, reply, refusals, method } = route
  const guid: JsonObject = { type: 'string', format: 'uuid' }
  const required: readonly string[] = query?.required ?? []
  return [
    ...pathParameters(path).map((name) => {
      const schema = parameters[name]
      return { name, in: 'path', required: true, schema: schema === undefined ? guid : schemas.describe(schema) }
    }),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => {
      const { description } = schema as { description?: string }
      return {
        name,
        in: 'query',
        required: required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: schemas.describe(schema),
      }
    }),
    ...(isCreating(route) ? [parameterReference('IdempotencyKey')] : []),
    ...(isConditional(route) ? [parameterReference('IfMatch')] : []),
    ...(refusals.includes('PlanExpired') ? [parameterReference('IfPlan')] : []),
    ...(method === 'GET' && reply.versioned === true ? [parameterReference('IfNoneMatch')] : []),
    parameterReference('RequestId'),
  ]
}

export function parameterReference(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}

/** References to shared headers. @param components Component names by header name. */
export function headerReferences(components: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  )
}
