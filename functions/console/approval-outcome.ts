import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { t } from './language/texts.ts'

type Approved = Pick<MembershipRequestDto, 'lifecycle' | 'requesterName'>

/** What became of a request by an approval. A membership whose extension is cancelled has the status `Joined` still. */
export function approvalOutcome({ lifecycle, requesterName }: Approved): string {
  const isCancelled = lifecycle.at(-1)?.status === 'Cancelled'
  return t(isCancelled ? 'notEligibleNamed' : 'approvedNamed', { name: requesterName ?? '' })
}
