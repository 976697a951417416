import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { PageRange } from '../../kernel/versioned.ts'
import { auditOfLink, type LinkActor } from './audit-link.ts'
import type { GroupLink } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { changeLink } from './link-lease.ts'
import { queueJob } from './queue-job.ts'
import {
  type HeldRemovals,
  type HeldRemovalsDto,
  heldSinceMs,
  type RemovalPlanDto,
  toHeldRemovalsDto,
} from './removal-plan.ts'
import { isRejectedSince, rejectionOf, underRejection } from './removal-rejection.ts'

type LinkName = { readonly tenantId: string; readonly linkId: string }

/** The plan with a page of its accounts, and the id after which the next page starts; absent on the last page. */
type RemovalPlanPage = { readonly data: RemovalPlanDto; readonly continueAfter?: string | undefined }

/**
 * A page of the removals that are held for a link, by account id.
 * @throws Refusal `LinkNotFound`, `PlanNotFound` when none are held.
 */
export async function readRemovalPlan(
  { tenantId, linkId }: LinkName,
  { after, size }: PageRange,
  deps: Pick<LinkDependencies, 'accountHolders' | 'links' | 'removalPlans'>,
): Promise<RemovalPlanPage> {
  const { held } = await heldRemovalsOf({ tenantId, linkId }, deps)
  const page = await deps.removalPlans.page({ tenantId, planId: held.planId }, after, size)
  const holders = await deps.accountHolders.ofAccounts(tenantId, page.items)
  const accounts = page.items.map((directoryObjectId) => {
    const { identityId = null, displayName = null } = holders.get(directoryObjectId) ?? {}
    return { directoryObjectId, identityId, displayName }
  })
  return { data: { ...toHeldRemovalsDto(held), accounts }, continueAfter: page.continueAfter }
}

export type RemovalApprovalRequest = LinkName &
  LinkActor & {
    readonly planId: string
    /** The caller's object id in the directory. */
    readonly approvedBy: string
    readonly notes: string | null
  }

export type RemovalRejectionRequest = Omit<RemovalApprovalRequest, 'approvedBy'> & {
  /** The caller's object id in the directory. */
  readonly rejectedBy: string
}

/**
 * Queues a ManualSync job that removes the accounts of the plan that are still due. A queued job for the same plan is
 * returned instead of a second one.
 * @returns The job's id.
 * @throws Refusal `LinkNotFound`, `PlanNotFound`, `PlanChanged` for another plan than the one that is held,
 * `SameActor` where the settings require a second person, `LinkDisabled`.
 */
export async function approveRemovals(
  { tenantId, linkId, planId, approvedBy, actorId = approvedBy, notes }: RemovalApprovalRequest,
  deps: LinkDependencies,
): Promise<string> {
  const { link, held, settings } = await heldRemovalsOf({ tenantId, linkId }, deps)
  requirePlan(held, planId)
  if (settings.fourEyes && (await hasCaused(link, held, [actorId, approvedBy], deps))) throw new Refusal('SameActor')
  if (link.state === 'Disabled') throw new Refusal('LinkDisabled', `The group link ${linkId} is disabled.`)
  const unfinished = await deps.jobs.unfinishedOf(tenantId, linkId)
  const queued = unfinished.find(
    ({ value }) => value.status === 'Queued' && value.approvedPlanId === planId && !isRejectedSince(value, held),
  )
  if (queued !== undefined) return queued.value.id
  const approvedRejectedAt = rejectionOf(held)?.rejectedAt ?? null
  const origin = { requestedBy: approvedBy, approvedPlanId: planId, approvedBy, approvedRejectedAt, cause: null }
  const jobId = deps.newId()
  const after = { planId, count: held.count, notes, jobId }
  const audit = auditOfLink(link, 'RemovalsApproved', { before: {}, after }, { actorId }, deps)
  const { id } = await queueJob(link, 'ManualSync', deps, { id: jobId, origin, audit })
  deps.log.info('removals.approved', { tenantId, linkId, planId, jobId: id, count: held.count })
  return id
}

/**
 * Marks the held removals as rejected. While one of the accounts is due, removals stay held. They may still be approved.
 * An approval of before that is not carried out yet does not count any more.
 * @throws Refusal `LinkNotFound`, `PlanNotFound`, `PlanChanged` as `approveRemovals`.
 */
export async function rejectRemovals(
  { tenantId, linkId, planId, rejectedBy, actorId = rejectedBy, notes }: RemovalRejectionRequest,
  deps: LinkDependencies,
): Promise<HeldRemovalsDto> {
  const reject = (link: GroupLink): GroupLink => {
    const rejectedAt = toTimestamp(deps.nowMs())
    const rejection = { planId, rejectedBy, rejectedAt }
    return { ...link, heldRemovals: underRejection(requirePlan(heldBy(link), planId), rejection) }
  }
  const auditOf = (link: GroupLink) => {
    const after = { planId, count: heldBy(link).count, notes }
    return auditOfLink(link, 'RemovalsRejected', { before: {}, after }, { actorId }, deps)
  }
  const { value } = await changeLink(tenantId, linkId, reject, deps, auditOf)
  deps.log.info('removals.rejected', { tenantId, linkId, planId })
  return toHeldRemovalsDto(heldBy(value))
}

/**
 * Whether one of these actors has caused held removals: by a change known when they were held, or by one of a definition
 * since the link began to hold some. That one may leave the same accounts to be removed.
 */
async function hasCaused(
  { tenantId, collectionId }: GroupLink,
  held: HeldRemovals,
  actorIds: readonly string[],
  { collections }: Pick<LinkDependencies, 'collections'>,
): Promise<boolean> {
  if (held.actorIds?.some((id) => actorIds.includes(id))) return true
  return collections.hasDefinedSince({ tenantId, collectionId, actorIds, sinceMs: heldSinceMs(held) })
}

function heldBy({ id, heldRemovals }: GroupLink): HeldRemovals {
  if (heldRemovals === null) throw new Refusal('PlanNotFound', `The group link ${id} has no held removals.`)
  return heldRemovals
}

function requirePlan(held: HeldRemovals, planId: string): HeldRemovals {
  if (held.planId === planId) return held
  throw new Refusal('PlanChanged', `The held removals are those of plan ${held.planId}, not of plan ${planId}.`)
}

async function heldRemovalsOf({ tenantId, linkId }: LinkName, { links }: Pick<LinkDependencies, 'links'>) {
  const found = await links.findWithSettings(tenantId, linkId)
  if (found === undefined) throw new Refusal('LinkNotFound', `The group link ${linkId} does not exist.`)
  return { link: found.value, held: heldBy(found.value), settings: found.settings }
}
