import type { ConnectorObject, ObjectData } from './connector-object.ts'

/** Where a connector stands in the order of creation: 0 is the oldest. */
export type RankOf = (connectorId: string) => number

export type JoinKeys = { readonly nin: string | undefined; readonly directoryObjectId: string | undefined }

/** What the identities of several connectors are recognised by as one person: decisions, section 4. */
export function joinKeys(data: ObjectData): JoinKeys {
  const { nin, directoryObjectId } = data as { nin?: string; directoryObjectId?: string }
  return { nin, directoryObjectId }
}

type Joinable = Pick<ConnectorObject, 'id' | 'connectorId' | 'data'>

/**
 * Who of these live identities is one person, the oldest connector's object first, the person with the oldest first.
 * Objects of different connectors join on `nin`, else on `directoryObjectId` (decisions, section 4): two different `nin`
 * are two people, whatever their accounts, and whoever has no `nin` goes with the one who has that account; where several
 * people have it, with the oldest connector's. It depends on nothing but the objects: not on which of them came first.
 */
export function samePeople<T extends Joinable>(identities: readonly T[], rankOf: RankOf): T[][] {
  const inOrder = identities.toSorted(byAge(rankOf))
  const identityResolver = new Map(inOrder.map((identity) => [identity, [identity]]))
  const join = (group: readonly T[]): void => {
    if (new Set(group.map(({ connectorId }) => connectorId)).size < 2) return
    const person = [...new Set(group.map((identity) => identityResolver.get(identity) as T[]))].flat()
    for (const identity of person) identityResolver.set(identity, person)
  }
  const byNin = Map.groupBy(inOrder, ({ data }) => joinKeys(data).nin)
  for (const [nin, group] of byNin) if (nin !== undefined) join(group)
  const byAccount = Map.groupBy(inOrder, ({ data }) => joinKeys(data).directoryObjectId)
  for (const [account, holders] of byAccount) {
    if (account === undefined) continue
    const [known = []] = holders.flatMap((holder) => (joinKeys(holder.data).nin === undefined ? [] : [[holder]]))
    join([...known, ...holders.filter(({ data }) => joinKeys(data).nin === undefined)])
  }
  const sorted = [...new Set(identityResolver.values())].map((person) => person.toSorted(byAge(rankOf)))
  return sorted.sort(([one], [other]) => byAge(rankOf)(one as T, other as T))
}

const byAge =
  (rankOf: RankOf) =>
  (one: Joinable, other: Joinable): number =>
    rankOf(one.connectorId) - rankOf(other.connectorId) || (one.id < other.id ? -1 : 1)
