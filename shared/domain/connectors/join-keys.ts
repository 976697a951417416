import type { ConnectorObject, ObjectData } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'

export type JoinKeys = { readonly nin: string | undefined; readonly directoryObjectId: string | undefined }

/** Returns the keys by which identities of several connectors join. */
export function joinKeys(data: ObjectData): JoinKeys {
  const { nin, directoryObjectId } = data as { nin?: string; directoryObjectId?: string }
  return { nin, directoryObjectId }
}

type Joinable = Pick<ConnectorObject, 'id' | 'connectorId' | 'data'>

/**
 * Groups live identities by person. Both the identities of a person and the people are ordered by the age of their
 * connectors, oldest first. Identities of different connectors join on `nin`, else on `directoryObjectId`. Two
 * different `nin` are two people, even with the same account. An identity without `nin` joins the person that has its
 * account; of several such people, the one of the oldest connector. The result depends only on the objects, not on the
 * order in which they were written.
 */
export function groupByPerson<T extends Joinable>(identities: readonly T[], rules: ConnectorRules): T[][] {
  const accountOf = ({ connectorId, data }: T) =>
    rules.bindsAccounts(connectorId) ? joinKeys(data).directoryObjectId : undefined
  const inOrder = identities.toSorted(byAge(rules))
  const personOf = new Map(inOrder.map((identity) => [identity, [identity]]))
  const join = (group: readonly T[]): void => {
    if (new Set(group.map(({ connectorId }) => connectorId)).size < 2) return
    const person = [...new Set(group.map((identity) => personOf.get(identity) as T[]))].flat()
    for (const identity of person) personOf.set(identity, person)
  }
  const byNin = Map.groupBy(inOrder, ({ data }) => joinKeys(data).nin)
  for (const [nin, group] of byNin) if (nin !== undefined) join(group)
  const byAccount = Map.groupBy(inOrder, accountOf)
  for (const [account, holders] of byAccount) {
    if (account === undefined) continue
    const [known = []] = holders.flatMap((holder) => (joinKeys(holder.data).nin === undefined ? [] : [[holder]]))
    join([...known, ...holders.filter(({ data }) => joinKeys(data).nin === undefined)])
  }
  const sorted = [...new Set(personOf.values())].map((person) => person.toSorted(byAge(rules)))
  return sorted.sort(([one], [other]) => byAge(rules)(one as T, other as T))
}

const byAge =
  ({ rankOf }: ConnectorRules) =>
  (one: Joinable, other: Joinable): number =>
    rankOf(one.connectorId) - rankOf(other.connectorId) || (one.id < other.id ? -1 : 1)

type WithKeys = Pick<ConnectorObject, 'connectorId' | 'data'>

/** The join keys that the identity has, in the order in which they decide. */
export function joinKeysInOrder({ data }: WithKeys): string[] {
  const { nin, directoryObjectId } = joinKeys(data)
  const keys = { nin, account: directoryObjectId }
  return Object.entries(keys).flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]))
}

/** The join keys by which an identity of the same connector is the same person: accounts only of those that bind them. */
export function renamingKeysOf({ connectorId, data }: WithKeys, rules: ConnectorRules): string[] {
  const { nin } = joinKeys(data)
  return joinKeysInOrder({
    connectorId,
    data: rules.bindsAccounts(connectorId) ? data : { ...(nin !== undefined && { nin }) },
  })
}

/** Two different `nin` are two people, even with the same account. */
export function areOtherPeople(one: WithKeys, other: WithKeys): boolean {
  const [first, second] = [joinKeys(one.data).nin, joinKeys(other.data).nin]
  return first !== undefined && second !== undefined && first !== second
}
