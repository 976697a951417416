import { Refusal } from '../../kernel/refusals.ts'
import { type Directory, DirectoryFault, readAllMembers } from '../group-links/directory.ts'
import type { JobChanges } from '../group-links/job-changes.ts'
import type { RunFailure } from '../group-links/job-transitions.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { SyncJob } from '../group-links/sync-job.ts'
import { reconciledByRead } from './job-progress.ts'

/** A run that cannot succeed in the current state. The message becomes the job's `error`. */
export class RunFault extends Error {
  override readonly name = 'RunFault'
  readonly isPermanent: boolean

  constructor(message: string, options: { isPermanent: boolean }) {
    super(message)
    this.isPermanent = options.isPermanent
  }
}

/** Account ids that an error message names. It only counts the rest. */
const MAX_NAMED_COUNT = 5

/** A run has not succeeded while an account that belongs in the group cannot be added. A retry may find it. */
export function unresolvedFault({ unresolved }: SyncJob): RunFault {
  const named = unresolved.slice(0, MAX_NAMED_COUNT).join(', ')
  const more = unresolved.length > MAX_NAMED_COUNT ? ` and ${unresolved.length - MAX_NAMED_COUNT} more` : ''
  const message = `The directory does not know these accounts, or refuses them as members of the group: ${named}${more}.`
  return new RunFault(message, { isPermanent: false })
}

/**
 * Why a run has failed, for the job's `error`, and whether a retry can succeed.
 * @param verifyGroup throws RunFault when the group was deleted or can no longer be linked.
 */
export async function failureOf(
  error: unknown,
  { tenantId, id: jobId }: SyncJob,
  verifyGroup: () => Promise<void>,
  { log }: Pick<LinkDependencies, 'log'>,
): Promise<RunFailure> {
  if (error instanceof RunFault) return { reason: error.message, isPermanent: error.isPermanent }
  if (error instanceof Refusal && error.code === 'LinkNotFound') {
    return { reason: 'The group link was deleted.', isPermanent: true }
  }
  if (error instanceof DirectoryFault) {
    log.warn('sync-job.directory-fault', { tenantId, jobId, kind: error.kind, reason: error.message })
    const groupFailure = await groupFailureBehind(error, verifyGroup)
    return groupFailure ?? { reason: error.message, isPermanent: false, retryAfterMs: error.retryAfterMs }
  }
  log.error('sync-job.fault', error, { tenantId, jobId })
  return { reason: 'An internal error occurred.', isPermanent: false }
}

/** The directory's refusal is the same for a missing permission and for a group that cannot be written. */
async function groupFailureBehind(
  { kind }: DirectoryFault,
  verifyGroup: () => Promise<void>,
): Promise<RunFailure | undefined> {
  if (kind !== 'refused' && kind !== 'groupMissing') return undefined
  try {
    await verifyGroup()
    return undefined
  } catch (error) {
    if (error instanceof RunFault) return { reason: error.message, isPermanent: error.isPermanent }
    if (error instanceof DirectoryFault) return undefined
    throw error
  }
}

/**
 * The counts of a job that fails for good, after a last read of the group has reconciled its journal. Writes that are
 * still open are not counted, and none are when the group cannot be read.
 */
export async function finalCounts(
  { tenantId, directoryGroupId, added, removed, journal }: SyncJob,
  directory: Directory,
): Promise<Pick<SyncJob, 'added' | 'removed'> & { readonly changes: Pick<JobChanges, 'added' | 'removed'> }> {
  const unchanged = { added, removed, changes: { added: [], removed: [] } }
  if (journal.added.length + journal.removed.length === 0) return unchanged
  try {
    const { users } = await readAllMembers(tenantId, directoryGroupId, directory)
    const confirmed = reconciledByRead(journal, users)
    const changes = { added: confirmed.added, removed: confirmed.removed }
    return { added: added + changes.added.length, removed: removed + changes.removed.length, changes }
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    return unchanged
  }
}
