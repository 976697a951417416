import { useState } from 'preact/hooks'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { askedNotes } from '../asked-notes.ts'
import { loadAttention } from '../attention.ts'
import { ActionButton, Dialog, DoneText } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { OptionalText, TextField } from '../components/fields.tsx'
import { Fault } from '../components/loaded.tsx'
import { type DecideResult, decideAll, type Failure } from '../decide-all.ts'
import { dayText, t, timeOf } from '../language/texts.ts'
import { type Resource, useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { REQUESTS } from './requests.tsx'

type Collections = ReadonlyMap<string, JoinableCollectionDto>

/** The collections whose requests the person can decide now: what they give, and what a rejection needs. */
export function useReviewedCollections(): Resource<Collections> {
  const { api } = useConsole()
  return useResource('reviewed', async () => {
    const all = await api.all<JoinableCollectionDto>(`${REQUESTS}/pending-approval-review`)
    return new Map(all.map((collection) => [collection.id, collection]))
  })
}

type DecisionListProps = {
  readonly requests: readonly MembershipRequestDto[]
  readonly loadMore?: (() => void) | undefined
  readonly onDecided: () => void
}

/** Requests that wait for the person. Several can be decided at once. */
export function DecisionList({ requests, loadMore, onDecided }: DecisionListProps) {
  const { api } = useConsole()
  const collections = useReviewedCollections().value
  const [chosenIds, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [isRejecting, setRejecting] = useState(false)
  const [result, setResult] = useState({ done: '', failures: [] as readonly Failure[] })
  const chosen = requests.filter(({ id }) => chosenIds.has(id))
  const count = chosen.length
  const decide = async (decision: 'Approve' | 'Reject', notes: string): Promise<void> => {
    const { doneCount, failures, restIds, error } = await decideAll(chosen, { decision, notes }, async (decisions) => {
      return (await api.send<DecideResult[]>('POST', `${REQUESTS}/decide`, { body: { decisions } })).data
    })
    setChosen(new Set(restIds))
    setResult({
      done: doneCount === 0 ? '' : t(decision === 'Approve' ? 'approvedCount' : 'rejectedCount', { count: doneCount }),
      failures,
    })
    void loadAttention(api)
    // The button tells why, and decides on the rest again, as it is shown: those of the failed call can have passed a gate.
    if (error !== undefined) throw error
    onDecided()
    setRejecting(false)
  }
  return (
    <>
      <DecisionResult {...result} />
      <CardList
        label={t('inbox')}
        items={requests}
        loadMore={loadMore}
        keyOf={({ id }) => id}
        empty={t('inboxEmpty')}
        columns={[
          {
            head: t('requester'),
            sortBy: ({ requesterName }) => requesterName,
            cell: (request) => (
              <RequesterCell
                request={request}
                isChosen={chosenIds.has(request.id)}
                onChoose={(isChosen) => setChosen(withId(chosenIds, request.id, isChosen))}
              />
            ),
          },
          {
            head: t('collection'),
            sortBy: ({ collectionName }) => collectionName,
            cell: (request) => (
              <>
                <OptionalText value={request.collectionName} />
                <div class="hint">{collections?.get(request.collectionId)?.description}</div>
                {request.extension !== null && (
                  <div class="hint">{t('extensionUntil', { day: dayText(request.extension.endsAt) })}</div>
                )}
              </>
            ),
          },
          { head: t('notes'), cell: (request) => <OptionalText value={askedNotes(request)} /> },
          { head: t('created'), sortBy: ({ createdAt }) => createdAt, cell: ({ createdAt }) => timeOf(createdAt) },
        ]}
      />
      {requests.length > 0 && (
        <div class="bar">
          <button
            type="button"
            onClick={() => setChosen(new Set(count === requests.length ? [] : requests.map(({ id }) => id)))}
          >
            {count === requests.length ? t('selectNone') : t('selectAll')}
          </button>
          <ActionButton kind="primary" disabled={count === 0} run={() => decide('Approve', '')}>
            {count === 0 ? t('approve') : t('approveCount', { count })}
          </ActionButton>
          <button type="button" class="danger" disabled={count === 0} onClick={() => setRejecting(true)}>
            {count === 0 ? t('reject') : t('rejectCount', { count })}
          </button>
        </div>
      )}
      {isRejecting && (
        <RejectDialog
          requests={chosen}
          isReasonDue={chosen.some(({ collectionId }) => needsReason(collections?.get(collectionId)))}
          run={(notes) => decide('Reject', notes)}
          onClose={() => setRejecting(false)}
        />
      )}
    </>
  )
}

const withId = (ids: ReadonlySet<string>, id: string, isIn: boolean): ReadonlySet<string> =>
  new Set(isIn ? [...ids, id] : [...ids].filter((kept) => kept !== id))

export const needsReason = (collection: JoinableCollectionDto | undefined): boolean =>
  collection?.joinPolicy.rejectionNeedsReason === true

type RequesterCellProps = {
  readonly request: MembershipRequestDto
  readonly isChosen: boolean
  readonly onChoose: (isChosen: boolean) => void
}

/** Who asks, with the position, which distinguishes people of one name. */
function RequesterCell({ request, isChosen, onChoose }: RequesterCellProps) {
  const { id, collectionId, requesterName, relationshipTitle, orgUnitName } = request
  const name = requesterName ?? t('unknown')
  return (
    <div class="chooser">
      <input
        type="checkbox"
        aria-label={t('selectNamed', { name: `${name}, ${request.collectionName ?? ''}` })}
        checked={isChosen}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <div>
        <a href={hrefOf(`/inbox/${collectionId}/${id}`)}>{name}</a>
        <div class="hint">{[relationshipTitle, orgUnitName].filter((text) => text !== null).join(', ')}</div>
      </div>
    </div>
  )
}

type DecisionResultProps = { readonly done: string; readonly failures: readonly Failure[] }

function DecisionResult({ done, failures }: DecisionResultProps) {
  return (
    <>
      <DoneText>{done}</DoneText>
      {failures.length > 0 && (
        <div class="notice error" role="alert">
          {failures.map(({ name, errors }) => (
            <div key={name}>
              <strong>{name}</strong>
              {errors.map((fault) => (
                <Fault key={fault.code} fault={fault} />
              ))}
            </div>
          ))}
        </div>
      )}
    </>
  )
}

type RejectDialogProps = {
  readonly requests: readonly MembershipRequestDto[]
  readonly isReasonDue: boolean
  readonly run: (notes: string) => Promise<void>
  readonly onClose: () => void
}

/** Asks for the reason of a rejection, which some policies require. */
export function RejectDialog({ requests, isReasonDue, run, onClose }: RejectDialogProps) {
  const [notes, setNotes] = useState('')
  const reason = notes.trim()
  return (
    <Dialog title={t('rejectCount', { count: requests.length })} onClose={onClose}>
      <ul>
        {requests.map(({ id, requesterName, collectionName }) => (
          <li key={id}>{t('requestNamed', { name: requesterName ?? '', collection: collectionName ?? '' })}</li>
        ))}
      </ul>
      <TextField
        label={t(isReasonDue ? 'rejectionReason' : 'decisionNotes')}
        value={notes}
        onInput={setNotes}
        multiline
        required={isReasonDue}
        maxLength={2048}
      />
      <p class="hint">{t('decisionFinal')}</p>
      <div class="actions">
        <ActionButton kind="danger" disabled={isReasonDue && reason === ''} run={() => run(reason)}>
          {t('reject')}
        </ActionButton>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
      </div>
    </Dialog>
  )
}
