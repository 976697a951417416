import { type Static, Type } from 'typebox'
import { heldForMs, retryDelayMs } from '../../kernel/lease-expiry.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { IncludedWrites } from '../tenant-index/core-object-changes.ts'

/** A holder that has not renewed its lease for this long stops. */
export const EVALUATION_LEASE_MS = 60 * 1000

/** The wait before the next attempt to evaluate a tenant that another instance is evaluating. */
export const HELD_RETRY_MS = 2000

/** No invocation runs longer: `functionTimeout` in host.json. */
const RUN_AT_MOST_MS = 10 * 60 * 1000

/** Older entries are dropped; an evaluator that has not seen them evaluates all collections. */
const ENTRIES_KEPT_COUNT = 20

/** The lease document names at most so many collections per entry. */
const COLLECTIONS_NAMED_COUNT = 200

const WrittenCollections = Type.Union([Type.Array(Type.String()), Type.Literal('all')])
/** Collections whose members were written; `all` where it is not known which. */
export type WrittenCollections = Static<typeof WrittenCollections>

/**
 * What an evaluation has covered: everything written before `atMs`, and for results that depend on the day, the day
 * from `dayMs`. `readsRequests`: members of joinable collections are part of conditions. `coreObjects` says more
 * exactly which writes of core objects; absent when too many of them were recent.
 */
export const EvaluatedUntil = Type.Object({
  atMs: Type.Number(),
  dayMs: Type.Optional(Type.Number()),
  readsRequests: Type.Boolean(),
  coreObjects: Type.Optional(IncludedWrites),
})
export type EvaluatedUntil = Readonly<Static<typeof EvaluatedUntil>>

/**
 * The right to evaluate a tenant's criteria collections, held by one evaluator at a time. It also lists what recent
 * holders wrote, so that the next holder drops exactly those collections from its cache.
 */
export const EvaluationLease = Type.Object({
  holderId: Type.String(),
  /** Zero once the holder has released it. */
  untilMs: Type.Number(),
  /** One higher with each acquisition. */
  epoch: Type.Integer(),
  /** By epoch, ascending. */
  entries: Type.Array(Type.Object({ epoch: Type.Integer(), written: WrittenCollections })),
  /** The highest epoch whose entry was dropped. */
  droppedEpoch: Type.Integer(),
  /** Set when a lease expired: its former holder may still write until then. */
  lateWritesUntilMs: Type.Optional(Type.Number()),
  /** Present when the last evaluation has covered all collections. */
  evaluated: Type.Optional(EvaluatedUntil),
  /**
   * The state of the database's members that the holder had seen when it had covered all collections, which includes
   * all that it had written. Absent while the lease is held, and after an evaluation that has failed: the answer to one
   * of its writes may have been lost.
   */
  membersSeen: Type.Optional(Type.String()),
})
export type EvaluationLease = Readonly<Static<typeof EvaluationLease>>

/** One lease per tenant. A write quotes the version that was read. */
export interface EvaluationLeaseStore {
  /** Later reads of members include the state that the lease names in `membersSeen`. */
  find(tenantId: string): Promise<Versioned<EvaluationLease> | undefined>
  /**
   * @param version Undefined to create the first lease.
   * @returns The new version.
   * @throws Refusal `StaleVersion` when another evaluator has written the lease since.
   */
  save(tenantId: string, lease: EvaluationLease, version: string | undefined): Promise<string>
  /** The same, with the state of the members that this instance has seen. */
  saveWithState(tenantId: string, lease: EvaluationLease, version: string): Promise<string>
}

/** What a new holder knows of the writes of former holders. */
export type FormerWrites = {
  /** Collections that they have written since this one last held the lease. */
  readonly stale: WrittenCollections
  /** Whether reads of members include all these writes, and no further ones can come. */
  readonly seesFormerWrites: boolean
}

export type AcquireDecision =
  | { readonly outcome: 'held'; readonly retryMs: number }
  | ({ readonly outcome: 'acquired'; readonly lease: EvaluationLease } & FormerWrites)

