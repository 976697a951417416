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

/** By number, ascending: the latest, and earlier ones that are still open. */
export type EvaluationLog = readonly EvaluationEntry[]

/** Longer than an invocation may run: host.json, `functionTimeout`. */
const RUN_AT_MOST_MS = 10 * 60 * 1000

/** The clocks of two evaluators differ by less. */
export const CLOCKS_DIFFER_AT_MOST_MS = 5 * 60 * 1000

/** Who has looked longer ago evaluates everything. */
const ENTRIES_KEPT_COUNT = 20

/** More than these are not named one by one: the log is read with every evaluation. */
const COLLECTIONS_NAMED_COUNT = 200

/** The log with one entry more, for an evaluator that is about to write; its number is the last one's. */
export function opened(log: EvaluationLog, evaluatorId: string, nowMs: number): EvaluationLog {
  const entry: EvaluationEntry = {
    number: lastNumber(log) + 1,
    evaluatorId,
    openUntilMs: nowMs + RUN_AT_MOST_MS + CLOCKS_DIFFER_AT_MOST_MS,
    written: 'anything',
  }
  return withoutForgotten([...log, entry], nowMs)
}

/**
 * The log after an evaluator has ended what it had opened. One that took so long that others may have given it up, or
 * have forgotten it, is told of anew.
 */
export function closed(
  log: EvaluationLog,
  number: number,
  evaluatorId: string,
  ids: readonly string[],
  nowMs: number,
): EvaluationLog {
  const written: Written = ids.length > COLLECTIONS_NAMED_COUNT ? 'anything' : ids
  const entry = { number, evaluatorId, openUntilMs: undefined, written }
  const isAwaited = log.some((other) => other.number === number && isOpen(other, nowMs + CLOCKS_DIFFER_AT_MOST_MS))
  if (isAwaited) return log.map((other) => (other.number === number ? entry : other))
  const others = log.filter((other) => other.number !== number)
  return withoutForgotten([...others, { ...entry, number: lastNumber(log) + 1 }], nowMs)
}

/** What is open stays: whoever has heard of it once has to hear how it ended. */
function withoutForgotten(log: EvaluationLog, nowMs: number): EvaluationLog {
  const forgottenNumber = lastNumber(log) - ENTRIES_KEPT_COUNT
  return log.filter((entry) => entry.number > forgottenNumber || isOpen(entry, nowMs))
}

function isOpen({ openUntilMs }: EvaluationEntry, nowMs: number): boolean {
  return openUntilMs !== undefined && openUntilMs > nowMs
}

/**
 * What others have written that an evaluator has not heard of which knows of all entries up to `knownNumber`, and up to
 * which entry it knows of all from now on: what is open may still write, and is looked at again.
 */
export function unseenEntries(
  log: EvaluationLog,
  evaluatorId: string,
  knownNumber: number,
  nowMs: number,
): { written: Written; knownNumber: number } {
  const others = log.filter((entry) => entry.number > knownNumber && entry.evaluatorId !== evaluatorId)
  const isForgotten = knownNumber < lastNumber(log) - ENTRIES_KEPT_COUNT
  const isAnything = isForgotten || others.some(({ written }) => written === 'anything')
  const firstOpen = others.find((entry) => isOpen(entry, nowMs))
  return {
    written: isAnything ? 'anything' : [...new Set(others.flatMap(({ written }) => written))],
    knownNumber: firstOpen === undefined ? Math.max(lastNumber(log), knownNumber) : firstOpen.number - 1,
  }
}

/** The number of the last entry; 0 before the first. */
export function lastNumber(log: EvaluationLog): number {
  return log.at(-1)?.number ?? 0
}
