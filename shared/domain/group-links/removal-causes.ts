import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { type AccountDependencies, accountsLost } from '../evaluation/member-accounts.ts'
import { ALL_TIME, type MemberChangeCause, type MemberEvent } from '../history/member-history.ts'
import type { RemovalCauses } from './collection-accounts.ts'

/** Causes that are the act of a person or an application, who may be kept from approving what follows from it. */
const ACTS: ReadonlySet<MemberChangeCause> = new Set(['DefinitionChanged', 'ReferencedCollection', 'Direct'])

/** Removals that are examined, those counted once that were made together. The causes of older ones stay unknown. */
const MAX_REMOVALS_COUNT = 50

export type CauseDependencies = Pick<CollectionDependencies, 'collections' | 'history' | 'snapshots'> &
  AccountDependencies

/** The causes of removals, in the history of a collection's members. */
export async function removalCausesOf(
  { tenantId, collectionId }: { readonly tenantId: string; readonly collectionId: string },
  accounts: readonly string[],
  deps: CauseDependencies,
): Promise<RemovalCauses> {
  const found = await deps.collections.find(tenantId, collectionId)
  if (found === undefined) return { newest: null, actorIds: [] }
  const collection = found.value
  const rows = await deps.snapshots.fresh(tenantId)
  const unexplained = new Set(accounts)
  const actorIds = new Set<string>()
  let newest: RemovalCauses['newest'] = null
  let removalCount = 0
  for await (const page of deps.history[collection.kind].newestFirst(tenantId, collectionId, ALL_TIME)) {
    for (const events of removalsOf(page)) {
      if (unexplained.size === 0 || removalCount === MAX_REMOVALS_COUNT) break
      removalCount += 1
      const [{ cause: kind, actorId, atMs }] = events
      const removed = events.map(({ objectId }) => objectId)
      // When the accounts of former members cannot be determined, they can be any.
      const lost = (await accountsLost(removed, { collection, rows }, deps)) ?? unexplained
      const explained = unexplained.intersection(lost)
      if (explained.size === 0) continue
      newest ??= { kind, actorId, atMs }
      if (ACTS.has(kind)) actorIds.add(actorId)
      if (lost !== unexplained) for (const account of explained) unexplained.delete(account)
    }
    if (unexplained.size === 0 || removalCount === MAX_REMOVALS_COUNT) break
  }
  return { newest, actorIds: [...actorIds] }
}

type Events = [MemberEvent, ...MemberEvent[]]

/** The removals among events, those together that were made at once and for one cause. */
function removalsOf(events: readonly MemberEvent[]): Events[] {
  const removals = events.filter(({ change }) => change === 'Removed')
  const groups = Map.groupBy(removals, ({ membershipVersion, cause, actorId }) =>
    JSON.stringify([membershipVersion, cause, actorId]),
  )
  return [...groups.values()].filter((events): events is Events => events.length > 0)
}
