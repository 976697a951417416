import type { WriteOutcome } from '../group-links/directory.ts'
import type { SyncStep } from './plan-sync.ts'

/**
 * Accounts whose adding or removing was begun and of which nobody has told the outcome yet: the worker died, or the
 * directory's answer was lost. Written down before a step, so that `added` and `removed` stay exact whoever goes on.
 */
export type WriteJournal = { readonly added: readonly string[]; readonly removed: readonly string[] }

export const EMPTY_JOURNAL: WriteJournal = { added: [], removed: [] }

/** What has come to light of a job's writes: those that count, and those that are still open. */
export type Reconciliation = WriteJournal & { readonly open: WriteJournal }

/**
 * The writes that are open once a step has begun. Accounts in doubt are left out: the read that planned them
 * contradicts what was written lately, so that finding them as wanted later would not tell who did it.
 */
export function journaled(before: WriteJournal, step: SyncStep, inDoubt: ReadonlySet<string>): WriteJournal {
  const accounts = step.accounts.filter((account) => !inDoubt.has(account))
  const added = step.kind === 'add' ? [...new Set([...before.added, ...accounts])] : before.added
  const removed = step.kind === 'remove' ? [...new Set([...before.removed, ...accounts])] : before.removed
  return { added, removed }
}

/** What a look at the group tells of writes left open. Reads may be stale: what they do not show stays open. */
export function reconciledByRead({ added, removed }: WriteJournal, actual: ReadonlySet<string>): Reconciliation {
  return {
    added: added.filter((account) => actual.has(account)),
    removed: removed.filter((account) => !actual.has(account)),
    open: {
      added: added.filter((account) => !actual.has(account)),
      removed: removed.filter((account) => actual.has(account)),
    },
  }
}

/**
 * What the directory's answers to a step tell. An account that is there already was put there by the earlier worker, if
 * that had begun to; one that could be removed although no read has shown it, as well.
 * @param earlier What was open before this worker began anything.
 * @param open What is open now, this step included.
 */
export function reconciledByAnswers(
  step: SyncStep,
  { written, unchanged, missing }: WriteOutcome,
  earlier: WriteJournal,
  open: WriteJournal,
): Reconciliation {
  const isAdding = step.kind === 'add'
  const wereBegun = new Set(isAdding ? earlier.added : earlier.removed)
  const wereUndone = new Set(isAdding ? earlier.removed : earlier.added)
  const counted = [...written, ...unchanged.filter((account) => wereBegun.has(account))]
  const undone = written.filter((account) => wereUndone.has(account))
  const answered = new Set([...written, ...unchanged, ...missing])
  return {
    added: isAdding ? counted : undone,
    removed: isAdding ? undone : counted,
    open: without(open, answered),
  }
}

function without({ added, removed }: WriteJournal, answered: ReadonlySet<string>): WriteJournal {
  return {
    added: added.filter((account) => !answered.has(account)),
    removed: removed.filter((account) => !answered.has(account)),
  }
}
