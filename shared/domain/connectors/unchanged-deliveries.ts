import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'

/** The time of the last delivery can be too old by so much while all delivered data are as stored. */
const RECORDED_AGAIN_AFTER_MS = 10 * 60 * 1000
const CONNECTORS_REMEMBERED_COUNT = 10_000

type Options = {
  readonly objects: Pick<ConnectorObjectStore, 'recordDelivery'>
  nowMs(): number
}

/**
 * Records deliveries that change nothing, unless this instance knows of one in the last ten minutes. Deliveries with
 * changes are recorded by their writes, at no cost.
 */
export class UnchangedDeliveries {
  readonly #options: Options
  readonly #recordedAtMs = new LRUCache<string, number>(upToEntries(CONNECTORS_REMEMBERED_COUNT))

  constructor(options: Options) {
    this.#options = options
  }

  /** A delivery with changes was written. */
  noteChanges(tenantId: string, connectorId: string): void {
    this.#recordedAtMs.set(keyOf(tenantId, connectorId), this.#options.nowMs())
  }

  async record(tenantId: string, connectorId: string): Promise<void> {
    const { objects, nowMs } = this.#options
    const key = keyOf(tenantId, connectorId)
    const recordedAtMs = this.#recordedAtMs.get(key)
    if (recordedAtMs !== undefined && nowMs() - recordedAtMs < RECORDED_AGAIN_AFTER_MS) return
    // Before the write, so that concurrent deliveries write once.
    this.#recordedAtMs.set(key, nowMs())
    try {
      await objects.recordDelivery(tenantId, connectorId)
    } catch (error) {
      this.#recordedAtMs.delete(key)
      throw error
    }
  }
}

const keyOf = (tenantId: string, connectorId: string): string => `${tenantId} ${connectorId}`
