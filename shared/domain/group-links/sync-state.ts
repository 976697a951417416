import type { Static } from 'typebox'
import { Described, OneOf } from '../../kernel/schema.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import { openAccounts, type RemovalWindow } from './removal-window.ts'

export const SyncState = Described(
  OneOf(['InSync', 'Pending', 'Failed', 'RemovalsHeld', 'RemovalsPaused', 'Disabled']),
  'What the last syncs have left. Where several apply, the last one of this list is given. `InSync`: the group had the members of the ' +
    'collection, as they were last evaluated, when it was last synced. `Pending`: changes are being written, will be written by a job, or their ' +
    'outcome is not known yet. `Failed`: the last job failed, for another reason than that the link was disabled. ' +
    '`RemovalsHeld`: the removal guard holds removals: see `heldRemovals`. `RemovalsPaused`: members are added and none are removed: see `pausedBy`. `Disabled`: nothing is written.',
)
export type SyncState = Static<typeof SyncState>

/** What decides the state of a link: members of its record. */
type LinkRecord = {
  readonly state: 'Enabled' | 'Disabled'
  readonly lastSyncOutcome: 'Succeeded' | 'Failed' | null
  readonly lastSyncError?: string | null | undefined
  readonly heldRemovals: object | null
  readonly skippedCount: number | null
  readonly appliedMembershipVersion: number | null
  readonly accountsChangedAtMs: number | null
  readonly lease: object | null
  readonly changesPending: boolean
  readonly removalsDeferred: boolean
  readonly isBehind: boolean
  readonly removalWindow: RemovalWindow
}

/** Why a job ends whose link is disabled. It is `Failed`, but a person has stopped it, and nothing else is wrong. */
export const LINK_DISABLED = 'The group link is disabled.'

/** Whether the last sync of a link has failed. */
export function hasFailed({ lastSyncOutcome, lastSyncError }: LinkFailure): boolean {
  return lastSyncOutcome === 'Failed' && lastSyncError !== LINK_DISABLED
}

type LinkFailure = Pick<LinkRecord, 'lastSyncOutcome' | 'lastSyncError'>

/** What a link records of a failed job. One that ends because the link is disabled leaves an earlier failure as it is. */
export function recordedFailure(link: LinkFailure, error: string | null, nowMs: number) {
  const lastSyncError = error === LINK_DISABLED && hasFailed(link) ? (link.lastSyncError ?? null) : error
  return { lastSyncedAt: toTimestamp(nowMs), lastSyncOutcome: 'Failed', lastSyncError } as const
}

/** States that need the attention of a person. */
const ATTENTION_STATES: ReadonlySet<SyncState> = new Set(['Failed', 'RemovalsHeld', 'RemovalsPaused'])

/**
 * The state of a link, from its record alone: two records of a link, before and after a write, show whether the write
 * changed the state.
 */
export function syncStateOf(link: LinkRecord): SyncState {
  if (link.state === 'Disabled') return 'Disabled'
  if (link.skippedCount !== null && link.skippedCount > 0) return 'RemovalsPaused'
  if (link.heldRemovals !== null) return 'RemovalsHeld'
  if (hasFailed(link)) return 'Failed'
  return isPending(link) ? 'Pending' : 'InSync'
}

/** Whether the group is not known to have what the collection had when the link was last written. */
function isPending(link: LinkRecord): boolean {
  return (
    link.appliedMembershipVersion === null ||
    link.skippedCount === null ||
    link.accountsChangedAtMs !== null ||
    link.lease !== null ||
    link.changesPending ||
    link.removalsDeferred ||
    link.isBehind ||
    openAccounts(link.removalWindow).size > 0
  )
}

/** Whether a person has to look at a link. */
export function needsAttention(link: LinkRecord): boolean {
  return ATTENTION_STATES.has(syncStateOf(link))
}
