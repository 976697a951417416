import type { HistoryRecord } from './compare-history.ts'
import type { ReceivedEvent } from './event-receiver.ts'
import { LINKS_PATH, type Organisation, REQUESTS_PATH } from './organisation.ts'

type RequestRecord = {
  readonly id: string
  readonly lifecycle: readonly { readonly status: string; readonly at: string }[]
}
type AuditRecord = { readonly at: string; readonly actorId: string; readonly action: string }
type LinkRecord = {
  readonly id: string
  readonly state: string
  readonly syncState: string
  readonly heldRemovals: { readonly planId: string } | null
}

const REQUEST_EVENTS: Readonly<Record<string, string>> = {
  Requested: 'request.submitted',
  PendingApproval: 'request.waiting',
  Approved: 'request.approved',
  Joined: 'request.joined',
  Rejected: 'request.rejected',
  Cancelled: 'request.cancelled',
  Left: 'request.left',
}
const AUDIT_EVENTS: Readonly<Record<string, string>> = {
  Created: 'collection.created',
  Updated: 'collection.updated',
  Deleted: 'collection.deleted',
  LinkCreated: 'link.created',
  LinkUpdated: 'link.updated',
  LinkDeleted: 'link.deleted',
  RemovalsApproved: 'removals.approved',
  RemovalsRejected: 'removals.rejected',
}
const FAULTS_OF_A_KIND = 5

/**
 * Compares the received events with the histories, the lifecycles of the requests and the audits: each change has
 * exactly one event, and no event tells of anything else.
 */
export async function compareEvents(
  organisation: Organisation,
  histories: ReadonlyMap<string, readonly HistoryRecord[]>,
): Promise<string[]> {
  const { receiver } = organisation
  const told = Map.groupBy(receiver.events.values(), toldBy)
  const happened = Map.groupBy(
    [...membersIn(histories), ...(await requestsOf(organisation)), ...(await auditsOf(organisation))],
    (text) => text,
  )
  // Two changes of one request can have one time, which an instance with a slow clock takes over from the earlier one.
  const countOf = (text: string): number => happened.get(text)?.length ?? 0
  const missing = [...happened.keys()].filter((text) => (told.get(text)?.length ?? 0) < countOf(text))
  const invented = [...told].filter(([text, [event]]) => !happened.has(text) && isComparable(organisation, event))
  const repeated = [...told].filter(([text, { length }]) => text !== '' && length > Math.max(1, countOf(text)))
  return [
    ...receiver.faults.splice(0),
    ...missing.slice(0, FAULTS_OF_A_KIND).map((text) => `No event tells of ${text} (of ${missing.length})`),
    ...invented.slice(0, FAULTS_OF_A_KIND).map(([, events]) => `An event tells of nothing: ${JSON.stringify(events)}`),
    ...repeated.slice(0, FAULTS_OF_A_KIND).map(([, events]) => `Several events tell of it: ${JSON.stringify(events)}`),
    ...(await compareLinks(organisation)),
  ]
}

/** What an event tells of, in a text that is the same for the record of it. Empty for what no record tells. */
function toldBy({ type, time, data }: ReceivedEvent): string {
  if (type.startsWith('member.')) return canonical(data)
  if (Object.values(REQUEST_EVENTS).includes(type)) return canonical({ requestId: data.requestId, type, time })
  const isAudited = Object.values(AUDIT_EVENTS).includes(type)
  return isAudited ? canonical({ collectionId: data.collectionId, type, time, actorId: data.actorId }) : ''
}

/** The history of a deleted collection is not read. */
function isComparable({ model }: Organisation, event: ReceivedEvent | undefined): boolean {
  if (event === undefined || toldBy(event) === '') return false
  const collectionId = String(event.data.collectionId)
  return !event.type.startsWith('member.') || model.criteria.has(collectionId) || model.joinable.has(collectionId)
}

function membersIn(histories: ReadonlyMap<string, readonly HistoryRecord[]>): string[] {
  return [...histories].flatMap(([collectionId, records]) =>
    records.map((record) => canonical({ collectionId, ...record })),
  )
}

async function requestsOf({ api, callers, model }: Organisation): Promise<string[]> {
  const texts: string[] = []
  for (const collectionId of model.joinable.keys()) {
    const records = await api.list<RequestRecord>(callers.writer, `${REQUESTS_PATH}/${collectionId}`)
    for (const { id: requestId, lifecycle } of records) {
      for (const { status, at } of lifecycle)
        texts.push(canonical({ requestId, type: REQUEST_EVENTS[status], time: at }))
    }
  }
  return texts
}

async function auditsOf({ api, callers, formerCollectionIds, model }: Organisation): Promise<string[]> {
  const texts: string[] = []
  for (const collectionId of [...model.criteria.keys(), ...model.joinable.keys(), ...formerCollectionIds]) {
    const records = await api.list<AuditRecord>(callers.writer, `/collections/beta/${collectionId}/audit`)
    for (const { at, actorId, action } of records) {
      texts.push(canonical({ collectionId, type: AUDIT_EVENTS[action], time: at, actorId }))
    }
  }
  return texts
}

/** What the events say of a link in the end is what its record says. */
async function compareLinks({ api, callers, receiver, rollsBack }: Organisation): Promise<string[]> {
  const records = await api.list<LinkRecord>(callers.writer, `${LINKS_PATH}/group-links`)
  const events = [...receiver.events.values()]
  return records.flatMap(({ id, state, syncState, heldRemovals }) => {
    const ofLink = events.filter(({ data }) => data.linkId === id)
    const count = (type: string) => ofLink.filter((event) => event.type === type).length
    const faults: string[] = []
    const pauses = count('link.paused') - count('link.resumed')
    const isPaused = syncState === 'RemovalsPaused'
    if (state === 'Enabled' && pauses !== Number(isPaused))
      faults.push(`Link ${id} is ${syncState} after ${pauses} pauses`)
    const failures = count('link.failed') - count('link.recovered')
    // For the previous release, a job that ends because its link is disabled is a failure, from which a link recovers.
    if (!rollsBack && failures !== 0 && failures !== 1)
      faults.push(`Link ${id} failed ${failures} times without a recovery`)
    const planId = heldRemovals?.planId
    const isTold = ofLink.some(({ type, data }) => type === 'removals.held' && data.planId === planId)
    if (planId !== undefined && !isTold) faults.push(`No event tells that link ${id} holds plan ${planId}`)
    return faults
  })
}

const canonical = (fields: object): string =>
  JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)))
