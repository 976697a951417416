import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDirectory, SERVICE, send } from '../local/directory-fixture.ts'

export const CLIENT = 'aaaaaaaa-0000-4000-8000-00000000000c'
export const RESOURCE_URI = `api://${SERVICE}`

type PublishedKey = { kid: string; kty: string; n?: string; use?: string; issuer?: string }

/** `elsewhere`: the endpoint redirects to another address. */
type Failure = 'none' | 'down' | 'silent' | 'elsewhere'

/**
 * The local directory's keys as an authority publishes them, with an endpoint that can fail and whose keys can change.
 */
export type Authority = {
  readonly url: string
  /** Key sets served so far, failures included. */
  readonly requests: () => number
  /** How the endpoint behaves from now on. */
  behave(change: { failure?: Failure; publish?: (keys: PublishedKey[]) => PublishedKey[] }): void
  signed(claims: object, key?: 'current' | 'unpublished' | 'otherIssuer', header?: object): Promise<string>
  close(): Promise<void>
}

export async function openAuthority(): Promise<Authority> {
  const directory = await openDirectory()
  let requestCount = 0
  let failure: Failure = 'none'
  let publish = (keys: PublishedKey[]) => keys
  const server = createServer(async (request, response) => {
    requestCount += 1
    const [path = ''] = request.url?.split('?') ?? []
    if (failure === 'silent') return
    if (failure === 'elsewhere' && path === request.url) {
      return void response.writeHead(302, { location: `${path}?moved` }).end()
    }
    const { text } = await send(directory, 'GET', path)
    const { keys } = JSON.parse(text.replaceAll(directory.url, url())) as { keys: PublishedKey[] }
    response
      .writeHead(failure === 'down' ? 503 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ keys: publish(keys) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url(),
    requests: () => requestCount,
    behave(change) {
      failure = change.failure ?? failure
      publish = change.publish ?? publish
    },
    signed: async (claims, key = 'current', header = {}) =>
      (await send(directory, 'POST', '/local/tokens', { claims, key, header })).body.token,
    async close() {
      server.closeAllConnections()
      server.close()
      await directory.close()
    },
  }
}
