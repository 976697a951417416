/** That an evaluator writes members, or has written them. Kept before it does, so that it is there whatever happens. */
type EvaluationEntry = {
  /** Counts the tenant's entries from 1. */
  readonly number: number
  readonly evaluatorId: string
  /** While it may still write, at most until then; undefined once it has ended. */
  readonly openUntilMs: number | undefined
  /** Whose members it has written. */
  readonly written: Written
}

export type Written = readonly string[] | 'anything'

/** By number, ascending, without gaps; the earliest are forgotten. */
export type EvaluationLog = readonly EvaluationEntry[]

/** Longer than an invocation may run: host.json, `functionTimeout`. */
const OPEN_AT_MOST_MS = 15 * 60 * 1000

/** Who has looked longer ago evaluates everything. */
const ENTRIES_KEPT_COUNT = 20

/** More than these are not named one by one: the log is read with every evaluation. */
const COLLECTIONS_NAMED_COUNT = 200

/** The log with one entry more, for an evaluator that is about to write; its number is the last one's. */
export function opened(log: EvaluationLog, evaluatorId: string, nowMs: number): EvaluationLog {
  const entry: EvaluationEntry = {
    number: lastNumber(log) + 1,
    evaluatorId,
    openUntilMs: nowMs + OPEN_AT_MOST_MS,
    written: 'anything',
  }
  return [...log, entry].slice(-ENTRIES_KEPT_COUNT)
}

/** The log after an evaluator has ended what it had opened. One that was forgotten meanwhile is told of anew. */
export function closed(log: EvaluationLog, number: number, evaluatorId: string, ids: readonly string[]): EvaluationLog {
  const isThere = log.some((entry) => entry.number === number)
  const written: Written = ids.length > COLLECTIONS_NAMED_COUNT ? 'anything' : ids
  const entry = { number: isThere ? number : lastNumber(log) + 1, evaluatorId, openUntilMs: undefined, written }
  if (isThere) return log.map((other) => (other.number === number ? entry : other))
  return [...log, entry].slice(-ENTRIES_KEPT_COUNT)
}

/**
 * What others have written that an evaluator has not heard of which knows of all entries up to `knownNumber`, and up to
 * which entry it knows of all from now on: what is open may still write, and is looked at again.
 */
export function unheardOf(
  log: EvaluationLog,
  evaluatorId: string,
  knownNumber: number,
  nowMs: number,
): { written: Written; knownNumber: number } {
  const others = log.filter((entry) => entry.number > knownNumber && entry.evaluatorId !== evaluatorId)
  const isForgotten = (log[0]?.number ?? 1) > knownNumber + 1
  const isAnything = isForgotten || others.some(({ written }) => written === 'anything')
  const firstOpen = others.find(({ openUntilMs }) => openUntilMs !== undefined && openUntilMs > nowMs)
  return {
    written: isAnything ? 'anything' : [...new Set(others.flatMap(({ written }) => written))],
    knownNumber: firstOpen === undefined ? Math.max(lastNumber(log), knownNumber) : firstOpen.number - 1,
  }
}

/** The number of the last entry; 0 before the first. */
export function lastNumber(log: EvaluationLog): number {
  return log.at(-1)?.number ?? 0
}
