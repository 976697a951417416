import type { LeaseTimes } from '../../kernel/lease.ts'
import type { Directory } from '../group-links/directory.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { DeadlineSchedule } from '../membership-requests/deadline-messages.ts'
import type { TrackedGroupsStore } from './tracked-groups.ts'
import type { WriteBudget } from './write-budget.ts'

/** Ports and settings of sync jobs and incremental syncs. */
export type SyncDependencies = LinkDependencies &
  LeaseTimes & {
    readonly directory: Directory
    readonly budget: WriteBudget
    readonly trackedGroups: TrackedGroupsStore
    /** The ends of memberships, which sweeps look for once a day. */
    readonly deadlines: DeadlineSchedule
    /** Milliseconds of writing after which a job yields and continues with another message. */
    readonly batchMs: number
    /** Seconds before each retry of a job. */
    readonly retryDelaysS: readonly number[]
    /** 0 to 1, evenly distributed. */
    random(): number
    sleep(delayMs: number): Promise<void>
  }
