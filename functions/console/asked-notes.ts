import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'

type Asked = Pick<MembershipRequestDto, 'notes' | 'lifecycle' | 'extension'>

/** Why the person asks: for the extension that waits, or else for the membership. */
export function askedNotes({ notes, lifecycle, extension }: Asked): string | null {
  if (extension === null) return notes
  const { requestedBy, requestedAt } = extension
  const asked = lifecycle.findLast(
    ({ status, actorId, at }) => status === 'PendingApproval' && actorId === requestedBy && at === requestedAt,
  )
  return asked?.notes ?? null
}
