import { faultEnvelope, type HttpResponse, httpStatusOf, refusalEnvelope } from '../http/envelope.ts'
import type { Route } from '../http/route.ts'
import { refusalsOf } from '../http/route.ts'
import type { Json, JsonObject } from '../kernel/json.ts'
import { REFUSALS, type RefusalCode } from '../kernel/refusal-register.ts'
import { Refusal } from '../kernel/refusals.ts'
import { headerReferences } from './parameters.ts'
import type { DocumentSchemas, OperationExamples } from './schemas.ts'

const FAULT_CODE = 'InternalError'
type FailureCode = RefusalCode | typeof FAULT_CODE
export const NOT_MODIFIED = 'The version in `If-None-Match` is the current one.'
const CODES = Object.keys(REFUSALS) as RefusalCode[]

/** The schema of a failure envelope. @param entry The members of one of its errors. */
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
        description: 'All validation errors of the request, or the one reason for which it was refused.',
        items: { type: 'object', ...entry, additionalProperties: false },
      },
      error: { type: 'string', description: 'The message of the first error.' },
    },
    additionalProperties: false,
  }
}

/** The failure envelope of all routes. */
export const FAILURE_SCHEMA = failureSchema(
  { type: 'integer' },
  {
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: [...CODES, FAULT_CODE] },
      message: { type: 'string', description: 'For people; can change. Use `code` in programs.' },
      target: {
        type: 'string',
        description: 'A JSON pointer into the request body, or the name of a path, query or header parameter.',
      },
    },
  },
)

/** The schema of a success envelope. @param optional Further members, none of them required. */
export function successSchema(data: Json, status: number, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    required: ['data', 'isSuccess', 'statusCode', 'errors'],
    properties: {
      data,
      isSuccess: { const: true },
      statusCode: { const: status },
      errors: { type: 'array', maxItems: 0, items: {} },
      ...optional,
    },
    additionalProperties: false,
  }
}

/** The JSON body of a response. */
export function bodyOf({ body = 'null' }: HttpResponse): JsonObject {
  return JSON.parse(body.toString())
}

/** The response body of a refusal, with the message of the register. */
export function refusalEnvelopeOf(code: RefusalCode): JsonObject {
  return bodyOf(refusalEnvelope(new Refusal(code)))
}

/** The response bodies of all refusals and of the fault, by code. @param without Codes that no operation returns. */
export function refusalExamples(without: readonly RefusalCode[]): JsonObject {
  const returned = CODES.filter((code) => !without.includes(code))
  return {
    ...Object.fromEntries(returned.map((code) => [code, { value: refusalEnvelopeOf(code) }])),
    [FAULT_CODE]: { value: bodyOf(faultEnvelope()) },
  }
}

/** The responses of a route, by status. */
export function operationResponses(route: Route, schemas: DocumentSchemas, examples: OperationExamples): JsonObject {
  const { status } = route.reply
  const isCacheable = route.method === 'GET' && route.reply.versioned === true
  const byStatus = new Map<number, FailureCode[]>()
  for (const code of refusalsOf(route)) {
    const failed = statusOn(route, code)
    byStatus.set(failed, [...(byStatus.get(failed) ?? []), code])
  }
  byStatus.set(500, [FAULT_CODE])
  return {
    [status]: success(route, schemas, examples),
    ...(isCacheable
      ? {
          304: {
            description: NOT_MODIFIED,
            headers: headerReferences({ 'x-request-id': 'RequestId', etag: 'ETag' }),
          },
        }
      : {}),
    ...Object.fromEntries([...byStatus].map(([failed, codes]) => [failed, failureOrReference(codes, failed)])),
  }
}

/** The status with which a route returns a refusal. */
function statusOn({ conflicts }: Route, code: RefusalCode): number {
  return httpStatusOf(conflicts?.includes(code) ? { code, kind: 'conflict' } : { code })
}

function success(route: Route, schemas: DocumentSchemas, examples: OperationExamples): JsonObject {
  const { deprecated, reply } = route
  const { status, schema, versioned } = reply
  return {
    description: SUCCESS[status],
    headers: headerReferences({
      'x-request-id': 'RequestId',
      ...(versioned !== undefined ? { etag: 'ETag' } : {}),
      ...(status === 201 ? { location: 'Location', 'idempotency-replayed': 'IdempotencyReplayed' } : {}),
      ...(deprecated === true ? { deprecation: 'Deprecation', link: 'MergedInto' } : {}),
    }),
    content: {
      'application/json': {
        schema: successSchema(schemas.describe(schema), status, optionalMembers(reply, schemas)),
        example: examples.responseOf(route),
      },
    },
  }
}

function optionalMembers({ paged, warnings }: Route['reply'], schemas: DocumentSchemas): JsonObject {
  return {
    ...(paged === true
      ? { nextCursor: { type: 'string', description: 'The cursor of the next page. Absent on the last page.' } }
      : {}),
    ...(warnings === undefined ? {} : { warnings: schemas.describe(warnings) }),
  }
}

const SUCCESS = { 200: 'Success.', 201: 'Created.', 202: 'Accepted.' } as const

/** Failures that many routes share, by name. */
const SHARED = {
  Unauthenticated: ['TokenInvalid', 'TokenMissing'],
  Forbidden: ['RoleRequired', 'TenantNotAllowed'],
  UsersOnly: ['CallerHasNoIdentity', 'RoleRequired', 'TenantNotAllowed', 'UsersOnly'],
  LengthRequired: ['LengthRequired'],
  TooLarge: ['BodyTooLarge'],
  UnsupportedMediaType: ['UnsupportedMediaType'],
  Stale: ['PreconditionFailed'],
  TooManyRequests: ['TooManyRequests'],
  Fault: [FAULT_CODE],
  TokenNotVerified: ['TokenNotVerified'],
  MethodNotAllowed: ['MethodNotAllowed'],
} as const satisfies Record<string, readonly FailureCode[]>

const SHARED_NAMES = Object.keys(SHARED) as (keyof typeof SHARED)[]

/** Headers of a status besides `x-request-id`. */
const HEADERS_OF_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'WwwAuthenticate' },
  405: { allow: 'Allow' },
  429: { 'retry-after': 'RetryAfter' },
}

export function sharedResponses(): JsonObject {
  return Object.fromEntries(
    Object.entries(SHARED).map(([name, codes]) => [name, failure(codes, statusOfFailure(codes))]),
  )
}

function failureOrReference(codes: readonly FailureCode[], status: number): JsonObject {
  const name = SHARED_NAMES.find((shared) => SHARED[shared].join() === codes.join())
  return name === undefined ? failure(codes, status) : sharedResponseReference(name)
}

export function sharedResponseReference(name: keyof typeof SHARED): JsonObject {
  return { $ref: `#/components/responses/${name}` }
}

function failure(codes: readonly FailureCode[], status: number): JsonObject {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headerReferences({ 'x-request-id': 'RequestId', ...HEADERS_OF_STATUS[status] }),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Failure' },
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code, status)])),
      },
    },
  }
}

function exampleOf(code: FailureCode, status: number): JsonObject {
  if (statusOfFailure([code]) === status || code === FAULT_CODE) return { $ref: `#/components/examples/${code}` }
  return { value: { ...refusalEnvelopeOf(code), statusCode: status } }
}

/** All codes of a shared response have the same status. */
function statusOfFailure([code]: readonly FailureCode[]): number {
  return code === undefined || code === FAULT_CODE ? 500 : httpStatusOf({ code })
}
