import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { type AccountDependencies, accountsLost, accountsOf } from '../evaluation/member-accounts.ts'
import { ALL_TIME, type MemberEvent } from '../history/member-history.ts'
import type { RemovalCauses } from './collection-accounts.ts'
import type { GroupLink } from './group-link.ts'
import { ACTS, referencedActors } from './referenced-acts.ts'

/**
 * Removals for which deleted members and changed accounts are queried, those counted once that were made together. Of
 * older ones, only the accounts that their members have now are found.
 */
const MAX_QUERIED_COUNT = 50

export type CauseDependencies = Pick<CollectionDependencies, 'collections' | 'history' | 'snapshots'> &
  AccountDependencies

/**
 * The causes of removals, in the history of a collection's members. It is read until each account is explained: others
 * can have left since in any number of changes. It does not explain accounts that a group had before its link, nor
 * members who have got other accounts.
 */
export async function removalCausesOf(
  { tenantId, collectionId, comparedAtMs }: Pick<GroupLink, 'tenantId' | 'collectionId' | 'comparedAtMs'>,
  accounts: readonly string[],
  deps: CauseDependencies,
): Promise<RemovalCauses> {
  const found = await deps.collections.find(tenantId, collectionId)
  if (found === undefined) return { newest: null, actorIds: [], explainsAll: false, definedBy: null }
  const collection = found.value
  const rows = await deps.snapshots.fresh(tenantId)
  const unexplained = new Set(accounts)
  const actorIds = new Set<string>()
  const referenced: MemberEvent[] = []
  let newest: RemovalCauses['newest'] = null
  let removalCount = 0
  for await (const page of deps.history[collection.kind].newestFirst(tenantId, collectionId, ALL_TIME)) {
    for (const events of removalsOf(page)) {
      if (unexplained.size === 0) break
      removalCount += 1
      const [{ cause: kind, actorId, atMs }] = events
      const removed = events.map(({ objectId }) => objectId)
      const lost =
        removalCount <= MAX_QUERIED_COUNT
          ? await accountsLost(removed, { collection, rows, followedUntilMs: comparedAtMs ?? 0 }, deps)
          : (await accountsOf({ collection, ids: removed, rows }, deps)).accounts
      // When the accounts of former members cannot be determined, they can be any.
      const explained = lost === undefined ? new Set(unexplained) : unexplained.intersection(lost)
      if (explained.size === 0) continue
      newest ??= { kind, actorId, atMs }
      if (ACTS.has(kind)) actorIds.add(actorId)
      if (kind === 'DefinitionChanged') actorIds.add(collection.definedBy)
      if (kind === 'ReferencedCollection') referenced.push(...events)
      if (lost !== undefined) for (const account of explained) unexplained.delete(account)
    }
    if (unexplained.size === 0) break
  }
  const others = await referencedActors({ collection, events: referenced }, rows, deps)
  const { definedBy } = collection
  return { newest, actorIds: [...actorIds.union(others)], explainsAll: unexplained.size === 0, definedBy }
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
