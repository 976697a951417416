import { isDeepStrictEqual } from 'node:util'
import type { CoreNames } from './compare-people.ts'
import { applyEnd, forgetPastEnd, hasRightEnd } from './end-model.ts'
import { countOutcome, type Organisation, REQUESTS_PATH } from './organisation.ts'
import type { JoinableModel, ModelMembers, OrganisationModel } from './organisation-model.ts'
import { approversAt } from './policy-model.ts'
import { type ModelRequest, settle, waitingGateOf } from './request-model.ts'

type GateRecord = { readonly order: number; readonly type: string; readonly approverCount: number }
type RequestRecord = {
  readonly id: string
  readonly requesterId: string
  readonly relationshipId: string | null
  readonly status: ModelRequest['status']
  readonly currentGate: GateRecord | null
  readonly createdAt: string
  readonly endsAt: string | null
  readonly extension: { readonly endsAt: string; readonly currentGate: GateRecord } | null
  readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[]
}

/** What the records of the service name, in terms of the model. */
type RecordNames = {
  /** The person's number, also of an identity that is gone. */
  requesterOf(record: RequestRecord): string | undefined
  positionOf(record: RequestRecord): string | undefined
}
type Matched = { readonly collectionId: string; readonly request: ModelRequest; readonly found: RequestRecord }

/** Compares the membership requests of all collections with the model. */
export async function compareRequests(
  organisation: Organisation,
  { ninOf: names, externalIdOf }: CoreNames,
): Promise<string[]> {
  const { model, numbersByCoreId, positionNames, times } = organisation
  for (const { policy, requests } of model.joinable.values()) {
    for (const request of requests) {
      const { status } = request
      applyEnd(request, policy, times.now())
      if (request.status !== status) countOutcome(organisation, `${status} until its end`)
    }
  }
  for (const [id, externalId] of externalIdOf) positionNames.set(id, externalId)
  const positionOf = ({ relationshipId }: RequestRecord) =>
    relationshipId === null ? undefined : (positionNames.get(relationshipId) ?? 'unknown')
  const requesterOf = ({ requesterId }: RequestRecord) => names.get(requesterId) ?? numbersByCoreId.get(requesterId)
  const faults: string[] = []
  const matched: Matched[] = []
  for (const collectionId of model.joinable.keys()) {
    faults.push(...(await matchRequests(organisation, collectionId, { requesterOf, positionOf }, matched)))
  }
  // Where the order of events decided, the members are known only now.
  for (const { request, found } of matched) {
    settle(request, found.status, positionOf(found))
    forgetPastEnd(request, times.now())
  }
  const members = model.members()
  for (const { collectionId, request, found } of matched) {
    const policy = model.joinable.get(collectionId)?.policy as JoinableModel['policy']
    const gate = expectedGate(model, policy, request, members)
    const isLive = request.status === 'PendingApproval' || request.status === 'Joined'
    const isRight =
      (isLive ? names.get(found.requesterId) === request.nin : isOf(request, requesterOf(found))) &&
      positionOf(found) === request.position &&
      found.status === request.status &&
      isDeepStrictEqual(found.currentGate, request.status === 'PendingApproval' ? gate : null) &&
      hasRightEnd(request, found.endsAt) &&
      hasRightExtension(request, found, gate) &&
      isDeepStrictEqual(
        decisionNotes(found),
        request.decisionNotes.map(({ text }) => text),
      )
    if (!isRight) {
      faults.push(
        `A request of collection ${collectionId}: expected ${JSON.stringify(request)} at gate ${JSON.stringify(gate)}, found ${JSON.stringify(found)}`,
      )
    }
  }
  return faults
}

