import { useState } from 'preact/hooks'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { approvalOutcome } from '../approval-outcome.ts'
import { loadAttention } from '../attention.ts'
import { ActionButton } from '../components/actions.tsx'
import { TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RequestStatus, RequestSteps } from '../components/request-steps.tsx'
import { RequestFacts } from '../components/request-table.tsx'
import { t } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { DecisionList, needsReason, RejectDialog, useReviewedCollections } from './decisions.tsx'
import { DeputySection } from './deputy.tsx'
import { REQUESTS } from './requests.tsx'

/** The requests that wait for a decision of the caller, oldest first, and who decides in their place. */
export function InboxView() {
  const { api } = useConsole()
  const requests = usePages(`${REQUESTS}/inbox`, api.page<MembershipRequestDto>)
  return (
    <Page title={t('inbox')}>
      <Loaded resource={requests}>
        {(items) => <DecisionList requests={items} loadMore={requests.loadMore} onDecided={requests.reload} />}
      </Loaded>
      <DeputySection />
    </Page>
  )
}

type RequestViewProps = { readonly parameters: { readonly collectionId?: string; readonly requestId?: string } }

/** One request: who asks for what, its way so far, and the decision. The decision is for the version that is shown. */
export function RequestView({ parameters: { collectionId = '', requestId = '' } }: RequestViewProps) {
  const { api } = useConsole()
  const path = `${REQUESTS}/${collectionId}/${requestId}`
  const request = useResource(path, () => api.send<MembershipRequestDto>('GET', path))
  const collection = useReviewedCollections().value?.get(collectionId)
  return (
    <Loaded resource={request}>
      {({ data, etag }) => (
        <Page
          title={t('requestNamed', { name: data.requesterName ?? '', collection: data.collectionName ?? '' })}
          back={{ path: '/inbox', text: t('inbox') }}
          facts={<RequestStatus status={data.status} />}
        >
          <Section title={t('details')}>
            <RequestFacts request={data} collection={collection} />
          </Section>
          <Section title={t('steps')}>
            <RequestSteps request={data} />
          </Section>
          {(data.currentGate !== null || data.extension !== null) && (
            <Decision path={path} etag={etag} request={data} isReasonDue={needsReason(collection)} />
          )}
        </Page>
      )}
    </Loaded>
  )
}

type DecisionProps = {
  readonly path: string
  readonly etag: string | undefined
  readonly request: MembershipRequestDto
  readonly isReasonDue: boolean
}

/** The buttons stay at the end of the window, so that they are at hand on a phone. */
function Decision({ path, etag, request, isReasonDue }: DecisionProps) {
  const { api } = useConsole()
  const [notes, setNotes] = useState('')
  const [isRejecting, setRejecting] = useState(false)
  const decide = async (action: 'approve' | 'reject', reason: string): Promise<void> => {
    const body = { notes: reason.trim() || undefined }
    const { data } = await api.send<MembershipRequestDto>('POST', `${path}/${action}`, { body, ifMatch: etag })
    void loadAttention(api)
    const name = request.requesterName ?? ''
    navigate('/inbox', action === 'approve' ? approvalOutcome(data) : t('rejectedNamed', { name }))
  }
  return (
    <>
      <Section title={t('decision')}>
        <TextField label={t('decisionNotes')} value={notes} onInput={setNotes} multiline maxLength={2048} />
        <p class="hint">{t('decisionFinal')}</p>
      </Section>
      <div class="bar">
        <ActionButton kind="primary" run={() => decide('approve', notes)}>
          {t('approve')}
        </ActionButton>
        {isReasonDue && notes.trim() === '' ? (
          <button type="button" class="danger" onClick={() => setRejecting(true)}>
            {t('reject')}
          </button>
        ) : (
          <ActionButton kind="danger" run={() => decide('reject', notes)}>
            {t('reject')}
          </ActionButton>
        )}
      </div>
      {isRejecting && (
        <RejectDialog
          requests={[request]}
          isReasonDue={isReasonDue}
          run={(reason) => decide('reject', reason)}
          onClose={() => setRejecting(false)}
        />
      )}
    </>
  )
}
