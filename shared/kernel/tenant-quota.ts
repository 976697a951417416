import { coalesce } from './concurrency.ts'
import { Refusal, type RefusalEntry, refusalEntry } from './refusals.ts'

export type TenantQuotaOptions = {
  /** What is counted, in the plural. */
  readonly what: string
  readonly limitCount: number
  /** The number of stored records of a tenant. */
  readonly count: (tenantId: string) => Promise<number>
  /** A monotonic clock. */
  readonly elapsedMs: () => number
}

/** A tenant's stored records when they were counted, and those added by this process since. */
type Counted = { readonly storedCount: number; readonly atMs: number; addedCount: number }

/** Records are counted again after this time. */
const COUNT_VALID_MS = 60 * 60_000
/** Records are counted again when this share of the room that was left is used up: up to ten instances add at once. */
const ROOM_SHARE = 0.1
/** While a tenant has no room, its records are counted this often at most. */
const RECOUNTED_AFTER_MS = 1_000

/**
 * Limits the records of a tenant. They are counted seldom while there is much room, and before each addition when
 * little is left. Instances that add concurrently can exceed the limit by what each of them adds at once.
 */
export class TenantQuota {
  readonly #options: TenantQuotaOptions
  readonly #counted = new Map<string, Counted>()
  /** Shared by concurrent calls, so that each sees what the others take. */
  readonly #count = coalesce((tenantId) => this.#countNow(tenantId))

  constructor(options: TenantQuotaOptions) {
    this.#options = options
  }

  /** @throws Refusal `QuotaExceeded` when the tenant has no room for another record. */
  async requireRoom(tenantId: string): Promise<void> {
    if ((await this.take(tenantId, 1)) === 0) throw Refusal.ofAll([this.refusal])
  }

  /** @returns For how many of the wanted records the tenant has room. They count as added. */
  async take(tenantId: string, wantedCount: number): Promise<number> {
    if (wantedCount === 0) return 0
    const { limitCount } = this.#options
    const counted = await this.#current(tenantId, wantedCount)
    const takenCount = Math.max(0, Math.min(wantedCount, limitCount - counted.storedCount - counted.addedCount))
    counted.addedCount += takenCount
    return takenCount
  }

  get refusal(): RefusalEntry {
    const { what, limitCount } = this.#options
    return refusalEntry('QuotaExceeded', `The quota of ${limitCount} ${what} for each tenant is used up`)
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
    return this.#count(tenantId)
  }

  async #countNow(tenantId: string): Promise<Counted> {
    const { count, elapsedMs } = this.#options
    const counted = { atMs: elapsedMs(), storedCount: await count(tenantId), addedCount: 0 }
    this.#counted.set(tenantId, counted)
    return counted
  }
}
