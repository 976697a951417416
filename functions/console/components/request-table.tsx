import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { MembershipRequestDto } from '../../../shared/domain/membership-requests/membership-request.ts'
import { askedNotes } from '../asked-notes.ts'
import { dayText, t, timeOf } from '../language/texts.ts'
import { Dialog } from './actions.tsx'
import { CardList } from './card-list.tsx'
import { RecordList } from './record-list.tsx'
import { RequestStatus, RequestSteps } from './request-steps.tsx'

const PARTS = {
  requester: ({ requesterName }: MembershipRequestDto) => requesterName,
  collection: ({ collectionName }: MembershipRequestDto) => collectionName,
  position: ({ relationshipTitle }: MembershipRequestDto) => relationshipTitle,
  approvers: ({ approverNames }: MembershipRequestDto) => approverNames.join(', '),
} as const

type RequestTableProps = {
  readonly label: string
  readonly requests: readonly MembershipRequestDto[]
  readonly loadMore?: (() => void) | undefined
  readonly empty: string
  /** What distinguishes the requests of this list. */
  readonly parts: readonly (keyof typeof PARTS)[]
  /** What can be done with a request, beside looking at it. */
  readonly action?: (request: MembershipRequestDto) => ComponentChildren
  /** Cards in a narrow window, for lists that are not long. */
  readonly isCards?: boolean
}

/** Requests with their states, and the way of each through its gates. */
export function RequestTable({ label, requests, loadMore, empty, parts, action, isCards }: RequestTableProps) {
  const [chosen, setChosen] = useState<MembershipRequestDto | undefined>(undefined)
  const Table = isCards ? CardList<MembershipRequestDto> : RecordList<MembershipRequestDto>
  return (
    <>
      <Table
        label={label}
        items={requests}
        loadMore={loadMore}
        keyOf={({ id }) => id}
        empty={empty}
        columns={[
          ...parts.map((part) => ({ head: t(part), text: PARTS[part] })),
          { head: t('state'), cell: ({ status }) => <RequestStatus status={status} /> },
          { head: t('changed'), sortBy: ({ updatedAt }) => updatedAt, cell: ({ updatedAt }) => timeOf(updatedAt) },
          {
            head: t('actions'),
            cell: (request) => (
              <div class="actions">
                <button type="button" onClick={() => setChosen(request)}>
                  {t('details')}
                </button>
                {action?.(request)}
              </div>
            ),
          },
        ]}
      />
      {chosen !== undefined && <RequestDialog request={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

type RequestDialogProps = { readonly request: MembershipRequestDto; readonly onClose: () => void }

/** One request and its way through the gates. */
function RequestDialog({ request, onClose }: RequestDialogProps) {
  return (
    <Dialog title={request.collectionName ?? t('requests')} hasClose onClose={onClose}>
      <RequestFacts request={request} />
      <RequestSteps request={request} />
    </Dialog>
  )
}

type RequestFactsProps = {
  readonly request: MembershipRequestDto
  /** What the request is for; undefined where the reader knows it. */
  readonly collection?: JoinableCollectionDto | undefined
}

export function RequestFacts({ request, collection }: RequestFactsProps) {
  const { orgUnitName, managerNames, endsAt, extension } = request
  const { requesterName, relationshipTitle, submittedBy, requesterId, submittedByName, createdAt } = request
  const facts = [
    [t('requester'), requesterName],
    [t('position'), relationshipTitle],
    [t('orgUnit'), orgUnitName],
    [t('manager'), managerNames.join(', ') || null],
    [t('whatItGives'), collection?.description ?? null],
    [t('until'), endsAt === null ? null : dayText(endsAt)],
    [t('extension'), extension === null ? null : t('extensionUntil', { day: dayText(extension.endsAt) })],
    [t('submittedBy'), submittedBy === requesterId ? null : submittedByName],
    [t('created'), timeOf(createdAt)],
    [t('notes'), askedNotes(request)],
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
