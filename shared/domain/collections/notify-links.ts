import { ACCOUNT_CHANGE_WINDOW_MS } from '../core/core-object-store.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { RowChanges } from '../tenant-index/tenant-snapshots.ts'
import {
  accountsChangedAsStored,
  accountsChangedAtMs,
  accountsChangedByRows,
  joinableAccountsChanged,
  type MembersOverTime,
  mayChangeAccounts,
} from './changed-accounts.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

/** A criteria collection after an evaluation. */
type EvaluatedCollection = MembersOverTime & {
  /** Whether this evaluation has changed its members. */
  readonly isChanged: boolean
  /** Undefined where nothing is known of it. */
  readonly membershipVersion: number | undefined
}

/** What an evaluation found that links may have to hear of. */
export type Evaluated = {
  /** All criteria collections: whatever else is linked is a joinable one. */
  readonly criteria: readonly EvaluatedCollection[]
  readonly rows: RowSnapshot
  readonly changes: RowChanges
}

type NotifyLinksDependencies = Pick<
  CollectionDependencies,
  'links' | 'joined' | 'accountChanges' | 'messageQueue' | 'newId' | 'nowMs'
>

/**
 * Rings for links whose collections have changed, or have members with other accounts. An evaluator that sees a
 * collection for the first time has seen no change of it: it goes by what is stored, and so makes up for bells that one
 * before it could not ring.
 */
export async function notifyLinks(
  tenantId: string,
  evaluated: Evaluated,
  deps: NotifyLinksDependencies,
): Promise<void> {
  const { criteria, changes } = evaluated
  const isQuiet = criteria.every((one) => !one.isChanged && !isNew(one, changes))
  if (isQuiet && changes !== 'everything' && !mayChangeAccounts(changes)) return
  const linked = await deps.links.linkedCollections(tenantId)
  if (linked.size === 0) return
  const due = new Set(criteria.filter(({ isChanged }) => isChanged).map(({ collection }) => collection.id))
  for (const id of await withMovedAccounts(tenantId, linked, evaluated, deps)) due.add(id)
  for (const id of await leftBehind(tenantId, linked, evaluated, deps)) due.add(id)
  for (const collectionId of linked.intersection(due)) {
    const message = { tenantId, collectionId }
    await deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `change:${deps.newId()}` })
  }
}

function isNew({ before }: MembersOverTime, changes: RowChanges): boolean {
  return changes === 'everything' || before === undefined
}

/** Collections with a link that does not know yet that members have other accounts. */
async function withMovedAccounts(
  tenantId: string,
  linked: ReadonlySet<string>,
  { criteria, rows, changes }: Evaluated,
  { links, joined, accountChanges, nowMs }: NotifyLinksDependencies,
): Promise<ReadonlySet<string>> {
  const fed = criteria.filter(({ collection }) => linked.has(collection.id))
  const asksStore = changes === 'everything' || fed.some((one) => isNew(one, changes))
  const seen = accountsChangedByRows(changes, nowMs())
  const stored = asksStore
    ? accountsChangedAsStored(await accountChanges.since(tenantId, nowMs() - ACCOUNT_CHANGE_WINDOW_MS), rows)
    : seen
  const ofJoinables = changes === 'everything' ? stored : seen
  const moved = await joinableAccountsChanged(tenantId, joinables(linked, criteria), ofJoinables, joined)
  for (const one of fed) {
    const movedAtMs = accountsChangedAtMs(one, isNew(one, changes) ? stored : seen)
    if (movedAtMs !== undefined) moved.set(one.collection.id, movedAtMs)
  }
  return moved.size === 0 ? new Set() : links.accountsChanged(tenantId, moved)
}

/** Collections that changed without their links hearing of it: whoever changed them came to grief before it rang. */
async function leftBehind(
  tenantId: string,
  linked: ReadonlySet<string>,
  { criteria, changes }: Evaluated,
  { links, joined }: NotifyLinksDependencies,
): Promise<ReadonlySet<string>> {
  const isWhole = changes === 'everything'
  const versions = new Map(isWhole ? await joined.versions(tenantId, joinables(linked, criteria)) : [])
  for (const one of criteria) {
    const { collection, membershipVersion } = one
    if (!isNew(one, changes) || !linked.has(collection.id) || membershipVersion === undefined) continue
    versions.set(collection.id, membershipVersion)
  }
  return versions.size === 0 ? new Set() : links.behind(tenantId, versions)
}

function joinables(linked: ReadonlySet<string>, criteria: readonly MembersOverTime[]): string[] {
  const own = new Set(criteria.map(({ collection }) => collection.id))
  return [...linked].filter((id) => !own.has(id))
}
