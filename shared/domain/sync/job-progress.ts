import type { AcceptedMembers } from '../group-links/collection-accounts.ts'
import type { WriteOutcome } from '../group-links/directory.ts'
import type { SyncJob, WriteJournal } from '../group-links/sync-job.ts'
import { countUnaccepted, NO_ACCEPTED } from './accepted-members.ts'

/** Accounts that are added or removed together. */
type Step = { readonly kind: 'add' | 'remove'; readonly accounts: readonly string[] }

/** Journaled writes whose outcome is now known, and those that are still open. */
type Reconciliation = WriteJournal & { readonly open: WriteJournal }

/** A job with newly known writes in its counts, and the accounts of these writes. */
export type Progress = {
  readonly job: SyncJob
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Counts writes whose outcome is now known. */
export function progress(job: SyncJob, { added, removed, open }: Reconciliation): Progress {
  const counted = { ...job, added: job.added + added.length, removed: job.removed + removed.length, journal: open }
  return { job: counted, added, removed }
}

/**
 * The journal when a step starts. Uncertain accounts are left out: the read that planned them contradicts a recent
 * write, so a later read could not show which worker wrote them.
 */
export function journaled(journal: WriteJournal, step: Step, uncertain: ReadonlySet<string>): WriteJournal {
  const accounts = step.accounts.filter((account) => !uncertain.has(account))
  const added = step.kind === 'add' ? [...new Set([...journal.added, ...accounts])] : journal.added
  const removed = step.kind === 'remove' ? [...new Set([...journal.removed, ...accounts])] : journal.removed
  return { added, removed }
}

/** Reconciles the journal with a read of the group. A read can be stale, so writes that it does not show stay open. */
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
 * The job after a step, its journal reconciled with the directory's responses. An account that is already a member
 * counts as added if an earlier worker had started to add it; one that can be removed although no read shows it had
 * been added.
 * @param earlier what was open before this worker started its first step.
 * @param accepted members that the link accepts without an account.
 */
export function progressOfStep(
  job: SyncJob,
  { kind }: Pick<Step, 'kind'>,
  { written, unchanged, missing }: WriteOutcome,
  earlier: WriteJournal,
  accepted: AcceptedMembers = NO_ACCEPTED,
): Progress {
  const isAdding = kind === 'add'
  const startedEarlier = new Set(isAdding ? earlier.added : earlier.removed)
  const oppositeEarlier = new Set(isAdding ? earlier.removed : earlier.added)
  const counted = [...written, ...unchanged.filter((account) => startedEarlier.has(account))]
  const reverted = written.filter((account) => oppositeEarlier.has(account))
  const answered = new Set([...written, ...unchanged, ...missing])
  const stillOpen = (accounts: readonly string[]) => accounts.filter((account) => !answered.has(account))
  const unresolved = [...new Set([...job.unresolved, ...missing])]
  const newly = unresolved.slice(job.unresolved.length)
  const skipped = job.skipped + countUnaccepted(newly, accepted)
  return progress(
    { ...job, unresolved, skipped },
    {
      added: isAdding ? counted : reverted,
      removed: isAdding ? reverted : counted,
      open: { added: stillOpen(job.journal.added), removed: stillOpen(job.journal.removed) },
    },
  )
}
