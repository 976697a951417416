import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { askedNotes } from '../asked-notes.ts'
import { t, timeOf } from '../language/texts.ts'
import { noteText } from '../lifecycle-note.ts'
import { Badge } from './fields.tsx'

export function RequestStatus({ status }: Pick<MembershipRequestDto, 'status'>) {
  const kind =
    status === 'Joined' ? 'good' : status === 'Rejected' ? 'bad' : status === 'PendingApproval' ? 'warn' : 'plain'
  return <Badge kind={kind}>{t(status)}</Badge>
}

/** The way of a request through its gates, oldest step first, and the gate where it waits. */
export function RequestSteps({ request }: { readonly request: MembershipRequestDto }) {
  const { lifecycle, currentGate, extension, approverNames } = request
  const gate = currentGate ?? extension?.currentGate
  // The step where the request waits follows from the one before.
  const past = lifecycle.filter(({ status }) => status !== 'PendingApproval')
  const shownElsewhere = askedNotes(request)
  return (
    <ol class="steps">
      {past.map(({ status, actorId, onBehalfOf, at, gate: passed, notes }) => (
        <li key={`${at} ${status}`}>
          <strong>{t(status)}</strong>{' '}
          {passed !== undefined && t('atGate', { order: passed.order, type: t(`gate${passed.type}`) })}
          <div class="hint">
            {timeOf(at)} {actorText(actorId, onBehalfOf, request)}
          </div>
          {notes !== undefined && notes !== shownElsewhere && <div>{noteText({ actorId, status, notes })}</div>}
        </li>
      ))}
      {gate !== undefined && (
        <li class="ahead">
          <strong>{t('waitsAtGate', { order: gate.order, type: t(`gate${gate.type}`) })}</strong>
          <div class="hint">
            {t('approverCount', { count: gate.approverCount })}
            {approverNames.length > 0 && `: ${approverNames.join(', ')}`}
          </div>
        </li>
      )}
    </ol>
  )
}

/** Who acted, and for whom as a deputy. Applications have no name. */
function actorText(actorId: string, onBehalfOf: string | undefined, { actorNames }: MembershipRequestDto): string {
  if (actorId === 'system') return t('bySystem')
  const name = actorNames[actorId]
  if (name === undefined) return ''
  const principal = onBehalfOf === undefined ? undefined : actorNames[onBehalfOf]
  return principal === undefined ? t('byName', { name }) : t('byNameFor', { name, principal })
}
