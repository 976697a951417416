import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ConfirmedAction, Done } from '../components/actions.tsx'
import { Badge, OptionalText, SearchField, TextField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { typeName } from './collections.tsx'
import { REQUESTS } from './inbox.tsx'

/** The person's own memberships and requests. */
export function MeView() {
  const { api } = useConsole()
  const memberships = useResource('member-of', () => api.all<CollectionDto>('/collections/beta/member-of'))
  const requests = useResource('mine', () => api.all<MembershipRequestDto>(`${REQUESTS}/mine`))
  const reload = () => {
    memberships.reload()
    requests.reload()
  }
  return (
    <Page title={t('me')}>
      <Section title={t('myMemberships')}>
        <Loaded resource={memberships}>
          {(all) => (
            <List
              label={t('myMemberships')}
              items={all}
              keyOf={({ id }) => id}
              empty={t('myMembershipsEmpty')}
              columns={[
                { head: t('name'), cell: ({ name }) => name },
                { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
                { head: t('type'), cell: ({ objectType }) => typeName(objectType) },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title={t('myRequests')}>
        <Loaded resource={requests}>{(all) => <RequestTable requests={all} onChange={reload} />}</Loaded>
      </Section>
    </Page>
  )
}

type RequestTableProps = { readonly requests: readonly MembershipRequestDto[]; readonly onChange: () => void }

function RequestTable({ requests, onChange }: RequestTableProps) {
  return (
    <List
      label={t('myRequests')}
      items={requests}
      keyOf={({ id }) => id}
      empty={t('myRequestsEmpty')}
      columns={[
        { head: t('collection'), cell: ({ collectionName }) => <OptionalText value={collectionName} /> },
        { head: t('position'), cell: ({ relationshipTitle }) => <OptionalText value={relationshipTitle} /> },
        { head: t('state'), cell: ({ status }) => <RequestStatus status={status} /> },
        { head: t('changed'), cell: ({ updatedAt }) => timeOf(updatedAt) },
        { head: t('actions'), cell: (request) => <RequestAction request={request} onChange={onChange} /> },
      ]}
    />
  )
}

function RequestStatus({ status }: Pick<MembershipRequestDto, 'status'>) {
  return <Badge kind={status === 'Joined' ? 'good' : status === 'Rejected' ? 'bad' : 'plain'}>{t(status)}</Badge>
}

type RequestActionProps = { readonly request: MembershipRequestDto; readonly onChange: () => void }

/** A waiting request can be cancelled, a membership left. */
function RequestAction({ request: { id, collectionId, collectionName, status }, onChange }: RequestActionProps) {
  const { api } = useConsole()
  const action = status === 'PendingApproval' ? 'cancel' : status === 'Joined' ? 'leave' : undefined
  if (action === undefined) return null
  const label = action === 'cancel' ? t('cancelRequest') : t('leave')
  return (
    <ConfirmedAction
      label={label}
      question={action === 'leave' ? t('leaveConfirm', { name: collectionName ?? '' }) : label}
      run={async () => {
        await api.send('POST', `${REQUESTS}/${collectionId}/${id}/${action}`, { body: {} })
        onChange()
      }}
    />
  )
}

/** The collections that the person can ask to join. */
export function JoinView() {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState<'requested' | 'joined' | undefined>(undefined)
  const eligible = useResource('eligible', () => api.all<JoinableCollectionDto>(`${REQUESTS}/eligible`))
  return (
    <Page title={t('join')}>
      {outcome !== undefined && <Done>{t(outcome)}</Done>}
      <SearchField label={t('search')} value={text} onInput={setText} />
      <Loaded resource={eligible}>
        {(all) => (
          <List
            label={t('join')}
            items={all.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))}
            keyOf={({ id }) => id}
            empty={all.length === 0 ? t('joinEmpty') : t('collectionsNoMatch')}
            columns={[
              { head: t('name'), cell: ({ name }) => name },
              { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
              {
                head: t('actions'),
                cell: (collection) => (
                  <JoinAction
                    collection={collection}
                    onDone={(status) => {
                      setOutcome(status === 'Joined' ? 'joined' : 'requested')
                      eligible.reload()
                    }}
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

type JoinActionProps = {
  readonly collection: JoinableCollectionDto
  readonly onDone: (status: MembershipRequestDto['status']) => void
}

function JoinAction({ collection: { id, name, joinPolicy }, onDone }: JoinActionProps) {
  const { api } = useConsole()
  const [notes, setNotes] = useState('')
  return (
    <ConfirmedAction
      label={t('join')}
      kind="primary"
      question={t('joinConfirm', { name })}
      run={async () => {
        const body = notes.trim() === '' ? {} : { notes: notes.trim() }
        const { data } = await api.send<MembershipRequestDto>('POST', `${REQUESTS}/${id}/submit`, { body })
        onDone(data.status)
      }}
    >
      <p>{joinPolicy.approvalRequired ? t('joinApproval') : t('joinImmediately')}</p>
      <TextField label={t('notes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
    </ConfirmedAction>
  )
}
