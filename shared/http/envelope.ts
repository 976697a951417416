import type { Task } from '../kernel/cooperative-scheduler.ts'
import { REFUSALS, type Refusal, type RefusalEntry, type RefusalKind } from '../kernel/refusals.ts'
import { jsonSteps } from './json-steps.ts'
import type { Part, UnreadyParts } from './probes.ts'

/** What a route answers when all went well. `data` goes into the envelope. */
export type RouteResult<T = unknown> = {
  readonly data: T
  /** Only for paged lists, and there not on the last page. */
  readonly nextCursor?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export type HttpResponse = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Absent for 304 and HEAD. */
  readonly body?: string
  /** In place of the body where the answer is long. */
  readonly bytes?: Uint8Array
}

const STATUS: Record<RefusalKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  missing: 404,
  methodNotAllowed: 405,
  conflict: 409,
  stale: 412,
  tooLarge: 413,
  unsupportedMediaType: 415,
  unprocessable: 422,
  upstream: 502,
}

/** The HTTP status, which the kind of the refusal decides alone. */
export function httpStatusOf(refusal: Pick<Refusal, 'code'>): number {
  return STATUS[REFUSALS[refusal.code].kind]
}

/** Data in their envelope: decisions, section 1. */
export function successEnvelope(answer: RouteResult, status: number): HttpResponse {
  return envelope(status, JSON.stringify(success(answer, status)), answer.headers)
}

/** The same in steps, for an answer with long lists. */
export function* successEnvelopeSteps(answer: RouteResult, status: number): Task<HttpResponse> {
  return { status, headers: envelopeHeaders(answer.headers), bytes: yield* jsonSteps(success(answer, status)) }
}

function success({ data, nextCursor }: RouteResult, status: number): object {
  return { data, isSuccess: true, statusCode: status, errors: [], nextCursor }
}

/** What the caller has is still what there is. */
export function notModified({ headers }: RouteResult): HttpResponse {
  return { status: 304, headers: { 'cache-control': 'no-store', ...headers } }
}

/** All entries of a refusal in their envelope. */
export function refusalEnvelope(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return failureEnvelope(httpStatusOf(refusal), refusal.entries, headers)
}

/** Says nothing of the inside: decisions, section 1. */
export function faultEnvelope(): HttpResponse {
  return failureEnvelope(500, [
    { code: 'InternalError', message: 'Something went wrong here. Please try again later.' },
  ])
}

/** Names the parts and says nothing of what is wrong with them. */
export function unreadyEnvelope(unready: UnreadyParts): HttpResponse {
  const entries = unready.map((part) => ({ code: 'NotReady', message: UNREADY_MESSAGES[part], target: part }) as const)
  return failureEnvelope(503, entries)
}

const UNREADY_MESSAGES: Readonly<Record<Part, string>> = {
  database: 'The database cannot be reached',
  queue: 'The queue cannot be reached',
  directoryKeys: 'The keys that access tokens are signed with cannot be had',
}

type FailureEntry =
  | RefusalEntry
  | { readonly code: 'InternalError'; readonly message: string }
  | { readonly code: 'NotReady'; readonly message: string; readonly target: Part }

function failureEnvelope(
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
  return { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers }
}
