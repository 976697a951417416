import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ConfirmedAction } from '../components/actions.tsx'
import { t } from '../language/texts.ts'
import { useConsole } from '../session.ts'
import { REQUESTS } from './requests.tsx'

type RequestActionProps = { readonly request: MembershipRequestDto; readonly onChange: (done: string) => void }

/** A waiting request can be cancelled, a membership left. */
export function RequestAction({ request, onChange }: RequestActionProps) {
  const { api } = useConsole()
  const { id, collectionId, collectionName, status } = request
  const action = status === 'PendingApproval' ? 'cancel' : status === 'Joined' ? 'leave' : undefined
  if (action === undefined) return null
  const name = collectionName ?? ''
  return (
    <ConfirmedAction
      label={action === 'cancel' ? t('cancelRequest') : t('leave')}
      question={action === 'leave' ? t('leaveConfirm', { name }) : t('cancelRequestConfirm', { name })}
      run={async () => {
        await api.send('POST', `${REQUESTS}/${collectionId}/${id}/${action}`, { body: {} })
        onChange(action === 'leave' ? t('leftNamed', { name }) : t('cancelledNamed', { name }))
      }}
    />
  )
}
