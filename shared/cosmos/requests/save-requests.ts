import type { Container, OperationInput } from '@azure/cosmos'
import { eventsOfRequest } from '../../domain/events/change-events.ts'
import type { AttributedChange } from '../../domain/history/member-history.ts'
import { attributionOf } from '../../domain/membership-requests/attribution.ts'
import { isLive, type MembershipRequest } from '../../domain/membership-requests/membership-request.ts'
import type { RequestChange } from '../../domain/membership-requests/request-dependencies.ts'
import { chunkWithin } from '../../kernel/chunk.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { CHANGE_TYPE, type HistoryOptions, SECONDS_PER_DAY, storedChange } from '../change-document.ts'
import { countDocuments, isWriteConflict, readDocument, type Stored, writeOf } from '../documents.ts'
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts'
import { serialize } from '../serialize.ts'
import {
  changeId,
  headId,
  type JoinedHeadDocument,
  parseJoinedHead,
  requestDocument,
  slotDocument,
  slotId,
} from './request-document.ts'

/** Attempts of a save whose membership version other instances change at the same time. */
const MAX_ATTEMPTS = 30

/** Changes of one transaction. A change needs at most three operations, and Cosmos accepts 100 in one transaction. */
const CHANGES_PER_SAVE_COUNT = 32
/** Bytes of the requests in one transaction. Cosmos accepts 2 MB, including slots and the membership change. */
const SAVE_LIMIT_BYTES = 1_500_000
/** Upper bound of UTF-8 bytes for one UTF-16 code unit of JSON. */
const BYTES_PER_UNIT = 3

/** Splits changes into batches that each fit one transaction. Long notes on many decisions make a request large. */
export function saveBatches(changes: readonly RequestChange[]): RequestChange[][] {
  const limits = { atMostCount: CHANGES_PER_SAVE_COUNT, atMostBytes: SAVE_LIMIT_BYTES }
  return chunkWithin(changes, limits, ({ after }) => JSON.stringify(after).length * BYTES_PER_UNIT)
}

/** An operation and what it concerns, which determines the refusal when it fails. */
type SavePart = { readonly about: 'request' | 'slot' | 'membership' | 'events'; readonly operation: OperationInput }

/**
 * Creates the `save` function of a container. Requests, their slots and the collection's membership version are written
 * in one transaction. Within one process, saves that change the membership of one collection run one after the other to
 * avoid conflicts.
 */
export function requestSaver(
  requests: Container,
  options: HistoryOptions,
  outbox: Outbox = NO_OUTBOX,
): (changes: readonly RequestChange[]) => Promise<Versioned<MembershipRequest>[]> {
  const serialized = serialize()
  return async (changes) => {
    const [first] = changes
    if (first === undefined) return []
    const { tenantId, collectionId } = first.after
    if (changes.some(({ after }) => after.tenantId !== tenantId || after.collectionId !== collectionId)) {
      throw new Error('All requests of one save must belong to one collection')
    }
    const events = changes.flatMap(eventsOfRequest)
    const eventWrites = await outbox.prepare(tenantId, events)
    const membershipChanges = membershipChange(changes)
    const saved = await save({ changes, membershipChanges, eventWrites }, first.after)
    // Identities that become one change members and have no event.
    const mustNotify = eventWrites.length > 0 || events.length === 0
    if (mustNotify)
      await outbox.notify('requests', tenantId, eventWrites, membershipChanges.length > 0 ? collectionId : undefined)
    return saved
  }

  async function save(
    { changes, membershipChanges, eventWrites }: Save,
    { tenantId, collectionId }: MembershipRequest,
  ): Promise<Versioned<MembershipRequest>[]> {
    const ofEvents = eventWrites.map((operation): SavePart => ({ about: 'events', operation }))
    const ofRequests = [...changes.flatMap(requestParts), ...ofEvents]
    if (membershipChanges.length === 0 && !changes.some(changesPosition)) {
      return (await writeParts(requests, tenantId, ofRequests, changes)) ?? throwStaleVersion(collectionId)
    }
    return serialized(`${tenantId}:${collectionId}`, async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const head = await readDocument<JoinedHeadDocument>(requests, headId(collectionId), tenantId)
        const countBefore = await memberCountOf(head, tenantId, collectionId)
        const changed = { tenantId, collectionId, head, countBefore, changes: membershipChanges }
        const parts = [...ofRequests, ...membershipParts(changed, options)]
        const saved = await writeParts(requests, tenantId, parts, changes)
        if (saved !== undefined) return saved
      }
      return throwStaleVersion(collectionId)
    })
  }

  /** The memberships as of a head. They are counted once where a former version of the service has written it. */
  async function memberCountOf(
    head: JoinedHeadDocument | undefined,
    tenantId: string,
    collectionId: string,
  ): Promise<number> {
    if (head === undefined) return 0
    const { memberCount } = parseJoinedHead(head)
    if (memberCount !== undefined) return memberCount
    // The write is refused when members change meanwhile, because the head does.
    const joined = "c.ofCollection = @collectionId AND c.state = 'Joined'"
    return countDocuments(requests, tenantId, joined, { collectionId })
  }
}

