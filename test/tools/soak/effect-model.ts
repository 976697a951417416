import { referencesOf, type SoakCondition } from './condition-model.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { isEligible } from './policy-model.ts'

type Difference = { readonly added: readonly string[]; readonly removed: readonly string[] }

/** `isPaused`: a member without an account pauses the removals. */
type LinkDifference = Difference & { readonly isPaused: boolean }

/** What a changed condition does. Without what stays as it is. */
export type ModelEffect = {
  /** Members by collection. */
  readonly collections: ReadonlyMap<string, Difference>
  /** Accounts by link. */
  readonly links: ReadonlyMap<string, LinkDifference>
  /** People by joinable collection. */
  readonly becomeEligible: ReadonlyMap<string, readonly string[]>
  /** Ids of waiting requests. */
  readonly loseEligibility: readonly (string | undefined)[]
}

/** The effect that a condition of a criteria collection would have now. */
export function effectOf(model: OrganisationModel, id: string, condition: SoakCondition): ModelEffect {
  const collection = model.criteria.get(id)
  if (collection === undefined) throw new Error(`There is no collection ${id}`)
  const before = stateOf(model)
  const former = collection.condition
  collection.condition = condition
  const after = stateOf(model)
  collection.condition = former
  const eligible = differencesOf(before.eligible, after.eligible)
  return {
    collections: differencesOf(before.members, after.members),
    links: new Map(
      [...differencesOf(before.accounts, after.accounts)].map(([linkId, difference]) => [
        linkId,
        { ...difference, isPaused: after.paused.has(linkId) },
      ]),
    ),
    becomeEligible: new Map(
      [...eligible].flatMap(([joinableId, { added }]) => (added.length === 0 ? [] : [[joinableId, added]])),
    ),
    loseEligibility: [...eligible].flatMap(([joinableId, { removed }]) => waitingOf(model, joinableId, removed)),
  }
}

/** Whether the effect depends on joinable collections, or on who may join them. */
export function involvesJoinables(model: OrganisationModel, id: string, condition: SoakCondition): boolean {
  const affected = new Set([id])
  // A condition refers to earlier collections.
  for (const [other, { condition: named }] of model.criteria) {
    if (referencesOf(named).some((reference) => affected.has(reference))) affected.add(other)
  }
  const behind = new Set([...affected, ...referencesOf(condition)])
  for (const each of behind) {
    const referring = model.criteria.get(each)?.condition
    for (const named of referring === undefined ? [] : referencesOf(referring)) behind.add(named)
  }
  if ([...model.joinable.keys()].some((key) => behind.has(key))) return true
  return [...model.joinable.values()].some(({ policy }) => policy.joinableBy.some((each) => affected.has(each)))
}

type Sets = ReadonlyMap<string, ReadonlySet<string>>

function stateOf(model: OrganisationModel) {
  const members = model.members()
  const { membersOf, accountOf } = model.membersWithAccounts()
  const accounts = new Map<string, ReadonlySet<string>>()
  const paused = new Set<string>()
  for (const [linkId, { collectionId, isEnabled }] of model.links) {
    const ofMembers = (membersOf.get(collectionId) ?? []).map((member) => accountOf.get(member))
    if (isEnabled) accounts.set(linkId, new Set(ofMembers.filter((account) => account !== undefined)))
    if (ofMembers.includes(undefined)) paused.add(linkId)
  }
  const eligible = new Map<string, ReadonlySet<string>>()
  const people = [...model.people.identities().keys()]
  for (const [id, { policy }] of model.joinable) {
    if (policy.joinableBy.length === 0) continue
    eligible.set(id, new Set(people.filter((nin) => isEligible(model, policy, nin, members))))
  }
  return { members, accounts, paused, eligible }
}

/** Ids of the waiting requests of some people. */
function waitingOf({ joinable }: OrganisationModel, id: string, people: readonly string[]) {
  const waiting = joinable.get(id)?.requests.filter(({ status }) => status === 'PendingApproval') ?? []
  return waiting.filter(({ nin }) => people.includes(nin)).map((request) => request.id)
}

function differencesOf(before: Sets, after: Sets): Map<string, Difference> {
  const found = new Map<string, Difference>()
  for (const [id, present] of after) {
    const former = before.get(id) ?? new Set()
    const [added, removed] = [present.difference(former), former.difference(present)]
    if (added.size + removed.size > 0) found.set(id, { added: [...added].sort(), removed: [...removed].sort() })
  }
  return found
}
