import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { joinableFixture } from '../api/joinable-fixture.ts'
import { assertDescribed, type Received } from './described-events.ts'

export const SUBSCRIPTIONS = '/collections/beta/event-subscriptions'

type Delivered = { readonly event: Received; readonly headers: Readonly<Record<string, string>>; readonly text: string }

/** A receiver on a port of its own. Each delivered event must be described. */
export async function receiver(answer: (event: Received, index: number) => number | Promise<number> = () => 204) {
  const delivered: Delivered[] = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const text = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString()
    const event = JSON.parse(text) as Received
    assertDescribed(event)
    delivered.push({ event, headers: request.headers as Record<string, string>, text })
    const status = await answer(event, delivered.length - 1)
    if (status === 302) response.setHeader('location', 'http://127.0.0.1:9/')
    response.writeHead(status).end()
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  server.unref()
  // A process that has ended its tests does not wait until idle connections expire.
  server.on('connection', (socket) => socket.unref())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    delivered,
    events: () => delivered.map(({ event }) => event),
    types: () => delivered.map(({ event }) => event.type),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The signature of a delivery, computed by the text of the specification. */
export function signatureOf(secret: string, { headers, text }: Delivered): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

export type SubscriptionRecord = {
  readonly id: string
  readonly state: string
  readonly secret: string
  readonly disabledReason: string | null
}

/** An invocation that delivers events then lasts until they are delivered, however busy the machine is. */
const endless = () => new Promise<never>(() => undefined)

/**
 * Collections, requests and subscriptions over a local database, with messages that are delivered on demand.
 * @param more As of `joinableFixture`.
 */
export async function eventFixture(more: Parameters<typeof joinableFixture>[3] = {}) {
  const fixture = await joinableFixture(undefined, undefined, undefined, {
    ...more,
    overrides: { sleep: endless, ...more.overrides },
  })
  const { call, admin, sent, service } = fixture

  /** Delivers the messages that are due until none is. */
  async function drain(to = service): Promise<void> {
    for (;;) {
      const index = sent.findIndex(({ dueMs }) => dueMs <= fixture.nowMs())
      const [next] = index < 0 ? [] : sent.splice(index, 1)
      if (next === undefined) return
      await to.messages[next.message.queue].handle(next.message.message)
    }
  }

  return {
    ...fixture,
    drain,
    /** Advances the clock to each message in turn, for this number of seconds. */
    async passWithMessages(seconds: number): Promise<void> {
      const endMs = fixture.nowMs() + seconds * 1000
      for (;;) {
        await drain()
        const nextMs = Math.min(...sent.map(({ dueMs }) => dueMs), endMs)
        fixture.pass((nextMs - fixture.nowMs()) / 1000)
        if (nextMs >= endMs) return drain()
      }
    },
    async subscribe(url: string, types: readonly string[] = ['*']): Promise<SubscriptionRecord> {
      const { status, data, codes } = await call<SubscriptionRecord>(admin, 'POST', SUBSCRIPTIONS, { url, types })
      assert.equal(status, 201, codes.join())
      return data
    },
    subscription: async (id: string) => (await call<SubscriptionRecord>(admin, 'GET', `${SUBSCRIPTIONS}/${id}`)).data,
  }
}

export type EventFixture = Awaited<ReturnType<typeof eventFixture>>
