import { Refusal, type RefusalEntry, refusalEntry } from './refusals.ts'

export type TenantQuotaOptions = {
  /** What is counted, in the plural. */
  readonly what: string
  readonly limitCount: number
  /** What a tenant has stored. */
  readonly count: (tenantId: string) => Promise<number>
  /** A monotonic clock. */
  readonly elapsedMs: () => number
}

/** Records for which there is room. Their write is under way until they are settled. */
export type Reservation = {
  readonly count: number
  /** The records are written, or their write has failed. A later count shows which. */
  settle(): void
}

/** A tenant's stored records when they were counted, and those added by this process since. */
type Counted = {
  readonly storedCount: number
  readonly atMs: number
  addedCount: number
  /** Writes that were under way while the records were counted: they may be counted twice. */
  readonly uncertain: readonly Promise<void>[]
}

/** Records are counted again after this time. */
const COUNT_VALID_MS = 60 * 60_000
/** Records are counted again when this share of the room that was left is used up: up to ten instances add at once. */
const ROOM_SHARE = 0.1
/** While a tenant has no room, its records are counted this often at most. */
const RECOUNTED_AFTER_MS = 1_000

/**
 * Limits the records of a tenant, exactly within one instance. They are counted seldom while there is much room, and
 * before each addition when little is left. Instances that add concurrently can exceed the limit by what each of them
 * adds at once.
 */
export class TenantQuota {
  readonly #options: TenantQuotaOptions
  readonly #counted = new Map<string, Counted>()
  /** Reservations that are not settled. */
  readonly #pending = new Map<string, Set<{ readonly count: number; readonly settled: Promise<void> }>>()
  /** Counts under way. Concurrent calls share them, so that each sees what the others take. */
  readonly #counting = new Map<string, Promise<Counted>>()

  constructor(options: TenantQuotaOptions) {
    this.#options = options
  }

  /** Checks for a preview, which adds nothing. @throws Refusal `QuotaExceeded` when there is no room for `count`. */
  async requireRoom(tenantId: string, count = 1): Promise<void> {
    const reservation = await this.#reserve(tenantId, count, count)
    reservation.withdraw()
    if (reservation.count < count) throw Refusal.ofAll([this.refusal])
  }

  /** Adds records for which the tenant has room. @throws Refusal `QuotaExceeded`, and what `add` throws. */
  async adding<T>(tenantId: string, add: () => Promise<T>, count = 1): Promise<T> {
    const reservation = await this.#reserve(tenantId, count, count)
    try {
      if (reservation.count < count) throw Refusal.ofAll([this.refusal])
      return await add()
    } catch (error) {
      // Nothing was written.
      if (error instanceof Refusal) reservation.withdraw()
      throw error
    } finally {
      reservation.settle()
    }
  }

  /** Takes as many of the wanted records as the tenant has room for. */
  async take(tenantId: string, wantedCount: number): Promise<Reservation> {
    return wantedCount === 0 ? { count: 0, settle: () => undefined } : this.#reserve(tenantId, wantedCount, 1)
  }

  get refusal(): RefusalEntry {
    const { what, limitCount } = this.#options
    return refusalEntry('QuotaExceeded', `The quota of ${limitCount} ${what} for each tenant is used up`)
  }

  /**
   * Reserves as many as there is room for, at least `minCount`, or none. Nothing is refused because of writes that may
   * have been counted twice.
   */
  async #reserve(tenantId: string, wantedCount: number, minCount: number) {
    for (;;) {
      const counted = await this.#current(tenantId, wantedCount)
      // Another count has begun in the meantime.
      if (this.#counted.get(tenantId) !== counted) continue
      const roomCount = Math.max(0, this.#options.limitCount - counted.storedCount - counted.addedCount)
      if (roomCount >= wantedCount || counted.uncertain.length === 0) {
        return this.#reserved(tenantId, counted, roomCount < minCount ? 0 : Math.min(wantedCount, roomCount))
      }
      await Promise.all(counted.uncertain)
      if (this.#counted.get(tenantId) === counted) this.#counted.delete(tenantId)
    }
  }

  #reserved(tenantId: string, counted: Counted, count: number): Reservation & { withdraw(): void } {
    counted.addedCount += count
    const { promise: settled, resolve } = Promise.withResolvers<void>()
    const pending = this.#pending.get(tenantId) ?? new Set()
    const reservation = { count, settled }
    this.#pending.set(tenantId, pending.add(reservation))
    const settle = () => {
      pending.delete(reservation)
      resolve()
    }
    const withdraw = () => {
      counted.addedCount -= count
      settle()
    }
    return { count, settle, withdraw }
  }

  async #current(tenantId: string, wantedCount: number): Promise<Counted> {
    const { limitCount, elapsedMs } = this.#options
    const known = this.#counted.get(tenantId)
    if (known !== undefined) {
      const ageMs = elapsedMs() - known.atMs
      const roomCount = limitCount - known.storedCount
      const isEnough = known.addedCount + wantedCount <= roomCount * ROOM_SHARE
      if (ageMs < COUNT_VALID_MS && (isEnough || (known.addedCount >= roomCount && ageMs < RECOUNTED_AFTER_MS)))
        return known
    }
    const counting = this.#counting.get(tenantId) ?? this.#countNow(tenantId)
    this.#counting.set(tenantId, counting)
    return counting.finally(() => {
      if (this.#counting.get(tenantId) === counting) this.#counting.delete(tenantId)
    })
  }

  async #countNow(tenantId: string): Promise<Counted> {
    const { count, elapsedMs } = this.#options
    // No reservation begins from what was counted before while records are counted again.
    this.#counted.delete(tenantId)
    const pending = [...(this.#pending.get(tenantId) ?? [])]
    const atMs = elapsedMs()
    const storedCount = await count(tenantId)
    const addedCount = pending.reduce((sum, reservation) => sum + reservation.count, 0)
    const counted = { atMs, storedCount, addedCount, uncertain: pending.map(({ settled }) => settled) }
    this.#counted.set(tenantId, counted)
    return counted
  }
}
