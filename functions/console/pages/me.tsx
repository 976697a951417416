import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { useDone } from '../components/actions.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RequestTable } from '../components/request-table.tsx'
import { t } from '../language/texts.ts'
import { usePages } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { OwnMemberships } from './own-memberships.tsx'
import { RequestAction } from './request-action.tsx'
import { REQUESTS } from './requests.tsx'

/** The person's own memberships and requests. */
export function MeView() {
  const { api } = useConsole()
  const requests = usePages(`${REQUESTS}/mine`, api.page<MembershipRequestDto>)
  const [notice, onChange] = useDone(requests.reload)
  return (
    <Page title={t('me')}>
      <Section title={t('myMemberships')}>
        <OwnMemberships onChanged={requests.reload} />
      </Section>
      <Section
        title={t('myRequests')}
        actions={
          <a class="button" href={hrefOf('/join')}>
            {t('join')}
          </a>
        }
      >
        {notice}
        <Loaded resource={requests}>
          {(items) => (
            <RequestTable
              label={t('myRequests')}
              requests={items}
              loadMore={requests.loadMore}
              empty={t('myRequestsEmpty')}
              parts={['collection', 'position', 'approvers']}
              isCards
              // A membership is left where it is shown.
              action={(request) =>
                request.status === 'PendingApproval' && <RequestAction request={request} onChange={onChange} />
              }
            />
          )}
        </Loaded>
      </Section>
    </Page>
  )
}
