import { randomUUID } from 'node:crypto'
import type { MembershipHistory } from '../membership-history.ts'
import type { DirectoryObjects } from '../objects.ts'

/** Who asks, as the Graph token says. */
export type GraphCaller = {
  readonly tenantId: string
  readonly clientId: string
  readonly roles: ReadonlySet<string>
}

/** One request, on its own or inside a batch. */
export type GraphRequest = {
  readonly method: string
  /** Without query, with `/v1.0`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

/** A request that may be answered: permitted, its path's parts read. */
export type GraphCall = GraphRequest & {
  readonly caller: GraphCaller
  readonly parameters: Readonly<Record<string, string>>
  readonly objects: DirectoryObjects
  /** As the client sees the server: what links in answers start with. */
  readonly origin: string
  readonly nowMs: number
  readonly history: MembershipHistory
  /** Lists of members are answered as they were so long ago. */
  readonly staleMs: number
}

export type GraphAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A string is sent as it is (an HTML page); undefined is no body. */
  readonly body: unknown
}

/** An answer without headers of its own. */
export const answered = (status: number, body?: unknown): GraphAnswer => ({ status, headers: {}, body })

/** A request refused the way Graph does. */
export class GraphRefusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** 400: what was sent cannot be understood or is not allowed. */
export const badRequest = (message: string, code = 'Request_BadRequest') => new GraphRefusal(400, code, message)

/** 403: the caller lacks a right. Graph says no more, whatever the reason. */
export const insufficientPrivileges = () =>
  new GraphRefusal(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')

/** 404, for an object and for whatever else an id may name. */
export const notFound = (id: string) =>
  new GraphRefusal(
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  )

/** Graph's error body: the inner error's date is UTC without saying so, and its name has a capital letter. */
export function errorBody(code: string, message: string, nowMs: number, inner: Record<string, string> = {}) {
  const requestId = randomUUID()
  const date = new Date(nowMs).toISOString().slice(0, 19)
  const innerError = { ...inner, date, 'request-id': requestId, 'client-request-id': requestId }
  return { error: { code, message, innerError } }
}

/** What a refusal answers; any other error is a fault of this server and thrown again. */
export function refused(error: unknown, nowMs: number): GraphAnswer {
  if (!(error instanceof GraphRefusal)) throw error
  return answered(error.status, errorBody(error.code, error.message, nowMs))
}
