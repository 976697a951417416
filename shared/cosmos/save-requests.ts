import type { Container, OperationInput } from '@azure/cosmos'
import type { MembershipChange } from '../domain/collections/membership-store.ts'
import { isLive, type MembershipRequest } from '../domain/membership-requests/membership-request.ts'
import type { RequestChange } from '../domain/membership-requests/request-store.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { isOvertaken, readDocument, type Stored } from './documents.ts'
import { CHANGES_KEPT_S } from './membership-plan.ts'
import {
  changeId,
  headId,
  type JoinedChangeDocument,
  type JoinedHeadDocument,
  requestDocument,
  slotDocument,
  slotId,
} from './request-document.ts'
import { serialize } from './serialize.ts'

/** Other instances may raise the same membership version: so often is a save begun anew. */
const ATTEMPTS_AT_MOST = 30

/** What an operation of a save is about, so that its failure can be told. */
type Part = { readonly about: 'request' | 'slot' | 'membership'; readonly operation: OperationInput }

/**
 * Makes the `save` of a container. Requests, their slots and the collection's membership version go in one transaction.
 * Within this process, saves that change one collection's membership take turns rather than overtake each other.
 */
export function requestSaver(
  requests: Container,
): (changes: readonly RequestChange[]) => Promise<Versioned<MembershipRequest>[]> {
  const turns = serialize()
  return async (changes) => {
    const [first] = changes
    if (first === undefined) return []
    const { tenantId, collectionId } = first.after
    if (changes.some(({ after }) => after.tenantId !== tenantId || after.collectionId !== collectionId)) {
      throw new Error('The requests of one save have to belong to one collection')
    }
    const ofRequests = changes.flatMap(requestParts)
    const change = membershipChange(changes)
    if (change === undefined) {
      return (await written(requests, tenantId, ofRequests, changes)) ?? overtaken(collectionId)
    }
    return turns(`${tenantId}:${collectionId}`, async () => {
      for (let attempt = 1; attempt <= ATTEMPTS_AT_MOST; attempt += 1) {
        const head = await readDocument<JoinedHeadDocument>(requests, headId(collectionId), tenantId)
        const parts = [...ofRequests, ...membershipParts({ tenantId, collectionId, head, ...change })]
        const saved = await written(requests, tenantId, parts, changes)
        if (saved !== undefined) return saved
      }
      return overtaken(collectionId)
    })
  }
}

function overtaken(collectionId: string): never {
  throw new Refusal('StaleVersion', `Others kept changing the members of collection ${collectionId}`)
}

/** Undefined when someone else has changed the membership meanwhile, and nothing is written. */
async function written(
  requests: Container,
  tenantId: string,
  parts: readonly Part[],
  changes: readonly RequestChange[],
): Promise<Versioned<MembershipRequest>[] | undefined> {
  const response = await requests.items.batch(
    parts.map(({ operation }) => operation),
    tenantId,
  )
  const results = response.result ?? []
  if (response.code === 207) {
    // All but the culprit answer 424.
    const index = results.findIndex(({ statusCode }) => statusCode >= 400 && statusCode !== 424)
    return refused(parts[index], results[index]?.statusCode)
  }
  const versions = results.filter((_, index) => parts[index]?.about === 'request').map(({ eTag }) => eTag ?? '')
  return changes.map(({ after }, index) => ({ value: after, version: versions[index] ?? '' }))
}

/** Undefined where the save is to be begun anew. */
function refused(part: Part | undefined, status: number | undefined): undefined {
  if (part?.about === 'membership' && isOvertaken(status)) return undefined
  if (part?.about === 'slot' && status === 409) throw new Refusal('RequestAlreadyOpen')
  if (part?.about === 'request' && isOvertaken(status)) {
    throw new Refusal('InvalidRequestState', 'Someone else has acted on the request at the same moment')
  }
  throw new Error(`Saving requests failed with status ${status} of the ${part?.about}`)
}

function requestParts({ before, after }: RequestChange): Part[] {
  const resourceBody = requestDocument(after)
  const operation: OperationInput =
    before === undefined
      ? { operationType: 'Create', resourceBody }
      : { operationType: 'Replace', id: after.id, resourceBody, ifMatch: before.version }
  return [{ about: 'request', operation }, ...slotParts(before?.value, after)]
}

function slotParts(before: MembershipRequest | undefined, after: MembershipRequest): Part[] {
  const wasLive = before !== undefined && isLive(before)
  if (!wasLive && !isLive(after)) return []
  const id = slotId(after.slot)
  const resourceBody = slotDocument(after)
  if (!wasLive) return [{ about: 'slot', operation: { operationType: 'Create', resourceBody } }]
  if (!isLive(after)) return [{ about: 'slot', operation: { operationType: 'Delete', id } }]
  return [{ about: 'slot', operation: { operationType: 'Replace', id, resourceBody } }]
}

function membershipChange(changes: readonly RequestChange[]): MembershipChange | undefined {
  const isJoined = (request: MembershipRequest | undefined) => request?.status === 'Joined'
  const changed = changes.filter(({ before, after }) => isJoined(before?.value) !== isJoined(after))
  if (changed.length === 0) return undefined
  const identities = (joined: boolean) =>
    changed.filter(({ after }) => isJoined(after) === joined).map(({ after }) => after.requesterId)
  return { added: identities(true), removed: identities(false) }
}

function membershipParts({
  tenantId,
  collectionId,
  head,
  added,
  removed,
}: MembershipChange & {
  tenantId: string
  collectionId: string
  head: Stored<JoinedHeadDocument> | undefined
}): Part[] {
  const membershipVersion = (head?.membershipVersion ?? 0) + 1
  const next: JoinedHeadDocument = { id: headId(collectionId), tenantId, type: 'head', collectionId, membershipVersion }
  const change: JoinedChangeDocument = {
    id: changeId(collectionId, membershipVersion),
    tenantId,
    type: 'change',
    collectionId,
    membershipVersion,
    added,
    removed,
    ttl: CHANGES_KEPT_S,
  }
  const raise: OperationInput =
    head === undefined
      ? { operationType: 'Create', resourceBody: next }
      : { operationType: 'Replace', id: next.id, resourceBody: next, ifMatch: head._etag }
  return [
    { about: 'membership', operation: raise },
    { about: 'membership', operation: { operationType: 'Create', resourceBody: change } },
  ]
}
