import { useState } from 'preact/hooks'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { Choice } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { RequestTable } from '../components/request-table.tsx'
import { t } from '../language/texts.ts'
import { usePages } from '../resource.ts'
import { useConsole } from '../session.ts'

export const REQUESTS = '/collections-joinable/beta/membership-requests'

/** A stored request has one of these. */
const STORED_STATUSES = [
  'PendingApproval',
  'Joined',
  'Rejected',
  'Cancelled',
  'Left',
] as const satisfies readonly MembershipRequestDto['status'][]

/** The requests for a collection, and the way of each through its gates. */
export function RequestsSection({ id }: { readonly id: string }) {
  const { api } = useConsole()
  const [status, setStatus] = useState<'anyStatus' | MembershipRequestDto['status']>('anyStatus')
  const filter = status === 'anyStatus' ? '' : `?status=${status}`
  const requests = usePages(`${REQUESTS}/${id}${filter}`, api.page<MembershipRequestDto>)
  return (
    <Section
      title={t('requests')}
      actions={
        <Choice
          label={t('state')}
          isLabelHidden
          value={status}
          options={(['anyStatus', ...STORED_STATUSES] as const).map((value) => ({ value, text: t(value) }))}
          onChange={setStatus}
        />
      }
    >
      <Loaded resource={requests}>
        {(items) => (
          <RequestTable
            label={t('requests')}
            requests={items}
            loadMore={requests.loadMore}
            empty={t('requestsEmpty')}
            parts={['requester', 'position']}
          />
        )}
      </Loaded>
    </Section>
  )
}
