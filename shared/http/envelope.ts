import type { Task } from '../kernel/cooperative-scheduler.ts'
import { REFUSALS, type RefusalKind } from '../kernel/refusal-register.ts'
import { Refusal } from '../kernel/refusals.ts'
import { jsonSteps } from './json-steps.ts'

/** The result of a route. `data` goes into the envelope. */
export type RouteResult<T = unknown> = {
  readonly data: T
  /** Paged lists only; absent on the last page. */
  readonly nextCursor?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Beside `data`, on routes with `reply.warnings`. */
  readonly warnings?: readonly object[]
}

export type HttpResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent for 304 and HEAD. Long responses and files are bytes. */
  readonly body?: string | Uint8Array
}

const STATUS: Record<RefusalKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  methodNotAllowed: 405,
  conflict: 409,
  gone: 410,
  lengthRequired: 411,
  stale: 412,
  tooLarge: 413,
  unsupportedMediaType: 415,
  unprocessable: 422,
  throttled: 429,
  upstream: 502,
  unavailable: 503,
}

/** Responses carry data of people: they are not cached, and browsers do not guess their type. */
const PROTECTIVE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** The HTTP status of a refusal. Depends only on its kind, by default that of the register. */
export function httpStatusOf({ code, kind = REFUSALS[code].kind }: Pick<Refusal, 'code'> & Partial<Refusal>): number {
  return STATUS[kind]
}

/** The response to a successful request. */
export function successEnvelope(result: RouteResult, status: number): HttpResponse {
  return envelope(status, JSON.stringify(success(result, status)), result.headers)
}

/** The response to a successful request, written in steps: for results with long lists. */
export function* successEnvelopeSteps(result: RouteResult, status: number): Task<HttpResponse> {
  return { status, headers: envelopeHeaders(result.headers), body: yield* jsonSteps(success(result, status)) }
}

function success({ data, nextCursor, warnings }: RouteResult, status: number): object {
  return { data, isSuccess: true, statusCode: status, errors: [], nextCursor, warnings }
}

/** 304: the caller's version is the current one. */
export function notModified({ headers }: RouteResult): HttpResponse {
  return { status: 304, headers: { ...PROTECTIVE_HEADERS, ...headers } }
}

/** The response to a refused request, with all entries of the refusal. */
export function refusalEnvelope(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return failureEnvelope(httpStatusOf(refusal), refusal.entries, headers)
}

/** 405 for paths that are read only. */
export function readOnlyEnvelope(method: string): HttpResponse {
  const allow = 'GET, HEAD'
  return refusalEnvelope(new Refusal('MethodNotAllowed', `${method} is not allowed. Allowed methods: ${allow}`), {
    allow,
  })
}

/** The entry of `errors` for a fault. */
export const FAULT_ENTRY = { code: 'InternalError', message: 'An internal error occurred. Try again later.' }

/** 500. Discloses no internals: the log has the error, under the id of the request. */
export function faultEnvelope(): HttpResponse {
  return failureEnvelope(500, [FAULT_ENTRY])
}

type FailureEntry = { readonly code: string; readonly message: string; readonly target?: string }

/** The response to a failed request. @param errors At least one. */
export function failureEnvelope(
  status: number,
  errors: readonly FailureEntry[],
  headers: Readonly<Record<string, string>> = {},
) {
  const failure = { data: null, isSuccess: false, statusCode: status, errors, error: errors[0]?.message }
  return envelope(status, JSON.stringify(failure), headers)
}

function envelope(status: number, body: string, headers?: Readonly<Record<string, string>>): HttpResponse {
  return { status, headers: envelopeHeaders(headers), body }
}

function envelopeHeaders(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return { 'content-type': 'application/json; charset=utf-8', ...PROTECTIVE_HEADERS, ...headers }
}