type Save = {
  readonly changes: readonly RequestChange[]
  readonly membershipChanges: readonly AttributedChange[]
  /** The operations that store the events of the changes. */
  readonly eventWrites: readonly OperationInput[]
}

function throwStaleVersion(collectionId: string): never {
  throw new Refusal('StaleVersion', `The members of collection ${collectionId} were changed concurrently`)
}

/** @returns Undefined when the membership version has changed; nothing is written then. */
async function writeParts(
  requests: Container,
  tenantId: string,
  parts: readonly SavePart[],
  changes: readonly RequestChange[],
): Promise<Versioned<MembershipRequest>[] | undefined> {
  const response = await requests.items.batch(
    parts.map(({ operation }) => operation),
    tenantId,
  )
  const results = response.result ?? []
  if (response.code === 207) {
    // Every operation except the failed one has the status 424.
    const index = results.findIndex(({ statusCode }) => statusCode >= 400 && statusCode !== 424)
    return throwUnlessRetryable(parts[index], results[index]?.statusCode)
  }
  const versions = results.filter((_, index) => parts[index]?.about === 'request').map(({ eTag }) => eTag ?? '')
  return changes.map(({ after }, index) => ({ value: after, version: versions[index] ?? '' }))
}

/** Returns when the save should be retried. */
function throwUnlessRetryable(part: SavePart | undefined, status: number | undefined): undefined {
  if (part?.about === 'membership' && isWriteConflict(status)) return undefined
  if (part?.about === 'slot' && status === 409) throw new Refusal('RequestAlreadyOpen')
  if (part?.about === 'request' && isWriteConflict(status)) {
    throw new Refusal('InvalidRequestState', 'The request was changed by a concurrent action')
  }
  throw new Error(`Saving requests failed with status ${status} of the ${part?.about}`)
}

function requestParts({ before, after }: RequestChange): SavePart[] {
  const operation = writeOf(requestDocument(after), before?.version)
  return [{ about: 'request', operation }, ...slotParts(before?.value, after)]
}

function slotParts(before: MembershipRequest | undefined, after: MembershipRequest): SavePart[] {
  const slotBefore = before !== undefined && isLive(before) ? before.slot : undefined
  const slotAfter = isLive(after) ? after.slot : undefined
  const parts: SavePart[] = []
  const add = (operation: OperationInput) => parts.push({ about: 'slot', operation })
  if (slotBefore !== undefined && slotBefore !== slotAfter) add({ operationType: 'Delete', id: slotId(slotBefore) })
  if (slotAfter === undefined) return parts
  const resourceBody = slotDocument(after)
  if (slotBefore === slotAfter) add({ operationType: 'Replace', id: slotId(slotAfter), resourceBody })
  else add({ operationType: 'Create', resourceBody })
  return parts
}

/** Whether a membership stays, with another position: conditions that refer to the collection depend on it. */
function changesPosition({ before, after }: RequestChange): boolean {
  return before?.value.status === 'Joined' && before.value.relationshipId !== after.relationshipId
}

/** A membership that another identity takes over is removed from the one and added to the other. */
function membershipChange(changes: readonly RequestChange[]): AttributedChange[] {
  const memberOf = (request: MembershipRequest | undefined) =>
    request?.status === 'Joined' ? request.requesterId : undefined
  return changes.flatMap((change) => {
    const [removed, added] = [memberOf(change.before?.value), memberOf(change.after)]
    if (removed === added) return []
    return {
      ...attributionOf(change),
      removed: removed === undefined ? [] : [removed],
      added: added === undefined ? [] : [added],
    }
  })
}

type ChangedMembership = {
  readonly tenantId: string
  readonly collectionId: string
  readonly head: Stored<JoinedHeadDocument> | undefined
  /** The memberships before the changes. */
  readonly countBefore: number
  readonly changes: readonly AttributedChange[]
}

function membershipParts(
  { tenantId, collectionId, head, countBefore, changes }: ChangedMembership,
  { nowMs, historyDays }: HistoryOptions,
): SavePart[] {
  const former = head === undefined ? undefined : parseJoinedHead(head)
  const membershipVersion = (former?.membershipVersion ?? 0) + (changes.length === 0 ? 0 : 1)
  const revision = (former?.revision ?? 0) + 1
  // Clocks of instances differ. The times of a history rise with its versions.
  const atMs = Math.max(nowMs(), former?.changedAtMs ?? 0)
  const ofCollection = { tenantId, collectionId, membershipVersion }
  const memberCount = changes.reduce((count, { added, removed }) => count + added.length - removed.length, countBefore)
  const summary = { revision, changedAtMs: atMs, memberCount }
  const next: JoinedHeadDocument = { id: headId(collectionId), type: 'head', ...ofCollection, ...summary }
  const raise = writeOf(next, head?._etag)
  if (changes.length === 0) return [{ about: 'membership', operation: raise }]
  const { change } = storedChange({ membershipVersion, atMs }, changes, collectionId)
  const document = {
    ...change,
    ...ofCollection,
    id: changeId(collectionId, membershipVersion),
    type: CHANGE_TYPE,
    ttl: historyDays * SECONDS_PER_DAY,
  }
  return [
    { about: 'membership', operation: raise },
    { about: 'membership', operation: { operationType: 'Create', resourceBody: document } },
  ]
}
