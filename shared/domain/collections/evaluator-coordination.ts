import { retryOnConflict } from '../../kernel/versioned.ts'
import { closed, type EvaluationLog, lastNumber, opened, unseenEntries, type Written } from './evaluation-log.ts'
import type { EvaluationLogStore } from './evaluation-log-store.ts'

type Clock = { nowMs(): number }

export type Writing = {
  /** The others know before this resolves: to be waited for before the collection's members are written. */
  begin(collectionId: string): Promise<void>
  /** Whether anything has been written, or tried to. */
  hasBegun(): boolean
  /** Tells the others that no more is written. */
  end(): Promise<void>
}

/**
 * What one evaluator and the others of its tenants tell each other through the log.
 *
 * An evaluator remembers what it has written, and what it finds nothing to do for it does not look at again. That holds
 * only while nobody else writes: a person who came and went between two of its looks may have been taken in by another.
 */
export class EvaluatorCoordination {
  readonly #store: EvaluationLogStore
  readonly #evaluatorId: string
  readonly #clock: Clock
  readonly #knownNumbers = new Map<string, number>()

  /** @param evaluatorId of this one: no two evaluators have the same, not even one after the other. */
  constructor(store: EvaluationLogStore, evaluatorId: string, clock: Clock) {
    this.#store = store
    this.#evaluatorId = evaluatorId
    this.#clock = clock
  }

  /** What others have written, or may have, since the last time; and the number of the log's last entry. */
  async look(tenantId: string): Promise<{ written: Written; lastNumber: number }> {
    const log = (await this.#store.find(tenantId))?.value ?? []
    const known = this.#knownNumbers.get(tenantId) ?? 0
    const { written, knownNumber } = unseenEntries(log, this.#evaluatorId, known, this.#clock.nowMs())
    this.#knownNumbers.set(tenantId, knownNumber)
    return { written, lastNumber: lastNumber(log) }
  }

  /** What one evaluation of a tenant tells the others of what it writes; nothing while it writes nothing. */
  writing(tenantId: string): Writing {
    const ids: string[] = []
    let opening: Promise<number> | undefined
    return {
      begin: async (collectionId) => {
        ids.push(collectionId)
        opening ??= this.#open(tenantId)
        await opening
      },
      hasBegun: () => opening !== undefined,
      end: async () => {
        const number = await opening
        if (number === undefined) return
        await this.#change(tenantId, (log) => closed(log, number, this.#evaluatorId, ids, this.#clock.nowMs()))
      },
    }
  }

  async #open(tenantId: string): Promise<number> {
    return lastNumber(await this.#change(tenantId, (log) => opened(log, this.#evaluatorId, this.#clock.nowMs())))
  }

  #change(tenantId: string, change: (log: EvaluationLog) => EvaluationLog): Promise<EvaluationLog> {
    return retryOnConflict(async () => {
      const found = await this.#store.find(tenantId)
      const log = change(found?.value ?? [])
      await this.#store.keep(tenantId, log, found?.version)
      return log
    })
  }
}
