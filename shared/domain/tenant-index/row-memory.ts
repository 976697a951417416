import { Refusal } from '../../kernel/refusals.ts'

/** A tenant whose rows are in memory. */
type Occupant = {
  readonly tenantId: string
  /** Rows, columns and dictionaries. */
  rowsBytes: number
  /** What others keep that they have computed from the rows. */
  computedBytes: number
  readonly loadedAtMs: number
  usedAtMs: number
  isReused: boolean
}

/** A load in progress. */
export type RowLoad = { readonly tenantId: string; rowsBytes: number; isCancelled: boolean }

/** Use within this time after the load belongs to the work that has caused the load. */
const REUSED_AFTER_MS = 60_000
/** A tenant that is loaded again this soon after its eviction is in frequent use. */
const EVICTION_KEPT_MS = 10 * 60_000
/** How long a tenant that is too large is refused without another attempt to load it. */
const TOO_LARGE_FOR_MS = 10 * 60_000
/** Above this multiple of the bound, an estimate of a tenant's size is exact enough to refuse the tenant. */
const CERTAINLY_TOO_LARGE = 1.5

/**
 * Keeps the rows of all tenants within a bound of memory. Loads count while they grow. When there is not enough memory
 * for all loads, the oldest one goes on and the others start again after it.
 *
 * Of the tenants that were not used again after their load, the latest loaded is evicted first; then the least recently
 * used. A sweep over more tenants than fit replaces the last tenant that it loaded and finds the others in memory. The
 * least recently used tenant would be the one that the sweep needs next.
 */
export class RowMemory {
  readonly maxBytes: number
  readonly #elapsedMs: () => number
  readonly #onEvicted: (tenantId: string) => void
  readonly #occupants = new Map<string, Occupant>()
  /** Oldest first. */
  readonly #loads = new Set<RowLoad>()
  #loadEnded = Promise.withResolvers<void>()
  /** By tenant, in the order of time. */
  readonly #evictedAtMs = new Map<string, number>()
  readonly #tooLargeUntilMs = new Map<string, number>()

  /** @param elapsedMs A monotonic clock. */
  constructor(maxBytes: number, elapsedMs: () => number, onEvicted: (tenantId: string) => void) {
    this.maxBytes = maxBytes
    this.#elapsedMs = elapsedMs
    this.#onEvicted = onEvicted
  }

  /** The bytes of all tenants, including those that are being loaded. */
  get sizeBytes(): number {
    const occupied = this.#occupants.values().reduce((sum, occupant) => sum + bytesOf(occupant), 0)
    return this.#loads.values().reduce((sum, { rowsBytes }) => sum + rowsBytes, occupied)
  }

  /**
   * Records a use of rows and their size, and makes room for them.
   * @throws Refusal `TenantTooLarge` when the rows alone exceed the bound. They are evicted then.
   */
  use(tenantId: string, rowsBytes: number): void {
    const occupant = this.#occupants.get(tenantId)
    if (occupant === undefined) return
    occupant.usedAtMs = this.#elapsedMs()
    occupant.isReused ||= occupant.usedAtMs - occupant.loadedAtMs > REUSED_AFTER_MS
    occupant.rowsBytes = rowsBytes
    if (rowsBytes > this.maxBytes) {
      this.#evict(occupant)
      throw this.#refuse(tenantId)
    }
    this.#makeRoom(tenantId)
  }

  /** Records the size of what was computed from a tenant's rows. @returns False when it must not be kept. */
  cacheComputed(tenantId: string, computedBytes: number): boolean {
    const occupant = this.#occupants.get(tenantId)
    if (occupant === undefined) return false
    const isKept = occupant.rowsBytes + computedBytes <= this.maxBytes
    occupant.computedBytes = isKept ? computedBytes : 0
    this.#makeRoom(tenantId)
    return isKept
  }

  /** Forgets a tenant whose rows are no longer in memory. */
  remove(tenantId: string): void {
    this.#occupants.delete(tenantId)
  }

