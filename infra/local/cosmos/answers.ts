import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { CosmosFailure } from './failure.ts'

/** An HTTP response. An undefined body is sent as no body. */
export type Answer = {
  readonly status: number
  readonly body: string | undefined
  readonly headers?: OutgoingHttpHeaders
}

/** A JSON response. */
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

/** Sends a response. @param sequence number of the last write, used as session token */
export function send(response: ServerResponse, answer: Answer, sequence: number): void {
  const body = answer.body === undefined ? undefined : Buffer.from(answer.body)
  response.writeHead(answer.status, {
    'x-ms-request-charge': chargeOf(answer),
    'x-ms-activity-id': randomUUID(),
    'x-ms-session-token': `0:-1#${sequence}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    ...answer.headers,
  })
  response.end(body)
}
