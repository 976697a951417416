import { type Static, Type } from 'typebox'
import type { CooperativeScheduler, Task } from '../../kernel/cooperative-scheduler.ts'
import { Closed, Described } from '../../kernel/schema.ts'
import { type Connector, type ConnectorStore, type ConnectorUpdate, requireConnector } from './connector.ts'
import type { ConnectorObjectStore, JoiningIdentity } from './connector-object-store.ts'
import { type ConnectorRules, rulesOf } from './connector-rules.ts'
import { groupByPerson } from './group-by-person.ts'
import { joinKeysInOrder } from './join-keys.ts'

const Count = Type.Integer({ minimum: 0 })

/** What new settings of a connector would do to identities. */
export const ConnectorPlan = Closed({
  merged: Described(Count, 'Identities that would become part of another one.'),
  split: Described(Count, 'Identities that would become several.'),
  losingAccount: Described(Count, 'Identities that would no longer have their account, or another one.'),
  gainingAccount: Described(Count, 'Identities that would have an account, or another one.'),
  added: Described(Count, 'Identities that would exist again.'),
  removed: Described(Count, 'Identities that would no longer exist, merged ones excepted.'),
})
export type ConnectorPlan = Static<typeof ConnectorPlan>

type PlanDependencies = {
  readonly connectors: ConnectorStore
  readonly objects: Pick<ConnectorObjectStore, 'joiningIdentities'>
  readonly scheduler: CooperativeScheduler
}

/**
 * Returns what a change of settings would do, without doing it. Which of several claimants holds an account is not taken
 * into account.
 * @throws Refusal `ConnectorNotFound`.
 */
export async function planConnector(
  tenantId: string,
  id: string,
  update: ConnectorUpdate,
  { connectors, objects, scheduler }: PlanDependencies,
): Promise<ConnectorPlan> {
  await requireConnector(tenantId, id, connectors)
  const all = await connectors.list(tenantId)
  const changed = all.map(({ keysPendingSinceMs: _pending, ...candidate }): Connector => {
    return candidate.id === id ? { ...candidate, ...update } : candidate
  })
  const [before, after] = [rulesOf(all), rulesOf(changed)]
  const identities: JoiningIdentity[] = []
  for await (const page of objects.joiningIdentities(tenantId, [...before.joinKeys, ...after.joinKeys])) {
    for (const identity of page) identities.push(identity)
  }
  return scheduler.run(planTask(identities, before, after))
}

function* planTask(
  identities: readonly JoiningIdentity[],
  before: ConnectorRules,
  after: ConnectorRules,
): Task<ConnectorPlan> {
  const plan = { merged: 0, split: 0, losingAccount: 0, gainingAccount: 0, added: 0, removed: 0 }
  for (const connected of yield* connectedGroups(identities, [before, after])) {
    yield
    const change = planOf(connected, before, after)
    for (const name of Object.keys(plan) as (keyof ConnectorPlan)[]) plan[name] += change[name]
  }
  return plan
}

/** The identities that share join keys or core objects, directly or not. */
function* connectedGroups(
  identities: readonly JoiningIdentity[],
  rules: readonly ConnectorRules[],
): Task<JoiningIdentity[][]> {
  const groupOf = new Map<string, JoiningIdentity[]>()
  const groups = new Set<JoiningIdentity[]>()
  for (const identity of identities) {
    yield
    const shared = keysOf(identity, rules)
    const joined = new Set(shared.flatMap((key) => [groupOf.get(key) ?? []].filter((group) => group.length > 0)))
    const [largest = [], ...others] = [...joined].sort((left, right) => right.length - left.length)
    for (const group of others) {
      groups.delete(group)
      for (const member of group) {
        largest.push(member)
        for (const key of keysOf(member, rules)) groupOf.set(key, largest)
      }
    }
    largest.push(identity)
    groups.add(largest)
    for (const key of shared) groupOf.set(key, largest)
  }
  return [...groups]
}

const keysOf = (identity: JoiningIdentity, rules: readonly ConnectorRules[]): string[] => [
  `core ${identity.coreObjectId}`,
  ...rules.flatMap((rule) => joinKeysInOrder(identity, rule)),
]

function planOf(connected: readonly JoiningIdentity[], before: ConnectorRules, after: ConnectorRules): ConnectorPlan {
  const now = Map.groupBy(connected, ({ coreObjectId }) => coreObjectId)
  const exists = new Set(
    [...now].flatMap(([id, identities]) => (identities.some((identity) => carries(identity, before)) ? [id] : [])),
  )
  const { people } = groupByPerson(connected, after)
  const carriersOf = people.map((person) => person.filter((identity) => carries(identity, after)))
  const kept = new Map<string, readonly JoiningIdentity[]>()
  let merged = 0
  let added = 0
  const parts = new Map<string, number>()
  for (const carriers of carriersOf) {
    const ids = [...new Set(carriers.map(({ coreObjectId }) => coreObjectId))].filter((id) => exists.has(id))
    for (const id of ids) parts.set(id, (parts.get(id) ?? 0) + 1)
    const free = ids.filter((id) => !kept.has(id))
    const [own, ...others] = free
    if (own !== undefined) kept.set(own, carriers)
    else if (ids.length === 0) added += 1
    merged += others.length
    for (const id of others) kept.set(id, carriers)
  }
  let [losingAccount, gainingAccount, removed] = [0, 0, 0]
  for (const id of exists) {
    const carriers = kept.get(id)
    if (carriers === undefined) removed += 1
    const [from, to] = [accountOf(now.get(id) ?? [], before), accountOf(carriers ?? [], after)]
    if (from !== undefined && from !== to) losingAccount += 1
    if (to !== undefined && from !== to) gainingAccount += 1
  }
  const split = [...parts.values()].filter((count) => count > 1).length
  return { merged, split, losingAccount, gainingAccount, added, removed }
}

const carries = ({ connectorId }: JoiningIdentity, rules: ConnectorRules): boolean => !rules.supplements(connectorId)

/** The account that an identity claims: that of the first connector which binds one. */
function accountOf(identities: readonly JoiningIdentity[], rules: ConnectorRules): string | undefined {
  const binding = identities.filter(({ connectorId }) => rules.bindsAccounts(connectorId))
  const sorted = binding.toSorted(
    (left, right) => rules.rankOf(left.connectorId) - rules.rankOf(right.connectorId) || (left.id < right.id ? -1 : 1),
  )
  const [account] = sorted.flatMap(({ data }) => data.directoryObjectId ?? [])
  return account as string | undefined
}
