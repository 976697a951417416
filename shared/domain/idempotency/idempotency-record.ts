import { Type } from 'typebox'
import { leaseDecision } from '../../kernel/lease.ts'
import type { Versioned } from '../../kernel/versioned.ts'

/** A request with an idempotency key. Keys are scoped to the caller. */
export type IdempotentRequest = {
  readonly tenantId: string
  readonly callerId: string
  readonly key: string
  /** Equal only for equal requests: operation, path, query and body. */
  readonly fingerprint: string
}

/** The state of an idempotency key: in progress, or completed with a result. */
export type IdempotencyRecord = IdempotentRequest & {
  /** The ids of the created records are derived from it, so that they are the same in every attempt. */
  readonly seed: string
  /** The attempt in progress has failed if it has not completed by then; another one may start. */
  readonly inProgressUntilMs: number
  /** The result as JSON text; null until an attempt succeeds. */
  readonly result: string | null
}

/** The stored members of a record. The key itself is not stored, only an id derived from it. */
export const StoredIdempotencyRecord = Type.Object({
  tenantId: Type.String(),
  callerId: Type.String(),
  fingerprint: Type.String(),
  seed: Type.String(),
  inProgressUntilMs: Type.Number(),
  result: Type.Union([Type.String(), Type.Null()]),
})

/** Milliseconds. Longer than any attempt takes. A caller waits this long when an attempt ends with its process. */
const IN_PROGRESS_MS = 30_000

/** Clocks that differ start an attempt early. Its ids are those of the first one, so that it creates nothing twice. */
const TIMES = { leaseMs: IN_PROGRESS_MS, clockDifferenceMs: 0 } as const

export type IdempotencyDecision =
  | { readonly outcome: 'run' | 'in-progress' | 'reused' }
  | { readonly outcome: 'completed'; readonly result: string }

/** Whether a request runs, waits, is refused or gets the stored result. */
export function decideOnRecord(
  record: IdempotencyRecord | undefined,
  { fingerprint }: IdempotentRequest,
  nowMs: number,
): IdempotencyDecision {
  if (record === undefined) return { outcome: 'run' }
  if (record.fingerprint !== fingerprint) return { outcome: 'reused' }
  if (record.result !== null) return { outcome: 'completed', result: record.result }
  const attempt = { owner: record.seed, untilMs: record.inProgressUntilMs, epoch: 0 }
  return { outcome: leaseDecision(attempt, TIMES, nowMs).outcome === 'held' ? 'in-progress' : 'run' }
}

/** The record of an attempt that starts now. */
export function inProgressRecord(request: IdempotentRequest, seed: string, nowMs: number): IdempotencyRecord {
  return { ...request, seed, inProgressUntilMs: nowMs + IN_PROGRESS_MS, result: null }
}

/** The record after a failed attempt: another attempt may start at once, with the same ids. */
export function retryableRecord(record: IdempotencyRecord): IdempotencyRecord {
  return { ...record, inProgressUntilMs: 0 }
}

/**
 * The record without its result: the same request runs again, with the same ids, and finds what was created. Only for
 * operations whose records stay, as a deleted one would be created again.
 */
export function withoutResult<R extends IdempotencyState>(record: R): R {
  return { ...record, inProgressUntilMs: 0, result: null }
}

type IdempotencyState = Pick<IdempotencyRecord, 'inProgressUntilMs' | 'result'>

/** Seconds for which a record is kept after its last write. */
export const RECORD_TTL_S = 24 * 60 * 60

/** Stores idempotency records. A record expires `RECORD_TTL_S` after its last write. */
export interface IdempotencyStore {
  find(
    name: Pick<IdempotentRequest, 'tenantId' | 'callerId' | 'key'>,
  ): Promise<Versioned<IdempotencyRecord> | undefined>
  /** @returns The version of the new record; undefined when the key already has one. */
  add(record: IdempotencyRecord): Promise<string | undefined>
  /** @returns The new version; undefined when `version` is not the current one. */
  replace(record: IdempotencyRecord, version: string): Promise<string | undefined>
  /** @returns Whether the record was removed; false when `version` is not the current one. */
  remove(record: IdempotencyRecord, version: string): Promise<boolean>
}
