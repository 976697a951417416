import { useState } from 'preact/hooks'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ActionButton } from '../components/actions.tsx'
import { OptionalText, TextField } from '../components/fields.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RequestStatus, RequestSteps } from '../components/request-steps.tsx'
import { RequestFacts } from '../components/request-table.tsx'
import { t, timeOf } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { REQUESTS } from './requests.tsx'

/** The requests that wait for a decision of the caller, oldest first. */
export function InboxView() {
  const { api } = useConsole()
  const requests = usePages(`${REQUESTS}/inbox`, api.page<MembershipRequestDto>)
  return (
    <Page title={t('inbox')}>
      <Loaded resource={requests}>
        {(items) => (
          <LongList
            label={t('inbox')}
            items={items}
            loadMore={requests.loadMore}
            keyOf={({ id }) => id}
            empty={t('inboxEmpty')}
            columns={[
              {
                head: t('requester'),
                cell: ({ id, collectionId, requesterName }) => (
                  <a href={hrefOf(`/inbox/${collectionId}/${id}`)}>{requesterName ?? t('unknown')}</a>
                ),
              },
              { head: t('collection'), cell: ({ collectionName }) => <OptionalText value={collectionName} /> },
              { head: t('position'), cell: ({ relationshipTitle }) => <OptionalText value={relationshipTitle} /> },
              { head: t('notes'), cell: ({ notes }) => <OptionalText value={notes} /> },
              { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

type RequestViewProps = { readonly parameters: { readonly collectionId?: string; readonly requestId?: string } }

/** One request: who asks for what, its way so far, and the decision. The decision is for the version that is shown. */
export function RequestView({ parameters: { collectionId = '', requestId = '' } }: RequestViewProps) {
  const { api } = useConsole()
  const path = `${REQUESTS}/${collectionId}/${requestId}`
  const request = useResource(path, () => api.send<MembershipRequestDto>('GET', path))
  return (
    <Loaded resource={request}>
      {({ data, etag }) => (
        <Page
          title={t('requestNamed', { name: data.requesterName ?? '', collection: data.collectionName ?? '' })}
          back={{ path: '/inbox', text: t('inbox') }}
          facts={<RequestStatus status={data.status} />}
        >
          <Section title={t('details')}>
            <RequestFacts request={data} />
          </Section>
          <Section title={t('steps')}>
            <RequestSteps request={data} />
          </Section>
          {data.status === 'PendingApproval' && <Decision path={path} etag={etag} request={data} />}
        </Page>
      )}
    </Loaded>
  )
}

type DecisionProps = {
  readonly path: string
  readonly etag: string | undefined
  readonly request: MembershipRequestDto
}

function Decision({ path, etag, request: { requesterName } }: DecisionProps) {
  const { api } = useConsole()
  const [notes, setNotes] = useState('')
  const decide = async (action: 'approve' | 'reject'): Promise<void> => {
    const body = notes.trim() === '' ? {} : { notes: notes.trim() }
    await api.send('POST', `${path}/${action}`, { body, ifMatch: etag })
    navigate('/inbox', t(action === 'approve' ? 'approvedNamed' : 'rejectedNamed', { name: requesterName ?? '' }))
  }
  return (
    <Section title={t('decision')}>
      <TextField label={t('decisionNotes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
      <p class="hint">{t('decisionFinal')}</p>
      <div class="actions">
        <ActionButton kind="primary" run={() => decide('approve')}>
          {t('approve')}
        </ActionButton>
        <ActionButton kind="danger" run={() => decide('reject')}>
          {t('reject')}
        </ActionButton>
      </div>
    </Section>
  )
}
