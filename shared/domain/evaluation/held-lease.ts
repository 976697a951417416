import { isRenewalDue } from '../../kernel/lease.ts'
import { isConflict, retryOnConflict } from '../../kernel/versioned.ts'
import {
  acquiredLease,
  EVALUATION_LEASE_MS,
  type EvaluationEnd,
  type EvaluationLease,
  type EvaluationLeaseStore,
  HELD_RETRY_MS,
  isHeld,
  releasedLease,
} from './evaluation-lease.ts'

/** How often it is decided during work whether the lease is renewed. */
const RENEWAL_CHECK_MS = EVALUATION_LEASE_MS / 5

/** A lease while this process holds it. */
export type HeldLease = {
  readonly epoch: number
  /** Whether no other process has held the lease since this one released it. */
  readonly isContinued: boolean
  /** Heads of members that were written up to this epoch must be written: see `EvaluationLease`. */
  readonly unfencedEpoch: number
  /** The settings by which the last evaluation has read the rows. */
  readonly settingsId: string | undefined
  /** When the last evaluation began that has covered all collections; undefined when unknown. */
  readonly coveredAtMs: number | undefined
  /**
   * Says by which settings this evaluation reads the rows. Called before the first write.
   * @throws Refusal `StaleVersion` when another evaluator has acquired the lease.
   */
  readBy(settingsId: string | undefined): Promise<void>
  /**
   * Renews the lease when it is older than a third of its time. Called before each write.
   * @throws Refusal `StaleVersion` when another evaluator has acquired the lease.
   */
  renew(): Promise<void>
  /**
   * Renews the lease during this work as well: one of its steps may take longer than the lease lasts. After another
   * evaluator has acquired the lease, the next `renew` or the release tells of it.
   */
  during<T>(work: () => Promise<T>): Promise<T>
  /** @returns Whether this process held the lease to the end. Otherwise another evaluator may have missed its writes. */
  release(end: EvaluationEnd): Promise<boolean>
}

type Clocks = {
  nowMs(): number
  /** A monotonic clock. */
  elapsedMs(): number
}

type Released = { readonly value: EvaluationLease; readonly version: string }

/** The leases that one process acquires, tenant by tenant. It acquires a tenant's lease once at a time. */
export class EvaluationLeases {
  readonly #store: EvaluationLeaseStore
  readonly #holderId: string
  readonly #clocks: Clocks
  /** By tenant, the lease as this process has released it. */
  readonly #released = new Map<string, Released>()

  /** @param holderId Unique to this process and start. */
  constructor(store: EvaluationLeaseStore, holderId: string, clocks: Clocks) {
    this.#store = store
    this.#holderId = holderId
    this.#clocks = clocks
  }

  /** Whether another evaluator holds the lease. */
  async isHeldByOther(tenantId: string): Promise<boolean> {
    const found = await this.#store.find(tenantId)
    return found !== undefined && isHeld(found, this.#holderId)
  }

  /** While another evaluator holds the lease, the milliseconds before the next attempt. */
  async acquire(tenantId: string): Promise<HeldLease | { readonly retryMs: number }> {
    const acquiredAtMs = this.#clocks.nowMs()
    const released = this.#released.get(tenantId)
    this.#released.delete(tenantId)
    // Unless another evaluator has acquired the lease since, it need not be read: the write quotes the version.
    let unread = released
    return retryOnConflict(async () => {
      const isContinued = unread !== undefined
      const found = unread === undefined ? await this.#store.find(tenantId) : { ...unread, ageS: 0 }
      unread = undefined
      const lease = acquiredLease(found, this.#holderId, this.#clocks.nowMs())
      if (lease === undefined) return { retryMs: HELD_RETRY_MS }
      const writtenAtMs = this.#clocks.elapsedMs()
      const version = await this.#store.save(tenantId, lease, found?.version)
      return this.#held(tenantId, { lease, version, writtenAtMs, isContinued, acquiredAtMs })
    })
  }

  #held(
    tenantId: string,
    acquired: {
      readonly lease: EvaluationLease & { readonly unfencedEpoch: number }
      readonly version: string
      readonly writtenAtMs: number
      readonly isContinued: boolean
      readonly acquiredAtMs: number
    },
  ): HeldLease {
    const { isContinued, acquiredAtMs } = acquired
    const { epoch, unfencedEpoch, coveredAtMs } = acquired.lease
    let { lease, version, writtenAtMs } = acquired
    let renewal: Promise<void> | undefined
    const extend = async () => {
      const { nowMs, elapsedMs } = this.#clocks
      const startedMs = elapsedMs()
      lease = { ...lease, untilMs: nowMs() + EVALUATION_LEASE_MS }
      version = await this.#store.save(tenantId, lease, version)
      writtenAtMs = startedMs
    }
    /** Two writes at once would quote the same version. */
    const extendOnce = () => {
      renewal ??= extend().finally(() => {
        renewal = undefined
      })
      return renewal
    }
    const renew = async () => {
      const leftMs = () => EVALUATION_LEASE_MS - (this.#clocks.elapsedMs() - writtenAtMs)
      while (isRenewalDue(leftMs(), EVALUATION_LEASE_MS)) await extendOnce()
    }
    return {
      epoch,
      isContinued,
      unfencedEpoch,
      coveredAtMs,
      get settingsId() {
        return lease.settingsId
      },
      readBy: async (settingsId) => {
        while (renewal !== undefined) await renewal
        const { settingsId: former, ...others } = lease
        if (settingsId === former) return
        lease = { ...others, ...(settingsId !== undefined && { settingsId }) }
        await extendOnce()
      },
      renew,
      during: async (work) => {
        const ignored = () => undefined
        const timer = setInterval(() => void renew().catch(ignored), RENEWAL_CHECK_MS).unref()
        try {
          return await work()
        } finally {
          clearInterval(timer)
          await renewal?.catch(ignored)
        }
      },
      release: async (end) => {
        const value = releasedLease(lease, end, acquiredAtMs)
        try {
          this.#released.set(tenantId, { value, version: await this.#store.save(tenantId, value, version) })
        } catch (error) {
          if (isConflict(error)) return false
          throw error
        }
        return true
      },
    }
  }
}
