import { useState } from 'preact/hooks'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { Dialog } from '../components/actions.tsx'
import { Choice, OptionalText } from '../components/fields.tsx'
import { LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { RequestStatus, RequestSteps } from '../components/request-steps.tsx'
import { t, timeOf } from '../language/texts.ts'
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
  const [chosen, setChosen] = useState<MembershipRequestDto | undefined>(undefined)
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
          <LongList
            label={t('requests')}
            items={items}
            loadMore={requests.loadMore}
            keyOf={(request) => request.id}
            empty={t('requestsEmpty')}
            columns={[
              { head: t('requester'), cell: ({ requesterName }) => <OptionalText value={requesterName} /> },
              { head: t('position'), cell: ({ relationshipTitle }) => <OptionalText value={relationshipTitle} /> },
              { head: t('state'), cell: ({ status: stored }) => <RequestStatus status={stored} /> },
              { head: t('changed'), cell: ({ updatedAt }) => timeOf(updatedAt) },
              {
                head: t('actions'),
                cell: (request) => (
                  <button type="button" onClick={() => setChosen(request)}>
                    {t('details')}
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {chosen !== undefined && <RequestDialog request={chosen} onClose={() => setChosen(undefined)} />}
    </Section>
  )
}

type RequestDialogProps = { readonly request: MembershipRequestDto; readonly onClose: () => void }

/** One request and its way through the gates. */
export function RequestDialog({ request, onClose }: RequestDialogProps) {
  return (
    <Dialog title={request.collectionName ?? t('requests')} onClose={onClose}>
      <RequestFacts request={request} />
      <RequestSteps request={request} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </div>
    </Dialog>
  )
}

export function RequestFacts({ request }: { readonly request: MembershipRequestDto }) {
  const { requesterName, relationshipTitle, submittedBy, requesterId, submittedByName, createdAt, notes } = request
  const facts = [
    [t('requester'), requesterName],
    [t('position'), relationshipTitle],
    [t('submittedBy'), submittedBy === requesterId ? null : submittedByName],
    [t('created'), timeOf(createdAt)],
    [t('notes'), notes],
  ] as const
  return (
    <dl>
      {facts.map(
        ([head, text]) =>
          text !== null && (
            <div key={head}>
              <dt>{head}</dt>
              <dd>{text}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
