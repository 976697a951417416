import { randomUUID } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { CosmosFailure } from './failure.ts'

/** An answer before it goes onto the wire. Nothing is sent for an undefined body. */
export type Answer = {
  readonly status: number
  readonly body: string | undefined
  readonly headers?: OutgoingHttpHeaders
}

/** An answer of JSON. */
export const jsonAnswer = (status: number, value: unknown, headers: OutgoingHttpHeaders = {}): Answer => ({
  status,
  body: JSON.stringify(value),
  headers,
})

/** A refusal: always JSON, for the client reads its members without looking. */
export function failureAnswer(failure: CosmosFailure, headers: OutgoingHttpHeaders = {}): Answer {
  const substatus = failure.substatus === undefined ? {} : { 'x-ms-substatus': failure.substatus }
  return { status: failure.status, body: failure.body(), headers: { ...headers, ...substatus } }
}

/** Request units of an answer: its own, or the least there is. */
export const chargeOf = ({ headers }: Answer): number => Number(headers?.['x-ms-request-charge'] ?? 1)

/** Sends an answer. */
export function send(response: ServerResponse, answer: Answer): void {
  const body = answer.body === undefined ? undefined : Buffer.from(answer.body)
  response.writeHead(answer.status, {
    'x-ms-request-charge': chargeOf(answer),
    'x-ms-activity-id': randomUUID(),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    ...answer.headers,
  })
  response.end(body)
}
