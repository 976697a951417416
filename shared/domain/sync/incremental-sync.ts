import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { LinkRecord } from '../group-links/group-link.ts'
import { recordMemberWrites } from '../group-links/job-metrics.ts'
import { type Lease, leaseDecision } from '../group-links/lease.ts'
import type { LinkDependencies } from '../group-links/link-dependencies.ts'
import type { AccountChanges } from '../group-links/linked-collections.ts'
import { queueJob } from '../group-links/queue-job.ts'
import { changeLeasedLink, changeLink, type LeasedLink, LeaseLost, renewLease } from '../group-links/write-link.ts'
import { stepsOf } from './plan-sync.ts'
import { withRecentWrites } from './recent-writes.ts'
import { writesOf } from './write-budget.ts'
import { writeStep } from './write-step.ts'

/** Beyond it a job is the better place: it works in slices and can be watched. */
const CHANGES_AT_MOST_COUNT = 500

/** Someone else is writing to the group; the change has to wait its turn. */
const HELD_RETRY_MS = 3_000

export type ChangesDecision =
  | { readonly outcome: 'nothing' }
  | { readonly outcome: 'write'; readonly add: readonly string[]; readonly remove: readonly string[] }
  /** Only a whole comparison can tell what to write, or it is too much for here. */
  | { readonly outcome: 'compare' }

/** What a link needs after its collection has changed. */
export function changesDecision(link: LinkRecord, changes: AccountChanges | undefined): ChangesDecision {
  if (changes === undefined || link.accountsChangedAtMs !== null) return { outcome: 'compare' }
  const { added, removed, withoutAccountCount, membershipVersion } = changes
  if (withoutAccountCount === 0 && link.removalsDeferred) return { outcome: 'compare' }
  if (added.length + removed.length > CHANGES_AT_MOST_COUNT) return { outcome: 'compare' }
  // Somebody's data name the group itself as an account, which a job reports.
  if (added.includes(link.directoryGroupId)) return { outcome: 'compare' }
  if (membershipVersion === link.appliedMembershipVersion) return { outcome: 'nothing' }
  return { outcome: 'write', add: added, remove: withoutAccountCount > 0 ? [] : removed }
}

/**
 * Writes what has changed in a collection to the groups of its enabled links: one change is one write, and no group is
 * read. What cannot be written that way is left to a job of type ScheduledSweep, queued at once, which compares,
 * retries and reports. A link that has never been synced waits for its first job.
 * @param changedAtMs when the change was made, to tell how long it took; undefined when nobody knows.
 */
export async function syncIncrementally(
  { tenantId, collectionId }: { tenantId: string; collectionId: string },
  deps: LinkDependencies,
  changedAtMs?: number,
): Promise<void> {
  const links = await deps.links.ofCollection(tenantId, collectionId)
  const due = links.filter(({ value }) => value.state === 'Enabled' && value.appliedMembershipVersion !== null)
  const waitsMs = await Promise.all(due.map((link) => applyToLink(link, changedAtMs, deps)))
  const delayMs = Math.max(...waitsMs, 0)
  if (delayMs === 0) return
  const id = `${collectionId}:held:${deps.nowMs()}`
  await deps.messageQueue.enqueue({ queue: 'membership-changes', message: { tenantId, collectionId } }, { id, delayMs })
}

