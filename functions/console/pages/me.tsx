import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { ConfirmedAction, Done } from '../components/actions.tsx'
import { OptionalText } from '../components/fields.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RequestTable } from '../components/request-table.tsx'
import { t } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { REQUESTS } from './requests.tsx'

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
          {(items) => (
            <RequestTable
              label={t('myRequests')}
              requests={items}
              loadMore={requests.loadMore}
              empty={t('myRequestsEmpty')}
              parts={['collection', 'position']}
              action={(request) => <RequestAction request={request} onChange={onChange} />}
            />
          )}
        </Loaded>
      </Section>
    </Page>
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
