import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openDirectory, SERVICE, send } from '../local/directory-fixture.ts'

export const CLIENT = 'aaaaaaaa-0000-4000-8000-00000000000c'
export const RESOURCE_URI = `api://${SERVICE}`

type PublishedKey = { kid: string; n: string; issuer?: string }

/** The local directory's keys as an authority publishes them, with an endpoint that can fail and whose keys can change. */
export type Authority = {
  readonly url: string
  /** Key sets served so far, failures included. */
  readonly requests: () => number
  /** How the endpoint behaves from now on. */
  behave(change: { isDown?: boolean; publish?: (keys: PublishedKey[]) => PublishedKey[] }): void
  signed(claims: object, key?: 'current' | 'unpublished' | 'otherIssuer', header?: object): Promise<string>
  close(): Promise<void>
}

export async function openAuthority(): Promise<Authority> {
  const directory = await openDirectory()
  let requestCount = 0
  let isDown = false
  let publish = (keys: PublishedKey[]) => keys
  const server = createServer(async (request, response) => {
    requestCount += 1
    if (isDown) return void response.writeHead(503).end()
    const { text } = await send(directory, 'GET', request.url ?? '')
    const { keys } = JSON.parse(text.replaceAll(directory.url, url())) as { keys: PublishedKey[] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: publish(keys) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url(),
    requests: () => requestCount,
    behave(change) {
      isDown = change.isDown ?? isDown
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
