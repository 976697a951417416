import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import { namedApproversAt } from './approvers.ts'
import { gateOf } from './extension.ts'
import { policyOf } from './join-policy.ts'
import type { MembershipRequest, MembershipRequestDto } from './membership-request.ts'

const MAX_APPROVER_NAMES = 10

/**
 * Returns a request as the API returns it, with the names of what it refers to.
 * @param collection The collection of the request; undefined when it was deleted.
 */
export function toMembershipRequestDto(
  request: MembershipRequest,
  collection: Collection | undefined,
  orgChart: OrgChart,
): MembershipRequestDto {
  const { tenantId: _tenantId, slot: _slot, approvals: _approvals, policyVersion: _policyVersion, ...rest } = request
  const {
    restorableUntilMs: _restorableUntilMs,
    deadlineMs: _deadlineMs,
    gateApprovers: _gateApprovers,
    ...shown
  } = rest
  const { reminder: _reminder, endingTold: _endingTold, extension, ...record } = shown
  const { requesterId, relationshipId, submittedBy, lifecycle } = request
  const { rows } = orgChart
  const nameOf = (identityId: string) => rows.textOf('identity', 'displayName', identityId)
  const namesOf = (ids: Iterable<string>) => [...ids].flatMap((id) => nameOf(id) ?? [])
  const actorIds = new Set(lifecycle.flatMap(({ actorId, onBehalfOf }) => [actorId, onBehalfOf ?? actorId]))
  return {
    ...record,
    lifecycle: [...lifecycle],
    endsAt: request.endsAt ?? null,
    extension: request.status === 'Joined' && extension !== undefined ? extensionDto(extension) : null,
    collectionName: collection?.name ?? null,
    requesterName: nameOf(requesterId) ?? null,
    relationshipTitle: relationshipId === null ? null : (rows.textOf('relationship', 'title', relationshipId) ?? null),
    submittedByName: nameOf(submittedBy) ?? null,
    orgUnitName: unitNameOf(request, orgChart) ?? null,
    managerNames: namesOf(orgChart.managersOf(requesterId, relationshipId)),
    approverNames: namesOf(approversOf(request, collection, orgChart))
      .sort()
      .slice(0, MAX_APPROVER_NAMES),
    actorNames: Object.fromEntries([...actorIds].flatMap((id) => namesOf([id]).map((name) => [id, name] as const))),
  }
}

/** The people who decide at the gate where a request waits, as far as the policy or the org chart names them. */
function approversOf(
  request: MembershipRequest,
  collection: Collection | undefined,
  orgChart: OrgChart,
): Iterable<string> {
  const gate = collection && gateOf(request, policyOf(collection))
  return gate === undefined ? [] : namedApproversAt(gate, request, orgChart)
}

function unitNameOf({ requesterId, relationshipId }: MembershipRequest, orgChart: OrgChart): string | undefined {
  const positionId = relationshipId ?? orgChart.mainPositionOf(requesterId)
  const unitId = positionId === undefined ? undefined : orgChart.unitOf(positionId)
  return unitId === undefined ? undefined : orgChart.rows.textOf('orgUnit', 'displayName', unitId)
}

function extensionDto(extension: NonNullable<MembershipRequest['extension']>): MembershipRequestDto['extension'] {
  const { endsAt, requestedBy, requestedAt, currentGate } = extension
  return { endsAt, requestedBy, requestedAt, currentGate }
}
