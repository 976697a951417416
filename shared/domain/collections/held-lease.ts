import { isConflict, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import {
  acquired,
  type CoveredResults,
  EVALUATION_LEASE_MS,
  type EvaluationLease,
  type EvaluationLeaseStore,
  type FormerWrites,
  released,
} from './evaluation-lease.ts'

/** A lease with less time left is renewed before the next write. */
const RENEWED_BELOW_MS = 40 * 1000

/** A lease while this process holds it. */
export type HeldLease = FormerWrites & {
  /**
   * Renews the lease when little of it is left. Called before each collection is evaluated.
   * @throws Refusal `StaleVersion` when the lease has expired and another evaluator holds it.
   */
  renew(): Promise<void>
  /** The same, called before the members of a collection are written. */
  beforeWrite(collectionId: string): Promise<void>
  /** Called when all collections were evaluated: `release` records it. */
  cover(results: CoveredResults): void
  /**
   * @returns Whether this process held the lease to the end. Otherwise another evaluator may have missed its writes.
   */
  release(): Promise<boolean>
}

/** The leases that one process acquires, tenant by tenant. It acquires a tenant's lease once at a time. */
export class EvaluationLeases {
  readonly #store: EvaluationLeaseStore
  readonly #holderId: string
  readonly #nowMs: () => number
  readonly #clockDifferenceMs: number
  /** By tenant, the lease as this process has released it. It knows all writes up to the epoch of that lease. */
  readonly #released = new Map<string, Versioned<EvaluationLease>>()

  /** @param holderId Unique to this process and start. */
  constructor(
    store: EvaluationLeaseStore,
    holderId: string,
    { nowMs, clockDifferenceMs }: { nowMs(): number; readonly clockDifferenceMs: number },
  ) {
    this.#store = store
    this.#holderId = holderId
    this.#nowMs = () => nowMs()
    this.#clockDifferenceMs = clockDifferenceMs
  }

  /** While another evaluator holds the lease, the milliseconds before the next attempt. */
  async acquire(tenantId: string): Promise<HeldLease | { readonly retryMs: number }> {
    const acquiredAtMs = this.#nowMs()
    const known = this.#released.get(tenantId)
    // Unless another evaluator has acquired the lease since, it need not be read: the write quotes the version.
    let unread = known
    const held = await retryOnConflict(async () => {
      const current = unread ?? (await this.#store.find(tenantId))
      unread = undefined
      const knownEpoch = known?.value.epoch ?? 0
      const times = { nowMs: this.#nowMs(), clockDifferenceMs: this.#clockDifferenceMs }
      const decision = acquired(current?.value, this.#holderId, knownEpoch, times)
      if (decision.outcome === 'held') return decision
      return { ...decision, version: await this.#store.save(tenantId, decision.lease, current?.version) }
    })
    if (held.outcome === 'held') return { retryMs: held.retryMs }
    this.#released.delete(tenantId)
    return this.#held(tenantId, held, acquiredAtMs)
  }

  #held(
    tenantId: string,
    acquisition: FormerWrites & { lease: EvaluationLease; version: string },
    acquiredAtMs: number,
  ): HeldLease {
    const { stale, seesFormerWrites } = acquisition
    let { lease, version } = acquisition
    const written = new Set<string>()
    let covered: CoveredResults | undefined
    let renewal: Promise<void> | undefined
    const extend = async () => {
      lease = { ...lease, untilMs: this.#nowMs() + EVALUATION_LEASE_MS }
      version = await this.#store.save(tenantId, lease, version)
      renewal = undefined
    }
    const renew = async () => {
      if (renewal === undefined && lease.untilMs - this.#nowMs() < RENEWED_BELOW_MS) renewal = extend()
      await renewal
    }
    return {
      stale,
      seesFormerWrites,
      renew,
      beforeWrite: (collectionId) => {
        written.add(collectionId)
        return renew()
      },
      cover: (results) => {
        covered = results
      },
      release: async () => {
        const free = released(lease, [...written], acquiredAtMs, covered)
        const save = () =>
          covered === undefined
            ? this.#store.save(tenantId, free, version)
            : this.#store.saveWithState(tenantId, free, version)
        try {
          this.#released.set(tenantId, { value: free, version: await save() })
        } catch (error) {
          if (isConflict(error)) return false
          throw error
        }
        return true
      },
    }
  }
}
