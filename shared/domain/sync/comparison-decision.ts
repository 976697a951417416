import { isScheduleDue, offsetOf } from '../../kernel/schedule.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { openAccounts } from '../group-links/removal-window.ts'
import { RECENT_WRITES_MS } from './recorded-writes.ts'

const HOUR_MS = 60 * 60 * 1000

/** Less than a week, so that a late sweep still compares within the week. */
const COMPARISON_SCHEDULE = { unitMs: HOUR_MS, unitCount: 160 }

/** Links of a tenant that are due in the same hour: comparisons need its rows, which are loaded for each such hour. */
const COMPARED_TOGETHER_COUNT = 10

/**
 * Whether a link is due for its regular full comparison. The tenants are spread over the hours, and the links of a
 * tenant over as few hours as allow for their number.
 * @param linkCount The links of the tenant. When it changes, a link can move to another hour.
 */
export function isComparisonDue({ id, tenantId, comparedAtMs }: GroupLink, linkCount: number, nowMs: number): boolean {
  const { unitMs, unitCount } = COMPARISON_SCHEDULE
  const lastMs = comparedAtMs ?? 0
  if (nowMs - lastMs >= unitMs * unitCount) return true
  const hourCount = Math.min(unitCount, Math.ceil(linkCount / COMPARED_TOGETHER_COUNT))
  // The tenant's weekly evaluation has saved its rows an hour before.
  const place = offsetOf(tenantId) + 1 + (offsetOf(id) % hourCount)
  return isScheduleDue(place, lastMs, COMPARISON_SCHEDULE, nowMs)
}

/**
 * Whether the last comparison left nothing to do, and the directory has reported no change since. A comparison sees the
 * changes that were known when it began, if that is longer ago than reads of the directory lag behind its writes.
 * @param groupChangedAtMs When the last changes became known that the collection does not require; undefined when
 *   the changes could not be read.
 */
export function isSettled(link: GroupLink, groupChangedAtMs: number | undefined): boolean {
  return (
    link.state === 'Enabled' &&
    link.lastSyncOutcome === 'Succeeded' &&
    link.comparedAtMs !== null &&
    groupChangedAtMs !== undefined &&
    link.comparedAtMs >= groupChangedAtMs + RECENT_WRITES_MS &&
    link.skippedCount !== null &&
    link.accountsChangedAtMs === null &&
    link.lease === null &&
    !link.changesPending &&
    link.heldRemovals === null &&
    !link.removalsDeferred &&
    !link.isBehind &&
    link.unresolved.length + link.unseenAdditions.length === 0 &&
    openAccounts(link.removalWindow).size === 0
  )
}
