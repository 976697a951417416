import { useState } from 'preact/hooks'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ActionButton, Dialog, Done } from '../components/actions.tsx'
import { OptionalText, TextField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

export const REQUESTS = '/collections-joinable/beta/membership-requests'

/** The requests that wait for a decision of the caller, oldest first. */
export function InboxView() {
  const { api } = useConsole()
  const [chosen, setChosen] = useState<MembershipRequestDto | undefined>(undefined)
  const [outcome, setOutcome] = useState<'approved' | 'rejected' | undefined>(undefined)
  const requests = useResource('inbox', () => api.all<MembershipRequestDto>(`${REQUESTS}/inbox`))
  return (
    <Page title={t('inbox')}>
      {outcome !== undefined && <Done>{t(outcome)}</Done>}
      <Loaded resource={requests}>
        {(all) => (
          <List
            label={t('inbox')}
            items={all}
            keyOf={({ id }) => id}
            empty={t('inboxEmpty')}
            columns={[
              { head: t('requester'), cell: ({ requesterName }) => <OptionalText value={requesterName} /> },
              { head: t('collection'), cell: ({ collectionName }) => <OptionalText value={collectionName} /> },
              { head: t('position'), cell: ({ relationshipTitle }) => <OptionalText value={relationshipTitle} /> },
              { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
              { head: t('notes'), cell: ({ notes }) => <OptionalText value={notes} /> },
              {
                head: t('actions'),
                cell: (request) => (
                  <button type="button" onClick={() => setChosen(request)}>
                    {t('decision')}
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {chosen !== undefined && (
        <DecisionDialog
          request={chosen}
          onClose={() => setChosen(undefined)}
          onDecided={(decided) => {
            setChosen(undefined)
            setOutcome(decided)
            requests.reload()
          }}
        />
      )}
    </Page>
  )
}

type DecisionDialogProps = {
  readonly request: MembershipRequestDto
  readonly onClose: () => void
  readonly onDecided: (outcome: 'approved' | 'rejected') => void
}

function DecisionDialog({ request, onClose, onDecided }: DecisionDialogProps) {
  const { api } = useConsole()
  const [notes, setNotes] = useState('')
  const path = `${REQUESTS}/${request.collectionId}/${request.id}`
  /** The version is read when the person decides, so that a request in another state is refused. */
  const decide = async (action: 'approve' | 'reject'): Promise<void> => {
    await api.send('POST', `${path}/${action}`, { body: notes.trim() === '' ? {} : { notes: notes.trim() } })
    onDecided(action === 'approve' ? 'approved' : 'rejected')
  }
  return (
    <Dialog title={t('decision')} onClose={onClose}>
      <dl>
        <dt>{t('requester')}</dt>
        <dd>
          <OptionalText value={request.requesterName} />
        </dd>
        <dt>{t('collection')}</dt>
        <dd>
          <OptionalText value={request.collectionName} />
        </dd>
        <dt>{t('notes')}</dt>
        <dd>
          <OptionalText value={request.notes} />
        </dd>
      </dl>
      <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
      <p class="faint">{t('decisionFinal')}</p>
      <div class="actions">
        <ActionButton kind="primary" run={() => decide('approve')}>
          {t('approve')}
        </ActionButton>
        <ActionButton kind="danger" run={() => decide('reject')}>
          {t('reject')}
        </ActionButton>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  )
}
