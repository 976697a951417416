import { Type } from 'typebox'
import { approveRemovals, readRemovalPlan, rejectRemovals } from '../../shared/domain/group-links/approve-removals.ts'
import type { LinkDependencies } from '../../shared/domain/group-links/link-dependencies.ts'
import {
  type LinkSettings,
  LinkSettingsChange,
  LinkSettingsDto,
  toLinkSettingsDto,
  updateLinkSettings,
} from '../../shared/domain/group-links/link-settings.ts'
import type { LinkLists } from '../../shared/domain/group-links/link-store.ts'
import {
  ApprovedRemovals,
  HeldRemovalsDto,
  RemovalApproval,
  RemovalPlanDto,
  RemovalRejection,
} from '../../shared/domain/group-links/removal-plan.ts'
import type { AuditTrail } from '../../shared/domain/history/audit.ts'
import { AuditEntry, listSettingsAudit } from '../../shared/domain/insight/list-audit.ts'
import type { RouteResult } from '../../shared/http/envelope.ts'
import { type OpenCursors, PageQuery, pagedRecord, pagedResult } from '../../shared/http/paging.ts'
import { ok, type Route, route } from '../../shared/http/route.ts'
import { actorIdOf, type Role } from '../../shared/kernel/caller.ts'
import { revisionETag } from '../../shared/kernel/versioned.ts'
import { COLLECTION_READERS } from './collection-contract.ts'

export type LinkRouteDependencies = LinkDependencies & {
  readonly links: LinkLists
  readonly cursors: OpenCursors
  readonly auditTrail: AuditTrail
  sleep(delayMs: number): Promise<void>
}

