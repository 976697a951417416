import { isDeepStrictEqual } from 'node:util'
import type { CoreNames } from './compare-people.ts'
import { CRITERIA_PATH, differences, JOINABLE_PATH, type Organisation, REQUESTS_PATH } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { policyBody } from './request-actions.ts'
import { gateOf, type ModelRequest, settle } from './request-model.ts'

type CollectionRecord = { readonly id: string; readonly condition?: unknown; readonly joinPolicy?: unknown }
type RequestRecord = {
  readonly id: string
  readonly requesterId: string
  readonly relationshipId: string | null
  readonly status: ModelRequest['status']
  readonly currentGate: { readonly order: number } | null
  readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[]
}

/** Compares the collections, their members and the membership requests with the model. */
export async function compareCollections(organisation: Organisation, names: CoreNames): Promise<string[]> {
  const { model } = organisation
  const faults: string[] = []
  for (const [id, { requests }] of model.joinable) {
    faults.push(...(await compareRequests(organisation, id, requests, names)))
  }
  // Where the order of events decided, the members are known now.
  organisation.watch.observe()
  const members = model.members()
  for (const [id, { objectType }] of model.criteria) {
    const nameOf = objectType === 'Identity' ? names.ninOf : names.externalIdOf
    const found = await readMembers(organisation, `${CRITERIA_PATH}/${id}`)
    const differing = found.filter((member) => members.get(id)?.has(nameOf.get(member) ?? '') !== true)
    const lacking = [...nameOf].filter(
      ([member, name]) => members.get(id)?.has(name) === true && !found.includes(member),
    )
    const faulty = [...differing, ...lacking.map(([member]) => member)]
    faults.push(...compareMembers(id, members.get(id), namesOf(found, nameOf)))
    for (const member of faulty.slice(0, EXPLAINED_COUNT)) faults.push(await explained(organisation, id, member))
  }
  for (const id of model.joinable.keys()) {
    const found = await readMembers(organisation, `${JOINABLE_PATH}/${id}`)
    faults.push(...compareMembers(id, members.get(id), namesOf(found, names.ninOf)))
  }
  return [...faults, ...(await compareDefinitions(organisation))]
}

/** Members whose difference is explained by the service, for each collection. */
const EXPLAINED_COUNT = 2

const namesOf = (ids: readonly string[], nameOf: ReadonlyMap<string, string>): string[] =>
  ids.map((id) => nameOf.get(id) ?? id)

async function explained({ api, callers }: Organisation, id: string, objectId: string): Promise<string> {
  const path = `/collections/beta/${id}/explain?objectId=${objectId}`
  const { data } = await api.call({ token: callers.writer, method: 'GET', path })
  return `Explained: ${JSON.stringify(data)}`
}

async function readMembers({ api, callers }: Organisation, path: string): Promise<string[]> {
  type Results = { readonly memberIds: readonly (string | { readonly objectId: string })[] }
  const { data, status } = await api.call<Results>({ token: callers.writer, method: 'GET', path: `${path}/results` })
  if (status !== 200) return [`status ${status}`]
  return data.memberIds.map((member) => (typeof member === 'string' ? member : member.objectId))
}

function compareMembers(id: string, expected: ReadonlySet<string> = new Set(), found: readonly string[]): string[] {
  const present = new Set(found)
  const missing = [...expected.difference(present)]
  const extra = [...present.difference(expected)]
  const faults = found.length > present.size ? [`Collection ${id} has a member twice`] : []
  if (missing.length > 0) faults.push(`Collection ${id} lacks ${missing}`)
  if (extra.length > 0) faults.push(`Collection ${id} has too many: ${extra}`)
  return faults
}

async function compareDefinitions(organisation: Organisation): Promise<string[]> {
  const { api, callers, model } = organisation
  const read = async (path: string) => {
    const { data } = await api.call<CollectionRecord[]>({ token: callers.writer, method: 'GET', path })
    return new Map(data.map(({ id, condition, joinPolicy }) => [id, condition ?? joinPolicy]))
  }
  const conditions = new Map([...model.criteria].map(([id, { condition }]) => [id, condition as unknown]))
  const policies = new Map<string, unknown>()
  for (const [id, { policy }] of model.joinable) {
    policies.set(id, { ...(await policyBody(organisation, policy)), joinableBy: { collectionIds: [] } })
  }
  return [
    ...differences('Condition of', conditions, await read(CRITERIA_PATH)),
    ...differences('Join policy of', policies, await read(JOINABLE_PATH)),
  ]
}

async function compareRequests(
  organisation: Organisation,
  collectionId: string,
  expected: readonly ModelRequest[],
  { ninOf }: CoreNames,
): Promise<string[]> {
  const { api, callers, model, coreIds } = organisation
  const policy = model.joinable.get(collectionId)?.policy as JoinableModel['policy']
  const ninOfFormer = new Map([...coreIds].map(([nin, id]) => [id, nin]))
  const isRequester = ({ requesterId }: RequestRecord, { nin, formerNin }: ModelRequest) => {
    const found = ninOf.get(requesterId) ?? ninOfFormer.get(requesterId)
    return found === nin || (formerNin !== undefined && found === formerNin)
  }
  const left = new Map(
    (await api.list<RequestRecord>(callers.writer, `${REQUESTS_PATH}/${collectionId}`)).map((each) => [each.id, each]),
  )
  const faults = repeatedMemberships(collectionId, [...left.values()])
  // Requests with known ids first. The others are found by their requester and status.
  const inOrder = expected.toSorted((one, other) => Number(one.id === undefined) - Number(other.id === undefined))
  for (const request of inOrder) {
    const found =
      request.id === undefined
        ? [...left.values()].find(
            (each) =>
              isRequester(each, request) &&
              (each.status === request.status || request.alternatives.includes(each.status)) &&
              decisionNotes(each).length === 0,
          )
        : left.get(request.id)
    if (found === undefined) {
      faults.push(`Collection ${collectionId} lacks a request: ${JSON.stringify(request)}`)
      continue
    }
    left.delete(found.id)
    settle(request, found.status)
    const gate = request.status === 'PendingApproval' ? gateOf(policy, request)?.order : undefined
    const isLive = request.status === 'PendingApproval' || request.status === 'Joined'
    const isRight =
      (isLive ? ninOf.get(found.requesterId) === request.nin : isRequester(found, request)) &&
      found.relationshipId === null &&
      found.status === request.status &&
      found.currentGate?.order === gate &&
      isDeepStrictEqual(decisionNotes(found), request.decisionNotes)
    if (!isRight) {
      faults.push(
        `A request of collection ${collectionId}: expected ${JSON.stringify(request)} at gate ${gate}, found ${JSON.stringify(found)}`,
      )
    }
  }
  return [...faults, ...[...left.values()].map((each) => `A request that was not made: ${JSON.stringify(each)}`)]
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
