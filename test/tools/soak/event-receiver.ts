import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'

/** An event as it is delivered: CloudEvents 1.0. */
export type ReceivedEvent = {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Receives the events of a run, and sometimes fails to: then they must come again, the same with the same id. */
export class EventReceiver {
  readonly events = new Map<string, ReceivedEvent>()
  /** What was wrong with a delivery. */
  readonly faults: string[] = []
  /** Secrets that the subscription has had. */
  readonly secrets: string[] = []
  deliveryCount = 0
  readonly #server: Server
  readonly #random: Random

  private constructor(random: Random) {
    this.#random = random
    this.#server = createServer((request, response) => void this.#receive(request, response))
  }

  static async start(random: Random): Promise<EventReceiver> {
    const receiver = new EventReceiver(random)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/events`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    // The instance was killed.
    if (body === undefined) return
    this.deliveryCount += 1
    this.#keep(request, body)
    const chance = this.#random.below(1000)
    if (chance < 10) response.writeHead(503).end()
    else if (chance < 20) request.socket.destroy()
    else response.writeHead(204).end()
  }

  #keep({ headers }: IncomingMessage, body: string): void {
    const event = JSON.parse(body) as ReceivedEvent
    const fault = (what: string) => void this.faults.push(`Event ${event.id}: ${what}: ${body}`)
    const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
    const signatures = String(headers['webhook-signature']).split(' ')
    if (!this.secrets.some((secret) => signatures.includes(signature(secret, `${id}.${timestamp}.${body}`)))) {
      fault('no signature is right')
    }
    if (id !== event.id) fault(`webhook-id is ${id}`)
    if (headers['content-type'] !== 'application/cloudevents+json') fault(`the type is ${headers['content-type']}`)
    const known = this.events.get(event.id)
    if (known !== undefined && !isDeepStrictEqual(known, event)) fault(`it was ${JSON.stringify(known)} before`)
    this.events.set(event.id, event)
  }
}

/** Standard Webhooks, "Symmetric signatures". */
function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part as Buffer)
  } catch {
    return undefined
  }
  return request.complete ? Buffer.concat(parts).toString() : undefined
}