/** Settings that protect the groups of a tenant, and removals held for approval. */
export const groupProtectionRoutes = (deps: LinkRouteDependencies): readonly Route[] => [
  route('GET', '/settings', {
    operationId: 'getLinkSettings',
    summary: 'Get the settings of group links',
    description:
      'The settings of the tenant. They take effect with the next sync of each link, `timeZone` within a minute.',
    roles: COLLECTION_READERS,
    reply: { status: 200, schema: LinkSettingsDto, versioned: true },
    refusals: [],
    run: async ({ caller }) => settingsResult((await deps.settings.find(caller.tenantId)).value),
  }),
  route('PATCH', '/settings', {
    operationId: 'updateLinkSettings',
    summary: 'Change the settings of group links',
    description: 'Members that are left out keep their value.',
    roles: ['collection_criteria_definition-administrator'],
    identity: 'optional',
    body: LinkSettingsChange,
    reply: { status: 200, schema: LinkSettingsDto, versioned: true },
    refusals: ['InvalidValue', 'PreconditionFailed', 'StaleVersion'],
    run: async ({ caller, identityId, ifMatch, body }) => {
      const update = { tenantId: caller.tenantId, callerId: caller.objectId, identityId, ifMatch, change: body }
      return settingsResult(await updateLinkSettings(update, deps))
    },
  }),
  route('GET', '/settings/audit', {
    operationId: 'listSettingsAudit',
    summary: 'List the changes of the settings of group links',
    description: 'Returns a page of the changes, the newest first. They are kept for good.',
    roles: COLLECTION_READERS,
    query: PageQuery,
    reply: { status: 200, schema: Type.Array(AuditEntry), paged: true },
    refusals: ['InvalidCursor'],
    run: ({ query, caller: { tenantId } }) =>
      pagedResult(query, [tenantId, 'settings-audit'], deps.cursors, (after, size) =>
        listSettingsAudit(tenantId, { after, size }, deps),
      ),
  }),
  route('GET', '/group-links/{id}/removal-plan', {
    operationId: 'getRemovalPlan',
    summary: 'Get the held removals of a group link',
    description:
      'The removals that the removal guard held in the last sync, with a page of their accounts, ordered by ' +
      '`directoryObjectId`. The guard holds all removals of a sync when, together with those of the last 24 hours, they ' +
      'exceed `limit`: the larger of `minimum` and `percent` of `groupSize`. It also holds them, however few, while the ' +
      'collection is empty and the link has added no account yet (`EmptyCollection`). Additions are not held.\n\n' +
      'Read the plan, then approve its `planId`. Without approval, each later sync, at least one an hour, decides anew: ' +
      'it removes what is due and within the limit, as when earlier removals are more than 24 hours ago. Accounts ' +
      'that a person has rejected stay held.',
    roles: COLLECTION_READERS,
    query: PageQuery,
    reply: { status: 200, schema: RemovalPlanDto, paged: true },
    refusals: ['LinkNotFound', 'PlanNotFound', 'InvalidCursor'],
    run: ({ path: { id: linkId }, query, caller: { tenantId } }) => {
      return pagedRecord(query, [tenantId, 'removal-plan', linkId], deps.cursors, (after, size) =>
        readRemovalPlan({ tenantId, linkId }, { after, size }, deps),
      )
    },
  }),
  route('POST', '/group-links/{id}/removal-plan/{planId}/approve', {
    operationId: 'approveRemovalPlan',
    summary: 'Approve the held removals of a group link',
    description:
      'Queues a `ManualSync` job that removes those accounts of the plan that are still due, also beyond the limit. ' +
      'Other removals stay subject to the removal guard, and the approved ones count for it. While the job is queued, ' +
      'approving the plan again returns the same job. If the job fails, or members without an account keep it from ' +
      'removing anybody, approve again.\n\n' +
      'Only people approve: applications get 403 `UsersOnly`. See also `fourEyes` in the settings.',
    roles: PLAN_DECIDERS,
    identity: 'optional',
    body: RemovalApproval,
    reply: { status: 202, schema: ApprovedRemovals },
    refusals: ['LinkNotFound', 'PlanNotFound', 'PlanChanged', 'SameActor', 'LinkDisabled'],
    run: async ({ path, body, caller, identityId }) => {
      const name = { tenantId: caller.tenantId, linkId: path.id, planId: path.planId }
      const actorId = actorIdOf({ ...caller, identityId })
      const approval = { ...name, approvedBy: caller.objectId, actorId, notes: body.notes ?? null }
      return ok({ jobId: await approveRemovals(approval, deps) })
    },
  }),
  route('POST', '/group-links/{id}/removal-plan/{planId}/reject', {
    operationId: 'rejectRemovalPlan',
    summary: 'Reject the held removals of a group link',
    description:
      'Marks the plan with `rejectedBy` and `rejectedAt`. While one of its accounts is due to be removed, all removals ' +
      'are held, also when the limit allows them meanwhile, unless the guard is turned off or they are approved. Another ' +
      'plan, with more or fewer accounts, is not marked itself. A rejection overrules an approval that is not carried out yet. Add ' +
      'the accounts to the collection again, or correct its definition, if they should stay for good. A rejected ' +
      'plan may still be approved. Only people reject: applications get 403 `UsersOnly`.',
    roles: PLAN_DECIDERS,
    identity: 'optional',
    body: RemovalRejection,
    reply: { status: 200, schema: HeldRemovalsDto },
    refusals: ['LinkNotFound', 'PlanNotFound', 'PlanChanged', 'StaleVersion'],
    run: async ({ path, body, caller, identityId }) => {
      const name = { tenantId: caller.tenantId, linkId: path.id, planId: path.planId }
      const actorId = actorIdOf({ ...caller, identityId })
      return ok(
        await rejectRemovals({ ...name, rejectedBy: caller.objectId, actorId, notes: body.notes ?? null }, deps),
      )
    },
  }),
]

/** People only: an application whose secret was stolen approves nothing. */
const PLAN_DECIDERS: readonly Role[] = ['collection_criteria_definition-administrator']

function settingsResult(settings: LinkSettings): RouteResult<LinkSettingsDto> {
  return { data: toLinkSettingsDto(settings), headers: { etag: revisionETag(settings) } }
}
