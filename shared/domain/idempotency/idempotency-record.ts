import type { Versioned } from '../../kernel/versioned.ts'

/** What a key stands for: it is the caller's own, and another caller's same key is another one. */
export type IdempotentRequest = {
  readonly tenantId: string
  readonly callerId: string
  readonly key: string
  /** The same for the same request alone: route, path and body. */
  readonly fingerprint: string
}

/** What is known of a key: who works on its request, or how that was answered. */
export type IdempotencyRecord = IdempotentRequest & {
  /** What the ids of the creation are made of, so that they are the same in every try. */
  readonly seed: string
  /** Until then somebody works on the request. Past it, that worker has died or failed, and another may try. */
  readonly claimedUntilMs: number
  /** The answer as JSON text; null until there is one. */
  readonly answer: string | null
}

/** Milliseconds. Longer than any creation takes; so long must a caller wait when the service died in the middle. */
const CLAIM_MS = 30_000

export type IdempotencyDecision =
  | { readonly outcome: 'claim' | 'busy' | 'reused' }
  | { readonly outcome: 'answered'; readonly answer: string }

/** What is to be done with a request, given what is known of its key. */
export function decideOnRecord(
  known: IdempotencyRecord | undefined,
  { fingerprint }: IdempotentRequest,
  nowMs: number,
): IdempotencyDecision {
  if (known === undefined) return { outcome: 'claim' }
  if (known.fingerprint !== fingerprint) return { outcome: 'reused' }
  if (known.answer !== null) return { outcome: 'answered', answer: known.answer }
  return { outcome: known.claimedUntilMs > nowMs ? 'busy' : 'claim' }
}

/** The key as long as its request is at work. */
export function inProgressRecord(request: IdempotentRequest, seed: string, nowMs: number): IdempotencyRecord {
  return { ...request, seed, claimedUntilMs: nowMs + CLAIM_MS, answer: null }
}

/** The key may be tried again at once, for the same creation. */
export function releasedRecord(record: IdempotencyRecord): IdempotencyRecord {
  return { ...record, claimedUntilMs: 0 }
}

/** Seconds. So long is a key remembered after its record was last written. */
export const RECORD_TTL_S = 24 * 60 * 60

/** What is known of keys. A record is gone `KEY_KEPT_S` after its last write. */
export interface IdempotencyStore {
  find(
    name: Pick<IdempotentRequest, 'tenantId' | 'callerId' | 'key'>,
  ): Promise<Versioned<IdempotencyRecord> | undefined>
  /** @returns The version of the new record; undefined when there is one of this key already. */
  add(record: IdempotencyRecord): Promise<string | undefined>
  /** @returns The new version; undefined when `version` is no longer current. */
  replace(record: IdempotencyRecord, version: string): Promise<string | undefined>
  /** @returns Whether it was removed: not when `version` is no longer current. */
  remove(record: IdempotencyRecord, version: string): Promise<boolean>
}
