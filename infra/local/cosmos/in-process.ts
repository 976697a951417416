import type { IncomingHttpHeaders } from 'node:http'
import type { CosmosClientOptions } from '@azure/cosmos'
import { type Answer, headersOf } from './response.ts'

/** The SDK's transport. */
export type HttpClient = NonNullable<CosmosClientOptions['httpClient']>
type Response = Awaited<ReturnType<HttpClient['sendRequest']>>

/** What the server reads of a request. */
export type ReceivedRequest = {
  readonly method?: string | undefined
  /** The path with the query. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/**
 * A transport for the SDK that calls the server in the same process without a connection, for tests with many requests.
 * Requests are answered in the order in which they are sent, each in its own turn of the event loop.
 */
export function inProcessClient(answer: (request: ReceivedRequest, body: string) => Answer): HttpClient {
  return {
    async sendRequest(request) {
      await new Promise(setImmediate)
      const { pathname, search } = new URL(request.url)
      const { method, body } = request
      const sent = { method, url: `${pathname}${search}`, headers: request.headers.toJSON() }
      const answered = answer(sent, typeof body === 'string' ? body : '')
      const texts = Object.entries(headersOf(answered)).map(([name, value]) => [name, String(value)])
      // The SDK reads all headers at once.
      const headers = { toJSON: () => Object.fromEntries(texts) } as Response['headers']
      return { request, status: answered.status, headers, bodyAsText: answered.body ?? '' }
    },
  }
}