/** @returns Milliseconds after which the link has to be looked at again; 0 when nothing is left to do. */
async function applyToLink(
  link: Versioned<LinkRecord>,
  changedAtMs: number | undefined,
  deps: LinkDependencies,
): Promise<number> {
  const { tenantId, collectionId, appliedMembershipVersion } = link.value
  if (appliedMembershipVersion === null) return 0
  const changes = await deps.collections.changesSince(tenantId, collectionId, appliedMembershipVersion)
  const decision = changesDecision(link.value, changes)
  if (decision.outcome === 'nothing') return 0
  if (decision.outcome === 'compare' || changes === undefined) {
    await leaveToJob(link.value, deps)
    return 0
  }
  const waitMs = await deps.budget.ask(tenantId, sum(stepsOf(decision).map(writesOf)), 'change')
  if (waitMs > 0) return waitMs
  const lease = await takeLease(link, deps)
  if (lease === undefined) return HELD_RETRY_MS
  try {
    await writeChanges(link.value, { lease, decision, changes, changedAtMs }, deps)
  } catch (error) {
    if (!(error instanceof LeaseLost) && !(error instanceof Refusal)) throw error
    deps.log.info('link.changes-overtaken', { tenantId, linkId: link.value.id })
    // Whoever has the link now may not come to their end: there will be nothing to do, or it has to be done again.
    return HELD_RETRY_MS
  }
  return 0
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

async function takeLease(link: Versioned<LinkRecord>, deps: LinkDependencies): Promise<Lease | undefined> {
  const decision = leaseDecision(link.value, { owner: `changes:${deps.newId()}`, leaseMs: deps.leaseMs }, deps.nowMs())
  if (decision.outcome === 'held') {
    await tellThatChangesWait(link.value, deps)
    return undefined
  }
  const { lease } = decision
  try {
    await deps.links.replace({ ...link.value, lease, lastToken: lease.token }, link.version)
    return lease
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

async function tellThatChangesWait({ tenantId, id, changesWait }: LinkRecord, deps: LinkDependencies): Promise<void> {
  if (changesWait) return
  await changeLink(tenantId, id, (link) => ({ ...link, changesWait: true }), deps).catch((error: unknown) => {
    // Gone, or changed again and again: the change comes back to it all the same.
    if (!(error instanceof Refusal)) throw error
  })
}

type DueChanges = {
  readonly lease: Lease
  readonly decision: Extract<ChangesDecision, { outcome: 'write' }>
  readonly changes: AccountChanges
  readonly changedAtMs: number | undefined
}

async function writeChanges(
  link: LinkRecord,
  { lease, decision, changes, changedAtMs }: DueChanges,
  deps: LinkDependencies,
): Promise<void> {
  const { tenantId, id: linkId, directoryGroupId } = link
  const held = { tenantId, linkId, lease }
  const { added, removed, isComplete } = await carryOut(held, directoryGroupId, decision, deps)
  measureChange({ added: added.length, removed: removed.length }, changedAtMs, deps)
  const heldBack = decision.remove.length < changes.removed.length
  const { value: now } = await changeLeasedLink(
    held,
    (current) => ({
      ...current,
      lease: null,
      changesWait: false,
      appliedMembershipVersion: isComplete ? changes.membershipVersion : current.appliedMembershipVersion,
      removalsDeferred: current.removalsDeferred || heldBack,
      recentWrites: withRecentWrites(current.recentWrites, added, removed, deps.nowMs()),
    }),
    deps,
  )
  deps.log.info('link.changes-applied', { tenantId, linkId, added: added.length, removed: removed.length, isComplete })
  if (!isComplete && now.state === 'Enabled') await leaveToJob(link, deps)
}

function measureChange(
  written: { readonly added: number; readonly removed: number },
  changedAtMs: number | undefined,
  { metrics, nowMs }: LinkDependencies,
): void {
  recordMemberWrites(written, 'change', metrics)
  const isWritten = written.added + written.removed > 0
  if (isWritten && changedAtMs !== undefined) metrics.record('sync.change.latency', nowMs() - changedAtMs, {})
}

type CarriedOut = { readonly added: string[]; readonly removed: string[]; readonly isComplete: boolean }

async function carryOut(
  { tenantId, linkId, lease: taken }: LeasedLink,
  groupId: string,
  decision: { readonly add: readonly string[]; readonly remove: readonly string[] },
  deps: LinkDependencies,
): Promise<CarriedOut> {
  const added: string[] = []
  const removed: string[] = []
  let lease = taken
  for (const [index, step] of stepsOf(decision).entries()) {
    if (index > 0) {
      const kept = await renewLease({ tenantId, linkId, lease }, deps)
      if (kept.link.state === 'Disabled') return { added, removed, isComplete: false }
      lease = kept.lease
    }
    const { kind } = step
    const outcome = await writeStep({ tenantId, groupId, step, purpose: 'change', untilMs: lease.untilMs }, deps)
    const written = kind === 'add' ? added : removed
    written.push(...outcome.written)
    if (outcome.fault === undefined && outcome.missing.length === 0) continue
    deps.log.warn('link.change-not-written', {
      tenantId,
      linkId,
      kind,
      reason: outcome.fault?.message ?? 'no such account',
    })
    return { added, removed, isComplete: false }
  }
  return { added, removed, isComplete: true }
}

/** One job that is still to come does for any number of changes. */
async function leaveToJob(link: LinkRecord, deps: LinkDependencies): Promise<void> {
  const unfinished = await deps.jobs.unfinishedOf(link.tenantId, link.id)
  if (unfinished.some(({ value }) => value.status === 'Queued')) return
  await queueJob(link, 'ScheduledSweep', deps)
}
