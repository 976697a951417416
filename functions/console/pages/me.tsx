import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ConfirmedAction, Done } from '../components/actions.tsx'
import { OptionalText } from '../components/fields.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RequestStatus } from '../components/request-steps.tsx'
import { t, timeOf } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { REQUESTS, RequestDialog } from './requests.tsx'

/** The person's own memberships and requests. */
export function MeView() {
  const { api } = useConsole()
  const [done, setDone] = useState('')
  const memberships = useResource('member-of', () => api.all<CollectionDto>('/collections/beta/member-of'))
  const requests = usePages(`${REQUESTS}/mine`, api.page<MembershipRequestDto>)
  const onChange = (text: string) => {
    setDone(text)
    memberships.reload()
    requests.reload()
  }
  return (
    <Page title={t('me')}>
      <div role="status">{done !== '' && <Done>{done}</Done>}</div>
      <Section title={t('myMemberships')}>
        <Loaded resource={memberships}>
          {(all) => (
            <LongList
              label={t('myMemberships')}
              items={all}
              keyOf={({ id }) => id}
              empty={t('myMembershipsEmpty')}
              columns={[
                { head: t('name'), cell: ({ name }) => name },
                { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section
        title={t('myRequests')}
        actions={
          <a class="button" href={hrefOf('/join')}>
            {t('join')}
          </a>
        }
      >
        <Loaded resource={requests}>
          {(items) => <RequestTable requests={items} loadMore={requests.loadMore} onChange={onChange} />}
        </Loaded>
      </Section>
    </Page>
  )
}

type RequestTableProps = {
  readonly requests: readonly MembershipRequestDto[]
  readonly loadMore: (() => void) | undefined
  readonly onChange: (done: string) => void
}

function RequestTable({ requests, loadMore, onChange }: RequestTableProps) {
  const [chosen, setChosen] = useState<MembershipRequestDto | undefined>(undefined)
  return (
    <>
      <LongList
        label={t('myRequests')}
        items={requests}
        loadMore={loadMore}
        keyOf={({ id }) => id}
        empty={t('myRequestsEmpty')}
        columns={[
          { head: t('collection'), cell: ({ collectionName }) => <OptionalText value={collectionName} /> },
          { head: t('position'), cell: ({ relationshipTitle }) => <OptionalText value={relationshipTitle} /> },
          { head: t('state'), cell: ({ status }) => <RequestStatus status={status} /> },
          { head: t('changed'), cell: ({ updatedAt }) => timeOf(updatedAt) },
          {
            head: t('actions'),
            cell: (request) => (
              <div class="actions">
                <button type="button" onClick={() => setChosen(request)}>
                  {t('details')}
                </button>
                <RequestAction request={request} onChange={onChange} />
              </div>
            ),
          },
        ]}
      />
      {chosen !== undefined && <RequestDialog request={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

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
