import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { LinkRecord } from '../group-links/group-link.ts'
import type { JobStore } from '../group-links/job-store.ts'
import type { Lease } from '../group-links/lease.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { JobRecord } from '../group-links/sync-job.ts'
import { LeaseLost, renewLease } from '../group-links/write-link.ts'
import { withRecentWrites } from './recent-writes.ts'
import type { Reconciliation, WriteJournal } from './write-journal.ts'

/** One worker's hold on a job and its link, from taking it up to putting it down. Carries what has been done so far. */
export type SyncRun = {
  readonly tenantId: string
  readonly linkId: string
  readonly groupId: string
  readonly collectionId: string
  lease: Lease
  link: LinkRecord
  job: Versioned<JobRecord>
  /** Accounts that this worker has written, for the link's memory. */
  readonly added: string[]
  readonly removed: string[]
  /** When the job was taken up, before the accounts were read. */
  readonly startedAtMs: number
  /** The link's, as it stood before the accounts were read. */
  accountsChangedAtMs: number | null
  /** What earlier workers of the job have begun, as far as this one's read of the group has left it open. */
  earlier: WriteJournal
  /** As read in this run; null when the group has no name. Undefined until it was read. */
  displayName: string | null | undefined
}

/** A run that cannot succeed as things are. */
export class RunFault extends Error {
  override readonly name = 'RunFault'
  readonly isPermanent: boolean

  constructor(message: string, options: { isPermanent: boolean }) {
    super(message)
    this.isPermanent = options.isPermanent
  }
}

/**
 * The look before every step: the link is enabled as well.
 * @throws RunFault when the link was disabled, and as `keepHold`.
 */
export async function assertRunLease(run: SyncRun, deps: LinkDependencies): Promise<void> {
  const { link, lease } = await renewLease(run, deps)
  run.link = link
  run.lease = lease
  if (link.state === 'Disabled') throw new RunFault('The group link is disabled', { isPermanent: true })
}

/** Keeps the job's progress. @throws LeaseLost when another worker has taken the job up, or it has expired. */
export async function saveJob(run: SyncRun, job: JobRecord, { jobs }: { jobs: JobStore }): Promise<void> {
  try {
    run.job = await jobs.replace(job, run.job.version)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new LeaseLost(`Job ${job.id} is in other hands`, { cause: error })
  }
}

/** The job with what has come to light of its writes, which the link is to remember as well. */
export function withCounted(run: SyncRun, { added, removed, open }: Reconciliation): JobRecord {
  run.added.push(...added)
  run.removed.push(...removed)
  const job = run.job.value
  return { ...job, added: job.added + added.length, removed: job.removed + removed.length, journal: open }
}

/** The link with what this worker has read and written. */
export function withRunsTraces(link: LinkRecord, run: SyncRun, nowMs: number): LinkRecord {
  return {
    ...link,
    recentWrites: withRecentWrites(link.recentWrites, run.added, run.removed, nowMs),
    directoryGroupDisplayName: run.displayName === undefined ? link.directoryGroupDisplayName : run.displayName,
  }
}
