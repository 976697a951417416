import { type Static, Type } from 'typebox'
import { type LeaseDecision, leaseDecision } from '../../kernel/lease.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { IncludedWrites } from '../tenant-index/core-object-changes.ts'

/** A holder writes only within this time after it has last written its lease, by its own clock. */
export const EVALUATION_LEASE_MS = 15_000

/** Others acquire a lease that was not written for so long, by the clock of the database, which has whole seconds. */
const EXPIRED_AFTER_S = EVALUATION_LEASE_MS / 1000 + 2

/** The wait before the next attempt to evaluate a tenant that another instance is evaluating. */
export const HELD_RETRY_MS = 2000

/**
 * What an evaluation has covered: everything written before `atMs`, and for results that depend on the day, the day
 * from `dayMs`. `readsRequests`: members of joinable collections are part of conditions. `coreObjects` says more
 * exactly which writes of core objects; absent when too many of them were recent. `timeZone`: that of its days; absent for
 * UTC.
 */
export const EvaluatedUntil = Type.Object({
  atMs: Type.Number(),
  dayMs: Type.Optional(Type.Number()),
  timeZone: Type.Optional(Type.String()),
  readsRequests: Type.Boolean(),
  coreObjects: Type.Optional(IncludedWrites),
})
export type EvaluatedUntil = Readonly<Static<typeof EvaluatedUntil>>

/** The right to evaluate a tenant's criteria collections, held by one evaluator at a time. */
export const EvaluationLease = Type.Object({
  holderId: Type.String(),
  /** Zero once the holder has released it. */
  untilMs: Type.Number(),
  /** One higher with each acquisition. Heads of members name the epoch in which they were written. */
  epoch: Type.Integer(),
  /**
   * The last epoch whose holder has failed, or has not released its lease: a write of its may still take effect. Later
   * holders write the heads of former epochs again, so that such a write finds another version. 0 when this is done.
   */
  unfencedEpoch: Type.Optional(Type.Integer()),
  /** The settings by which the last evaluation has read the rows: `settingsIdOf`. */
  settingsId: Type.Optional(Type.String()),
  /**
   * When the last one of the former evaluations began that has covered all collections. It has notified links of all
   * account changes before.
   */
  coveredAtMs: Type.Optional(Type.Number()),
  /** Present when the last evaluation has covered all collections. */
  evaluated: Type.Optional(EvaluatedUntil),
})
export type EvaluationLease = Readonly<Static<typeof EvaluationLease>>

/** A lease as read, and the seconds since it was written, by the clock of the database. */
export type ReadLease = Versioned<EvaluationLease> & { readonly ageS: number }

/** One lease per tenant. A write quotes the version that was read. */
export interface EvaluationLeaseStore {
  find(tenantId: string): Promise<ReadLease | undefined>
  /**
   * @param version Undefined to create the first lease.
   * @returns The new version.
   * @throws Refusal `StaleVersion` when another evaluator has written the lease since.
   */
  save(tenantId: string, lease: EvaluationLease, version: string | undefined): Promise<string>
}

/** Both ends of the time since the lease was written are those of the database: clocks of instances do not matter. */
const TIMES = { leaseMs: EVALUATION_LEASE_MS, clockDifferenceMs: 0 } as const

function decision(current: Omit<ReadLease, 'version'> | undefined, holderId: string, nowMs: number): LeaseDecision {
  if (current === undefined) return leaseDecision({ owner: null, untilMs: 0, epoch: 0 }, TIMES, nowMs)
  const { value, ageS } = current
  const stored = {
    owner: value.untilMs > 0 ? value.holderId : null,
    untilMs: nowMs + (EXPIRED_AFTER_S - ageS) * 1000,
    epoch: value.epoch,
  }
  // A process evaluates a tenant once at a time: under its own lease, the response to the release was lost.
  return leaseDecision(stored, TIMES, nowMs, holderId)
}

/** Whether another evaluator evaluates now. */
export function isHeld(current: Omit<ReadLease, 'version'>, holderId: string): boolean {
  return decision(current, holderId, 0).outcome === 'held'
}

/** The lease of its next holder, or undefined while another evaluator holds it. */
export function acquiredLease(
  current: Omit<ReadLease, 'version'> | undefined,
  holderId: string,
  nowMs: number,
): (EvaluationLease & { readonly unfencedEpoch: number }) | undefined {
  const acquired = decision(current, holderId, nowMs)
  if (acquired.outcome === 'held') return undefined
  const { epoch = 0, untilMs = 0, unfencedEpoch = 0, settingsId, evaluated } = current?.value ?? {}
  const coveredAtMs = evaluated?.atMs ?? current?.value.coveredAtMs
  return {
    holderId,
    untilMs: acquired.untilMs,
    epoch: acquired.epoch,
    unfencedEpoch: untilMs > 0 ? epoch : unfencedEpoch,
    ...(settingsId !== undefined && { settingsId }),
    ...(coveredAtMs !== undefined && { coveredAtMs }),
  }
}

/**
 * How an evaluation has ended: all collections evaluated, with what the results depend on besides definitions; not all
 * of them; or with a fault, after which a write may still take effect.
 */
export type EvaluationEnd = { readonly covered: Omit<EvaluatedUntil, 'atMs'> } | 'incomplete' | 'failed'

/**
 * The lease after its holder has ended.
 * @param acquiredAtMs When the holder's evaluation began.
 */
export function releasedLease(lease: EvaluationLease, end: EvaluationEnd, acquiredAtMs: number): EvaluationLease {
  const { evaluated: _, unfencedEpoch = 0, ...kept } = lease
  if (typeof end === 'object') {
    return { ...kept, untilMs: 0, unfencedEpoch: 0, evaluated: { atMs: acquiredAtMs, ...end.covered } }
  }
  return { ...kept, untilMs: 0, unfencedEpoch: end === 'failed' ? lease.epoch : unfencedEpoch }
}
