import { randomUUID } from 'node:crypto'
import type { MembershipChanges } from '../membership-changes.ts'
import type { DirectoryObjects } from '../objects.ts'
import type { RecentList } from '../recent-list.ts'

export type GraphCaller = {
  readonly tenantId: string
  readonly clientId: string
  readonly roles: ReadonlySet<string>
}

export const DELTA_FLAWS = ['emptyPage', 'replay', 'reset'] as const

/** How the response of a successful request differs from a sound one. */
export type Flaw = { readonly staleMs: number; readonly delta: (typeof DELTA_FLAWS)[number] | undefined }

export const NO_FLAW: Flaw = { staleMs: 0, delta: undefined }

export type GraphRequest = {
  readonly method: string
  /** Path with `/v1.0`, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** A mail as `GET /local/mails` shows it. */
export type SentMail = {
  /** Timestamp. */
  readonly at: string
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  /** Null without an alternative of this type. */
  readonly text: string | null
  readonly html: string | null
  readonly messageId: string | null
}

/** An authorized request with parsed path parameters. */
export type GraphCall = GraphRequest & {
  readonly caller: GraphCaller
  readonly parameters: Readonly<Record<string, string>>
  readonly objects: DirectoryObjects
  /** Origin of the request URL, used for links in responses. */
  readonly origin: string
  readonly nowMs: number
  readonly changes: MembershipChanges
  readonly mails: RecentList<SentMail>
  readonly flaw: Flaw
}

export type GraphAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A string is sent unchanged (an HTML page). Undefined: no body. */
  readonly body: unknown
}

export const answered = (status: number, body?: unknown): GraphAnswer => ({ status, headers: {}, body })

/** A rejected request, with the status and body of Graph. */
export class GraphRefusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** 400: the request is invalid. */
export const badRequest = (message: string, code = 'Request_BadRequest') => new GraphRefusal(400, code, message)

/** 403: the caller lacks a permission. Graph returns the same error for all reasons. */
export const insufficientPrivileges = () =>
  new GraphRefusal(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')

/** 404: the object does not exist. */
export const notFound = (id: string) =>
  new GraphRefusal(
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  )

/** Error body of Graph. The date of the inner error is in UTC without a time zone. */
export function errorBody(code: string, message: string, nowMs: number, inner: Record<string, string> = {}) {
  const requestId = randomUUID()
  const date = new Date(nowMs).toISOString().slice(0, 19)
  const innerError = { ...inner, date, 'request-id': requestId, 'client-request-id': requestId }
  return { error: { code, message, innerError } }
}

/** The response of a refusal. Rethrows other errors. */
export function refused(error: unknown, nowMs: number): GraphAnswer {
  if (!(error instanceof GraphRefusal)) throw error
  return answered(error.status, errorBody(error.code, error.message, nowMs))
}