  /** @throws Refusal `TenantTooLarge` when the tenant was too large a short time ago. */
  startLoad(tenantId: string): RowLoad {
    const refusedForMs = (this.#tooLargeUntilMs.get(tenantId) ?? 0) - this.#elapsedMs()
    if (refusedForMs > 0) throw tooLarge(tenantId, refusedForMs)
    this.#tooLargeUntilMs.delete(tenantId)
    const load = { tenantId, rowsBytes: 0, isCancelled: false }
    this.#loads.add(load)
    return load
  }

  /**
   * Makes room for the rows that have been loaded so far.
   * @param expectedBytes Estimates the size of the whole tenant. Called before tenants in frequent use are evicted for
   * it.
   * @returns False when the rows must be dropped. The load can start again after `turnOf`.
   * @throws Refusal `TenantTooLarge` when the tenant alone exceeds the bound.
   */
  async grow(load: RowLoad, rowsBytes: number, expectedBytes: () => Promise<number>): Promise<boolean> {
    if (load.isCancelled) return false
    if (rowsBytes > this.maxBytes) throw this.#refuse(load.tenantId)
    load.rowsBytes = rowsBytes
    this.#makeRoom(load.tenantId, ({ isReused }) => !isReused)
    if (this.sizeBytes <= this.maxBytes) return true
    if (this.#oldestLoad !== load) {
      cancel(load)
      return false
    }
    if ((await expectedBytes()) > this.maxBytes * CERTAINLY_TOO_LARGE) throw this.#refuse(load.tenantId)
    this.#makeRoom(load.tenantId)
    for (const other of [...this.#loads].reverse()) {
      if (this.sizeBytes > this.maxBytes && other !== load) cancel(other)
    }
    return true
  }

  /** Resolves when a cancelled load can start again. */
  async turnOf(load: RowLoad): Promise<void> {
    if (this.#oldestLoad !== load) await this.#loadEnded.promise
    load.isCancelled = false
  }

  /** @param isComplete Whether the tenant's rows stay in memory. */
  endLoad(load: RowLoad, isComplete: boolean): void {
    const { tenantId, rowsBytes } = load
    this.#loads.delete(load)
    if (isComplete) {
      const nowMs = this.#elapsedMs()
      const isReused = nowMs - (this.#evictedAtMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) < EVICTION_KEPT_MS
      const occupant = { tenantId, rowsBytes, computedBytes: 0, loadedAtMs: nowMs, usedAtMs: nowMs, isReused }
      this.#occupants.set(tenantId, occupant)
    }
    this.#loadEnded.resolve()
    this.#loadEnded = Promise.withResolvers()
  }

  get #oldestLoad(): RowLoad | undefined {
    const [oldest] = this.#loads
    return oldest
  }

  /** Evicts tenants until the rest fits or none is left. @param keptId Is not evicted. */
  #makeRoom(keptId: string, isEvictable: (occupant: Occupant) => boolean = () => true): void {
    while (this.sizeBytes > this.maxBytes) {
      const others = this.#occupants
        .values()
        .filter((occupant) => occupant.tenantId !== keptId && isEvictable(occupant))
      const next = evictedFirst([...others])
      if (next === undefined) return
      this.#evict(next)
    }
  }

  #evict({ tenantId }: Occupant): void {
    const nowMs = this.#elapsedMs()
    this.#occupants.delete(tenantId)
    this.#evictedAtMs.delete(tenantId)
    this.#evictedAtMs.set(tenantId, nowMs)
    for (const [evictedId, atMs] of this.#evictedAtMs) {
      if (nowMs - atMs < EVICTION_KEPT_MS) break
      this.#evictedAtMs.delete(evictedId)
    }
    this.#onEvicted(tenantId)
  }

  #refuse(tenantId: string): Refusal {
    this.#tooLargeUntilMs.set(tenantId, this.#elapsedMs() + TOO_LARGE_FOR_MS)
    return tooLarge(tenantId, TOO_LARGE_FOR_MS)
  }
}

function evictedFirst(occupants: readonly Occupant[]): Occupant | undefined {
  const once = occupants.filter(({ isReused }) => !isReused)
  if (once.length > 0)
    return once.reduce((latest, occupant) => (occupant.loadedAtMs >= latest.loadedAtMs ? occupant : latest))
  return occupants.reduce<Occupant | undefined>(
    (oldest, candidate) => (oldest === undefined || candidate.usedAtMs < oldest.usedAtMs ? candidate : oldest),
    undefined,
  )
}

function bytesOf({ rowsBytes, computedBytes }: Occupant): number {
  return rowsBytes + computedBytes
}

function cancel(load: RowLoad): void {
  load.isCancelled = true
  load.rowsBytes = 0
}

function tooLarge(tenantId: string, refusedForMs: number): Refusal {
  const message = `The core objects of tenant ${tenantId} do not fit into the memory for rows`
  return Refusal.retryAfter('TenantTooLarge', Math.ceil(refusedForMs / 1000), message)
}
