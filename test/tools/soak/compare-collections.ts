import { compareLists } from './compare-lists.ts'
import type { CoreNames } from './compare-people.ts'
import { compareRequests } from './compare-requests.ts'
import { CRITERIA_PATH, differences, JOINABLE_PATH, type Organisation } from './organisation.ts'
import { policyBody } from './policy-actions.ts'

type CollectionRecord = { readonly id: string; readonly condition?: unknown; readonly joinPolicy?: unknown }

/** Compares the collections, their members and the membership requests with the model. */
export async function compareCollections(organisation: Organisation, names: CoreNames): Promise<string[]> {
  const { model } = organisation
  const faults = await compareRequests(organisation, names)
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
  return [...faults, ...(await compareLists(organisation)), ...(await compareDefinitions(organisation))]
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
    policies.set(id, await policyBody(organisation, policy))
  }
  return [
    ...differences('Condition of', conditions, await read(CRITERIA_PATH)),
    ...differences('Join policy of', policies, await read(JOINABLE_PATH)),
  ]
}