/** Finds the record of each request of a collection. @returns Faults: what is missing, or was not made. */
async function matchRequests(
  { api, callers, model }: Organisation,
  collectionId: string,
  { requesterOf, positionOf }: RecordNames,
  matched: Matched[],
): Promise<string[]> {
  const records = await api.list<RequestRecord>(callers.writer, `${REQUESTS_PATH}/${collectionId}`)
  const left = new Map(records.map((record) => [record.id, record]))
  const unmatched = new Set(model.joinable.get(collectionId)?.requests)
  const isLike = (record: RequestRecord, request: ModelRequest) =>
    request.id === undefined &&
    isOf(request, requesterOf(record)) &&
    (record.status === request.status || request.alternatives.includes(record.status)) &&
    decisionNotes(record).length === 0
  const isAtPosition = (record: RequestRecord, request: ModelRequest) => positionOf(record) === request.position
  const isOfFormer = (record: RequestRecord, { formerNin }: ModelRequest) =>
    formerNin !== undefined && requesterOf(record) === formerNin
  const isOfTime = ({ createdAt }: RequestRecord, { created }: ModelRequest) =>
    Date.parse(createdAt) >= created.earliestMs && Date.parse(createdAt) <= created.latestMs
  // A person can have left several memberships that were added directly: those of the same time, and for the same
  // position, belong together.
  // Those that a person left before a merge keep the former identity: no others can have their records.
  const finders: ((request: ModelRequest) => RequestRecord | undefined)[] = [
    ({ id }) => (id === undefined ? undefined : left.get(id)),
    ...[
      (each: RequestRecord, request: ModelRequest) => isOfFormer(each, request) && isAtPosition(each, request),
      isOfFormer,
      (each: RequestRecord, request: ModelRequest) => isAtPosition(each, request) && isOfTime(each, request),
      isOfTime,
      isAtPosition,
      () => true,
    ].map((isCloser) => (request: ModelRequest) => {
      return left.values().find((candidate) => isLike(candidate, request) && isCloser(candidate, request))
    }),
  ]
  for (const find of finders) {
    for (const request of unmatched) {
      const found = find(request)
      if (found === undefined) continue
      left.delete(found.id)
      unmatched.delete(request)
      matched.push({ collectionId, request, found })
    }
  }
  return [
    ...repeatedMemberships(collectionId, records),
    ...[...unmatched].map((each) => `Collection ${collectionId} lacks a request: ${JSON.stringify(each)}`),
    ...[...left.values()].map((each) => `A request that was not made: ${JSON.stringify(each)}`),
  ]
}

/** Whether it is the number of the requester, now or before a merge. */
function isOf({ nin, formerNin }: ModelRequest, found: string | undefined): boolean {
  return found === nin || (formerNin !== undefined && found === formerNin)
}

/** An identity has one membership or one waiting request in a collection. */
function repeatedMemberships(collectionId: string, records: readonly RequestRecord[]): string[] {
  const live = records.filter(({ status }) => status === 'PendingApproval' || status === 'Joined')
  const requesters = live.map(({ requesterId }) => requesterId)
  return requesters
    .filter((requesterId, index) => requesters.indexOf(requesterId) < index)
    .map((requesterId) => `Identity ${requesterId} has two live requests in collection ${collectionId}`)
}

function decisionNotes({ lifecycle }: RequestRecord): string[] {
  const decided = lifecycle.filter(({ status }) => status === 'Approved' || status === 'Rejected')
  return decided.flatMap(({ notes }) => notes ?? [])
}

/** The gate where a request, or an extension, waits, with the number of approvers now. The subject does not count. */
function expectedGate(
  model: OrganisationModel,
  policy: JoinableModel['policy'],
  request: ModelRequest,
  members: ModelMembers,
): GateRecord | null {
  const gate = waitingGateOf(policy, request)
  if (gate === undefined) return null
  const approvers = approversAt(model, gate, request, members)
  return { order: gate.order, type: gate.type, approverCount: approvers.difference(new Set([request.nin])).size }
}

/** Whether the extension that waits is as it must be. Whether there is one is known where there is none. */
function hasRightExtension(
  request: ModelRequest,
  { extension: found }: RequestRecord,
  gate: GateRecord | null,
): boolean {
  const { extension } = request
  if (request.status !== 'Joined') return found === null
  if (extension === 'unknown') {
    if (found === null) request.extension = undefined
    return true
  }
  if (extension === undefined || found === null) return extension === undefined && found === null
  return Date.parse(found.endsAt) === extension.endMs && isDeepStrictEqual(found.currentGate, gate)
}
