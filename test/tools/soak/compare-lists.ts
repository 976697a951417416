import { type Organisation, REQUESTS_PATH } from './organisation.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { approversAt, isEligible } from './policy-model.ts'
import { isOpenOrJoined, waitingGateOf } from './request-model.ts'
import { LEADER_COUNT, ninOf } from './source-items.ts'

/** Ids of requests or collections, by national identity number. */
type IdsOfPeople = ReadonlyMap<string, ReadonlySet<string>>

/** People who are not managers whose lists are compared. */
const OTHER_PEOPLE_COUNT = 5

/**
 * Managers, and some other people, find the requests on which they can decide, those that they submitted on behalf of
 * others and the collections that they may ask to join, and no others.
 */
export async function compareLists({ model, callers, api }: Organisation): Promise<string[]> {
  const { inbox, submitted } = listedRequests(model)
  const eligible = eligibleCollections(model)
  const leaders = Array.from({ length: LEADER_COUNT }, (_, person) => ninOf(person))
  const others = [...inbox.keys(), ...eligible.keys()].filter((nin) => !leaders.includes(nin))
  const requests = [...model.joinable.values()].flatMap((collection) => collection.requests)
  const unknown = new Set(requests.flatMap(({ id, extension }) => (extension === 'unknown' ? (id ?? []) : [])))
  const faults: string[] = []
  for (const nin of [...leaders, ...[...new Set(others)].slice(0, OTHER_PEOPLE_COUNT)]) {
    const account = model.people.identities().get(nin)?.account
    if (account === undefined) continue
    const token = await callers.person(account)
    const compare = (what: string, found: readonly { readonly id: string }[], expected: IdsOfPeople) => {
      const ids = new Set(found.map(({ id }) => id))
      const differing = ids.symmetricDifference(expected.get(nin) ?? new Set()).difference(unknown)
      if (differing.size > 0) faults.push(`${what} of ${nin} differs in ${[...differing]}`)
    }
    const read = async (name: string) =>
      (await api.call<{ id: string }[]>({ token, method: 'GET', path: `${REQUESTS_PATH}/${name}` })).data
    compare('The inbox', await api.list(token, `${REQUESTS_PATH}/inbox`), inbox)
    compare('The list of requests on behalf of others', await read('submitted-on-behalf'), submitted)
    compare('The list of collections to join', await read('eligible'), eligible)
  }
  return faults
}

function listedRequests(model: OrganisationModel): { readonly inbox: IdsOfPeople; readonly submitted: IdsOfPeople } {
  const members = model.members()
  const [inbox, submitted] = [new Map<string, Set<string>>(), new Map<string, Set<string>>()]
  const add = (lists: Map<string, Set<string>>, nin: string, id: string) =>
    void lists.set(nin, (lists.get(nin) ?? new Set()).add(id))
  for (const { policy, requests } of model.joinable.values()) {
    for (const request of requests) {
      if (request.id === undefined) continue
      if (request.submitterNin !== undefined) add(submitted, request.submitterNin, request.id)
      const gate = waitingGateOf(policy, request)
      const approvers = gate === undefined ? [] : approversAt(model, gate, request, members)
      for (const nin of approvers) {
        if (nin === request.nin) continue
        add(inbox, nin, request.id)
        const deputy = model.people.identities().has(nin) ? model.deputies.get(nin) : undefined
        if (deputy !== undefined && deputy !== request.nin) add(inbox, deputy, request.id)
      }
    }
  }
  return { inbox, submitted }
}

/** Without those where the person is a member or waits. */
function eligibleCollections(model: OrganisationModel): IdsOfPeople {
  const members = model.members()
  const live = new Map(
    [...model.joinable].map(([id, { requests }]) => [
      id,
      new Set(requests.filter(isOpenOrJoined).map(({ nin }) => nin)),
    ]),
  )
  const mayAsk = (nin: string) =>
    [...model.joinable].filter(
      ([id, { policy }]) => live.get(id)?.has(nin) !== true && isEligible(model, policy, nin, members),
    )
  return new Map(
    [...model.people.identities().keys()].map((nin) => [
      nin,
      new Set(mayAsk(nin).map(([collectionId]) => collectionId)),
    ]),
  )
}
