import type { Collection } from '../collections/collection.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { MembershipRequest, MembershipRequestDto } from './membership-request.ts'

/**
 * Returns a request as the API returns it, with the names of what it refers to.
 * @param collection The collection of the request; undefined when it was deleted.
 */
export function toMembershipRequestDto(
  request: MembershipRequest,
  collection: Pick<Collection, 'name'> | undefined,
  { rows }: OrgChart,
): MembershipRequestDto {
  const { tenantId: _tenantId, slot: _slot, approvals: _approvals, policyVersion: _policyVersion, ...rest } = request
  const { restorableUntilMs: _restorableUntilMs, deadlineMs: _deadlineMs, ...shown } = rest
  const { reminder: _reminder, endingTold: _endingTold, extension, ...record } = shown
  const { requesterId, relationshipId, submittedBy } = request
  const nameOf = (identityId: string) => rows.textOf('identity', 'displayName', identityId) ?? null
  return {
    ...record,
    lifecycle: [...request.lifecycle],
    endsAt: request.endsAt ?? null,
    extension: request.status === 'Joined' && extension !== undefined ? extensionDto(extension) : null,
    collectionName: collection?.name ?? null,
    requesterName: nameOf(requesterId),
    relationshipTitle: relationshipId === null ? null : (rows.textOf('relationship', 'title', relationshipId) ?? null),
    submittedByName: nameOf(submittedBy),
  }
}

function extensionDto(extension: NonNullable<MembershipRequest['extension']>): MembershipRequestDto['extension'] {
  const { endsAt, requestedBy, requestedAt, currentGate } = extension
  return { endsAt, requestedBy, requestedAt, currentGate }
}
