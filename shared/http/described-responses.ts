import { REFUSALS, Refusal, type RefusalCode } from '../domain/refusal.ts'
import type { JsonObject, SchemaDescriber } from './described-schema.ts'
import { faultEnvelope, refusalEnvelope, statusOf } from './envelope.ts'
import type { Route } from './route.ts'
import { refusalsOf } from './route-refusals.ts'

const FAULT_CODE = 'InternalError'
type FailureCode = RefusalCode | typeof FAULT_CODE
const CODES = Object.keys(REFUSALS) as RefusalCode[]

/** The envelope of a failure: decisions, section 1. */
export const FAILURE_SCHEMA: JsonObject = {
  type: 'object',
  required: ['data', 'isSuccess', 'statusCode', 'errors', 'error'],
  properties: {
    data: { type: 'null' },
    isSuccess: { const: false },
    statusCode: { type: 'integer' },
    errors: {
      type: 'array',
      minItems: 1,
      description: 'All that is wrong with the input, or the one reason of a refusal.',
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: [...CODES, FAULT_CODE] },
          message: { type: 'string', description: 'For a person.' },
          target: { type: 'string', description: 'A JSON pointer into the body, or the name of a parameter.' },
        },
        additionalProperties: false,
      },
    },
    error: { type: 'string', description: 'The first message.' },
  },
  additionalProperties: false,
}

/** Every refusal and the fault as they are answered, by code. */
export function refusalExamples(): JsonObject {
  const examples = CODES.map((code) => [code, refusalEnvelope(new Refusal(code)).body] as const)
  return Object.fromEntries(
    [...examples, [FAULT_CODE, faultEnvelope().body] as const].map(([code, body]) => [
      code,
      { value: JSON.parse(body ?? 'null') },
    ]),
  )
}

/** What a route answers, by status. */
export function describedResponses(route: Route, describer: SchemaDescriber): JsonObject {
  const { status } = route.reply
  const isCacheable = route.method === 'GET' && route.reply.versioned === true
  const byStatus = new Map<number, FailureCode[]>()
  for (const code of refusalsOf(route))
    byStatus.set(statusOf({ code }), [...(byStatus.get(statusOf({ code })) ?? []), code])
  byStatus.set(500, [FAULT_CODE])
  return {
    [status]: success(route, describer),
    ...(isCacheable
      ? { 304: { description: 'The version that `If-None-Match` names is the last one.', headers } }
      : {}),
    ...Object.fromEntries([...byStatus].map(([failed, codes]) => [failed, failureOrReference(codes)])),
  }
}

const headers: JsonObject = { 'x-request-id': { $ref: '#/components/headers/RequestId' } }

function success(
  { summary, reply: { status, schema, paged, versioned } }: Route,
  describer: SchemaDescriber,
): JsonObject {
  const required = ['data', 'isSuccess', 'statusCode', 'errors']
  return {
    description: summary,
    headers: {
      ...headers,
      ...(versioned === true ? { etag: { $ref: '#/components/headers/ETag' } } : {}),
      ...(status === 201
        ? {
            location: { $ref: '#/components/headers/Location' },
            'idempotency-replayed': { $ref: '#/components/headers/IdempotencyReplayed' },
          }
        : {}),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          required,
          properties: {
            data: describer.describe(schema),
            isSuccess: { const: true },
            statusCode: { const: status },
            errors: { type: 'array', maxItems: 0 },
            ...(paged === true ? { nextCursor: { type: 'string', description: 'Absent on the last page.' } } : {}),
          },
          additionalProperties: false,
        },
      },
    },
  }
}

/** Failures that most routes share, by name. */
const SHARED: Readonly<Record<string, readonly FailureCode[]>> = {
  Unauthenticated: ['TokenInvalid', 'TokenMissing'],
  Forbidden: ['RoleRequired'],
  UsersOnly: ['CallerHasNoIdentity', 'RoleRequired', 'UsersOnly'],
  TooLarge: ['BodyTooLarge'],
  UnsupportedMediaType: ['UnsupportedMediaType'],
  Stale: ['PreconditionFailed'],
  Fault: [FAULT_CODE],
  TokenNotVerified: ['TokenNotVerified'],
}

/** The components that operations refer to. */
export function sharedResponses(): JsonObject {
  return Object.fromEntries(Object.entries(SHARED).map(([name, codes]) => [name, failure(codes)]))
}

function failureOrReference(codes: readonly FailureCode[]): JsonObject {
  const [name] = Object.entries(SHARED).find(([, shared]) => shared.join() === codes.join()) ?? []
  return name === undefined ? failure(codes) : { $ref: `#/components/responses/${name}` }
}

function failure(codes: readonly FailureCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers,
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}
