import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { t, timeOf } from '../language/texts.ts'
import { Badge } from './fields.tsx'

export function RequestStatus({ status }: Pick<MembershipRequestDto, 'status'>) {
  const kind =
    status === 'Joined' ? 'good' : status === 'Rejected' ? 'bad' : status === 'PendingApproval' ? 'warn' : 'plain'
  return <Badge kind={kind}>{t(status)}</Badge>
}

/** The way of a request through its gates, oldest step first, and the gate where it waits. */
export function RequestSteps({ request }: { readonly request: MembershipRequestDto }) {
  const { lifecycle, currentGate } = request
  // The step where the request waits follows from the one before.
  const past = lifecycle.filter(({ status }) => status !== 'PendingApproval')
  return (
    <ol class="steps">
      {past.map(({ status, actorId, at, gate, notes }) => (
        <li key={`${at} ${status}`}>
          <strong>{t(status)}</strong>{' '}
          {gate !== undefined && t('atGate', { order: gate.order, type: t(`gate${gate.type}`) })}
          <div class="hint">
            {timeOf(at)} {actorText(actorId, request)}
          </div>
          {notes !== undefined && notes !== request.notes && <div>{notes}</div>}
        </li>
      ))}
      {currentGate !== null && (
        <li class="ahead">
          <strong>{t('waitsAtGate', { order: currentGate.order, type: t(`gate${currentGate.type}`) })}</strong>
          <div class="hint">{t('approverCount', { count: currentGate.approverCount })}</div>
        </li>
      )}
    </ol>
  )
}

/** The names that a request has. Other people are not named in it. */
function actorText(
  actorId: string,
  { requesterId, requesterName, submittedBy, submittedByName }: MembershipRequestDto,
) {
  if (actorId === 'system') return t('bySystem')
  const name = actorId === requesterId ? requesterName : actorId === submittedBy ? submittedByName : null
  return name === null ? '' : t('byName', { name })
}
