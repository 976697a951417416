import { faultEnvelope, httpStatusOf, refusalEnvelope } from '../http/envelope.ts'
import type { Route } from '../http/route.ts'
import { refusalsOf } from '../http/route.ts'
import { REFUSALS, Refusal, type RefusalCode } from '../kernel/refusals.ts'
import { headerReferences } from './parameters.ts'
import type { DocumentSchemas, Json, JsonObject, OperationExamples } from './schemas.ts'

const FAULT_CODE = 'InternalError'
type FailureCode = RefusalCode | typeof FAULT_CODE
const CODES = Object.keys(REFUSALS) as RefusalCode[]

/** The envelope of a failure: decisions, section 1. @param entry what one of its errors has. */
export function failureSchema(
  statusCode: JsonObject,
  entry: { readonly required: readonly string[]; readonly properties: JsonObject },
): JsonObject {
  return {
    type: 'object',
    required: ['data', 'isSuccess', 'statusCode', 'errors', 'error'],
    properties: {
      data: { type: 'null' },
      isSuccess: { const: false },
      statusCode,
      errors: {
        type: 'array',
        minItems: 1,
        description: 'All that is wrong with the input, or the one reason of a refusal.',
        items: { type: 'object', ...entry, additionalProperties: false },
      },
      error: { type: 'string', description: 'The first message.' },
    },
    additionalProperties: false,
  }
}

/** The failures that routes answer. */
export const FAILURE_SCHEMA = failureSchema(
  { type: 'integer' },
  {
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: [...CODES, FAULT_CODE] },
      message: { type: 'string', description: 'For a person.' },
      target: { type: 'string', description: 'A JSON pointer into the body, or the name of a parameter.' },
    },
  },
)

/** The envelope of a success. @param besides members beside `data`, none of them required. */
export function successSchema(data: Json, status: number, besides: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    required: ['data', 'isSuccess', 'statusCode', 'errors'],
    properties: {
      data,
      isSuccess: { const: true },
      statusCode: { const: status },
      errors: { type: 'array', maxItems: 0 },
      ...besides,
    },
    additionalProperties: false,
  }
}

/** A refusal as it is answered, with the register's own message. */
export function refusalEnvelopeOf(code: RefusalCode): JsonObject {
  return JSON.parse(refusalEnvelope(new Refusal(code)).body ?? 'null')
}

/** Every refusal and the fault as they are answered, by code; without those that no operation answers. */
export function refusalExamples(without: readonly RefusalCode[]): JsonObject {
  const answered = CODES.filter((code) => !without.includes(code))
  return {
    ...Object.fromEntries(answered.map((code) => [code, { value: refusalEnvelopeOf(code) }])),
    [FAULT_CODE]: { value: JSON.parse(faultEnvelope().body ?? 'null') },
  }
}

/** What a route answers, by status. */
export function operationResponses(route: Route, describer: DocumentSchemas, find: OperationExamples): JsonObject {
  const { status } = route.reply
  const isCacheable = route.method === 'GET' && route.reply.versioned === true
  const byStatus = new Map<number, FailureCode[]>()
  for (const code of refusalsOf(route))
    byStatus.set(httpStatusOf({ code }), [...(byStatus.get(httpStatusOf({ code })) ?? []), code])
  byStatus.set(500, [FAULT_CODE])
  return {
    [status]: success(route, describer, find),
    ...(isCacheable
      ? {
          304: {
            description: 'The version that `If-None-Match` names is the last one.',
            headers: headerReferences({ 'x-request-id': 'RequestId', etag: 'ETag' }),
          },
        }
      : {}),
    ...Object.fromEntries([...byStatus].map(([failed, codes]) => [failed, failureOrReference(codes)])),
  }
}

function success(route: Route, describer: DocumentSchemas, find: OperationExamples): JsonObject {
  const { summary, deprecated, reply } = route
  const { status, schema, paged, versioned } = reply
  return {
    description: summary,
    headers: headerReferences({
      'x-request-id': 'RequestId',
      ...(versioned === true ? { etag: 'ETag' } : {}),
      ...(status === 201 ? { location: 'Location', 'idempotency-replayed': 'IdempotencyReplayed' } : {}),
      ...(deprecated === true ? { deprecation: 'Deprecation', link: 'Successor' } : {}),
    }),
    content: {
      'application/json': {
        schema: successSchema(
          describer.describe(schema),
          status,
          paged === true ? { nextCursor: { type: 'string', description: 'Absent on the last page.' } } : {},
        ),
        example: find.answerOf(route),
      },
    },
  }
}

/** Failures that most routes share, by name. */
const SHARED = {
  Unauthenticated: ['TokenInvalid', 'TokenMissing'],
  Forbidden: ['RoleRequired'],
  UsersOnly: ['CallerHasNoIdentity', 'RoleRequired', 'UsersOnly'],
  TooLarge: ['BodyTooLarge'],
  UnsupportedMediaType: ['UnsupportedMediaType'],
  Stale: ['PreconditionFailed'],
  Fault: [FAULT_CODE],
  TokenNotVerified: ['TokenNotVerified'],
  MethodNotAllowed: ['MethodNotAllowed'],
} as const satisfies Record<string, readonly FailureCode[]>

const SHARED_NAMES = Object.keys(SHARED) as (keyof typeof SHARED)[]

/** What answers of a status have besides the id of the request. */
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'WwwAuthenticate' },
  405: { allow: 'Allow' },
}

/** The components that operations refer to. */
export function sharedResponses(): JsonObject {
  return Object.fromEntries(Object.entries(SHARED).map(([name, codes]) => [name, failure(codes)]))
}

function failureOrReference(codes: readonly FailureCode[]): JsonObject {
  const name = SHARED_NAMES.find((shared) => SHARED[shared].join() === codes.join())
  return name === undefined ? failure(codes) : sharedResponseReference(name)
}

/** A reference to one of the failures that many operations share. */
export function sharedResponseReference(name: keyof typeof SHARED): JsonObject {
  return { $ref: `#/components/responses/${name}` }
}

function failure(codes: readonly FailureCode[]): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headerReferences({ 'x-request-id': 'RequestId', ...HEADERS_OF_STATUS[statusOfFailure(codes)] }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

/** The codes of one answer have one status. */
function statusOfFailure([code]: readonly FailureCode[]): number {
  return code === undefined || code === FAULT_CODE ? 500 : httpStatusOf({ code })
}
