import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

const CODES = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  500: 'InternalServerError',
} as const

export type FailureStatus = keyof typeof CODES

/** An error response of the protocol. The client parses the body of every error, so each body is JSON. */
export class CosmosFailure extends Error {
  readonly status: FailureStatus
  readonly substatus: number | undefined

  constructor(status: FailureStatus, message: string, substatus?: number) {
    // An expected answer, such as 404: the stack says nothing, and collecting it takes longer than the answer.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'CosmosFailure'
    this.status = status
    this.substatus = substatus
  }

  body(): string {
    return JSON.stringify({ code: CODES[this.status], message: this.message })
  }
}

/** A 400 error. The message names the invalid part of the request. */
export const badRequest = (message: string, substatus?: number): CosmosFailure =>
  new CosmosFailure(400, message, substatus)

/**
 * Size in KB, request units of a read, of a write.
 * https://learn.microsoft.com/azure/cosmos-db/understand-request-unit-consumption
 */
const POINTS = [
  [1, 1, 4.95],
  [4, 1.14, 6.67],
  [16, 1.67, 9.52],
  [64, 4.76, 22.67],
  [1024, 145.9, 625],
] as const

// The figures are estimates. Use them to compare alternatives, not to plan a budget.

/**
 * Reads of an account with Strong consistency ask two replicas.
 * https://learn.microsoft.com/azure/cosmos-db/consistency-levels#consistency-levels-and-throughput
 */
const READ_REPLICAS_COUNT = 2

export const readCharge = (sizeBytes: number): number => READ_REPLICAS_COUNT * interpolated(sizeBytes / 1024, 1)

export const writeCharge = (sizeBytes: number): number => interpolated(sizeBytes / 1024, 2)

export const queryCharge = (rowCount: number): number => rounded(READ_REPLICAS_COUNT * (2.3 + 0.1 * rowCount))

function interpolated(sizeKb: number, column: 1 | 2): number {
  const above = Math.max(
    1,
    POINTS.findIndex(([kb]) => kb >= sizeKb),
  )
  const [from, to] = [POINTS[above - 1], POINTS[above]]
  if (from === undefined || to === undefined || sizeKb <= from[0]) return POINTS[0][column]
  return rounded(from[column] + ((to[column] - from[column]) * (sizeKb - from[0])) / (to[0] - from[0]))
}

const rounded = (units: number): number => Math.round(units * 100) / 100

/** An HTTP response. An undefined body is sent as no body. */
export type Answer = {
  readonly status: number
  readonly body: string | undefined
  readonly headers?: OutgoingHttpHeaders
}

export const jsonAnswer = (status: number, value: unknown, headers: OutgoingHttpHeaders = {}): Answer => ({
  status,
  body: JSON.stringify(value),
  headers,
})

/** An error response. The body is always JSON because the client reads its members without a check. */
export function failureAnswer(failure: CosmosFailure, headers: OutgoingHttpHeaders = {}): Answer {
  const substatus = failure.substatus === undefined ? {} : { 'x-ms-substatus': failure.substatus }
  return { status: failure.status, body: failure.body(), headers: { ...headers, ...substatus } }
}

/** Request units of a response: its own, or the minimum. */
export const chargeOf = ({ headers }: Answer): number => Number(headers?.['x-ms-request-charge'] ?? 1)

/** All headers of a response. Names are in lower case. */
export function headersOf(answer: Answer): OutgoingHttpHeaders {
  return {
    'x-ms-request-charge': chargeOf(answer),
    'x-ms-activity-id': randomUUID(),
    ...(answer.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...answer.headers,
  }
}

export function send(response: ServerResponse, answer: Answer): void {
  const body = answer.body === undefined ? undefined : Buffer.from(answer.body)
  const length = body === undefined ? {} : { 'content-length': body.length }
  response.writeHead(answer.status, { ...headersOf(answer), ...length })
  response.end(body)
}
