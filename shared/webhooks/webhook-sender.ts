import { type LookupAddress, lookup as resolve } from 'node:dns'
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Attempt } from '../domain/events/delivery.ts'
import type { EventSender } from '../domain/events/event-stores.ts'
import { toTimestamp } from '../kernel/timestamp.ts'
import { targetKind } from './event-targets.ts'
import { isPublicAddress } from './public-addresses.ts'
import { signaturesOf } from './webhook-signature.ts'

const TIMEOUT_MS = 10_000
/** An idle connection is closed after this time. */
const IDLE_MS = 5_000
/** Bytes of an answer that are read. They are not used. */
const ANSWER_LIMIT_BYTES = 64 * 1024
/**
 * No limit of connections: one receiver that does not answer would delay others on its host. The attempts at each
 * receiver are limited instead.
 */
const AGENT = { keepAlive: true, keepAliveMsecs: 1_000, timeout: TIMEOUT_MS + IDLE_MS }

type SenderOptions = {
  /** Addresses that are allowed besides public ones. */
  readonly targets: readonly string[]
  nowMs(): number
  elapsedMs(): number
  /** Resolves names. Tests replace it. */
  readonly lookup?: typeof resolve
}

/** A name has an address that is not public. */
class TargetNotAllowed extends Error {
  override readonly name = 'TargetNotAllowed'
}

/** Posts events by HTTP, signed by the Standard Webhooks specification. Redirects are answers like others. */
export function webhookSender({ targets, nowMs, elapsedMs, lookup = resolve }: SenderOptions): EventSender {
  // The connection is made to the addresses that were checked: the name is not resolved again.
  const agents = {
    public: new HttpsAgent({ ...AGENT, lookup: publicLookup(lookup) }),
    allowed: new HttpsAgent(AGENT),
    plain: new HttpAgent(AGENT),
  }
  return {
    faultOf(url) {
      const kind = targetKind(url, targets)
      return typeof kind === 'string' ? undefined : kind.fault
    },
    async send({ url }, secrets, { id, body }) {
      const startedMs = elapsedMs()
      const at = toTimestamp(nowMs())
      const ended = (status: number | null, error: Attempt['error']): Attempt => {
        return { at, status, durationMs: Math.round(elapsedMs() - startedMs), error }
      }
      const kind = targetKind(url, targets)
      if (typeof kind !== 'string') return ended(null, 'TargetNotAllowed')
      const timestampS = Math.floor(nowMs() / 1000)
      const target = new URL(url)
      const isPlain = target.protocol === 'http:'
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const options = {
        method: 'POST',
        agent: isPlain ? agents.plain : agents[kind],
        signal,
        headers: {
          'content-type': 'application/cloudevents+json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'collections-service-events/1',
          'webhook-id': id,
          'webhook-timestamp': String(timestampS),
          'webhook-signature': signaturesOf(secrets, id, timestampS, body),
        },
      }
      try {
        return ended(await post(isPlain, target, options, body), null)
      } catch (error) {
        if (error instanceof TargetNotAllowed) return ended(null, 'TargetNotAllowed')
        return ended(null, signal.aborted ? 'Timeout' : 'ConnectionFailed')
      }
    },
  }
}

/** Resolves with the status once the answer has ended or is longer than anybody needs. */
function post(isPlain: boolean, target: URL, options: RequestOptions, body: string): Promise<number> {
  const { promise, resolve: resolved, reject } = Promise.withResolvers<number>()
  const sent = (isPlain ? httpRequest : httpsRequest)(target, options, (answer) => {
    let byteCount = 0
    answer.on('data', (bytes: Buffer) => {
      byteCount += bytes.length
      if (byteCount <= ANSWER_LIMIT_BYTES) return
      resolved(answer.statusCode ?? 0)
      sent.destroy()
    })
    answer.on('end', () => resolved(answer.statusCode ?? 0))
    answer.on('error', reject)
  })
  sent.on('error', reject)
  // An answer that changes the protocol ends without an answer and without an error.
  sent.on('close', () => reject(new Error('The connection has ended without an answer')))
  sent.end(body)
  return promise
}

/** Fails when any address of a name is not public. */
function publicLookup(lookup: typeof resolve): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[] = []) => {
      const isPublic = addresses.length > 0 && addresses.every(({ address }) => isPublicAddress(address))
      const fault = error ?? (isPublic ? null : new TargetNotAllowed(`${host} has an address that is not public`))
      const [first] = addresses
      if (fault !== null || first === undefined) callback(fault ?? new Error(`${host} has no address`), '', 0)
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