/**
 * Whether `holderId` may evaluate now, and which collections it must drop from its cache.
 * @param knownEpoch The epoch that its cache was true of; 0 without a cache.
 * @param clockDifferenceMs The clocks of two evaluators differ by less.
 */
export function acquired(
  current: EvaluationLease | undefined,
  holderId: string,
  knownEpoch: number,
  { nowMs, clockDifferenceMs }: { readonly nowMs: number; readonly clockDifferenceMs: number },
): AcquireDecision {
  const untilMs = nowMs + EVALUATION_LEASE_MS
  if (current === undefined) {
    const lease = { holderId, untilMs, epoch: 1, entries: [], droppedEpoch: 0 }
    return { outcome: 'acquired', lease, stale: 'all', seesFormerWrites: false }
  }
  const isOwn = current.holderId === holderId
  const forMs = isOwn ? 0 : heldForMs(current.untilMs, clockDifferenceMs, nowMs)
  if (forMs > 0) return { outcome: 'held', retryMs: retryDelayMs(forMs, clockDifferenceMs, HELD_RETRY_MS) }
  const isUnreleased = current.untilMs > 0
  // What the former holder wrote is not known, and it may write once more if it is alive.
  const former = isUnreleased ? withEntry(current, 'all') : current
  const { evaluated: _evaluated, membersSeen, ...lease } = former
  const lateWritesUntilMs = nowMs + RUN_AT_MOST_MS + clockDifferenceMs
  const next = { ...lease, holderId, untilMs, epoch: current.epoch + 1 }
  return {
    outcome: 'acquired',
    lease: isUnreleased && !isOwn ? { ...next, lateWritesUntilMs } : next,
    stale: writtenSince(lease, knownEpoch),
    seesFormerWrites: membersSeen !== undefined && !isUnreleased && current.lateWritesUntilMs === undefined,
  }
}

/** What the results depend on besides core objects and definitions. */
export type CoveredResults = Omit<EvaluatedUntil, 'atMs'>

/**
 * The lease after its holder has ended.
 * @param acquiredAtMs When the holder's evaluation began.
 * @param covered Undefined unless the evaluation has covered all collections.
 */
export function released(
  lease: EvaluationLease,
  written: string[],
  acquiredAtMs: number,
  covered?: CoveredResults,
): EvaluationLease {
  const { lateWritesUntilMs, ...rest } = lease
  const evaluated = covered === undefined ? {} : { evaluated: { atMs: acquiredAtMs, ...covered } }
  const free = { ...rest, ...evaluated, untilMs: 0 }
  if (lateWritesUntilMs === undefined) {
    if (written.length === 0) return free
    return withEntry(free, written.length > COLLECTIONS_NAMED_COUNT ? 'all' : written)
  }
  // An evaluation of everything that began after the last late write has found what that write changed.
  if (acquiredAtMs > lateWritesUntilMs) return withEntry(free, 'all')
  return withEntry({ ...rest, untilMs: 0, lateWritesUntilMs }, 'all')
}

function withEntry(lease: EvaluationLease, written: WrittenCollections): EvaluationLease {
  const all = [...lease.entries, { epoch: lease.epoch, written }]
  const dropped = all.slice(0, -ENTRIES_KEPT_COUNT)
  return {
    ...lease,
    entries: all.slice(-ENTRIES_KEPT_COUNT),
    droppedEpoch: dropped.at(-1)?.epoch ?? lease.droppedEpoch,
  }
}

function writtenSince(lease: EvaluationLease, knownEpoch: number): WrittenCollections {
  const entries = lease.entries.filter(({ epoch }) => epoch > knownEpoch)
  const isUnknown =
    knownEpoch === 0 ||
    knownEpoch < lease.droppedEpoch ||
    lease.lateWritesUntilMs !== undefined ||
    entries.some(({ written }) => written === 'all')
  return isUnknown ? 'all' : [...new Set(entries.flatMap(({ written }) => written))]
}
