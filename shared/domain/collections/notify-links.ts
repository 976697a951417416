import { ACCOUNT_CHANGE_WINDOW_MS, type AccountChange } from '../core/account-changes.ts'
import { schemaName } from '../core/attribute-names.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { GatheredChanges, RowChanges } from '../tenant-index/tenant-snapshots.ts'
import type { Collection, CriteriaObjectType } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import type { JoinedMembers } from './membership-store.ts'

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

const ACCOUNT = schemaName('identity', 'directoryObjectId')
const HOLDER = schemaName('relationship', 'identity')

/** Identities and positions that may stand for other accounts than before, and since when: id to milliseconds. */
export type ChangedAccounts = {
  readonly identity: ReadonlyMap<string, number>
  readonly relationship: ReadonlyMap<string, number>
  readonly orgUnit: ReadonlyMap<string, number>
}

const NONE: ChangedAccounts = { identity: new Map(), relationship: new Map(), orgUnit: new Map() }

/** Whether the changes can have put another account behind someone who was a member before and still is. */
export function mayChangeAccounts(changes: RowChanges): changes is GatheredChanges {
  return changes !== 'everything' && (changes.attributes.has(ACCOUNT) || changes.attributes.has(HOLDER))
}

/** As the changes of a snapshot that was in memory have it. They do not say of whom the account changed. */
export function accountsChangedByRows(changes: RowChanges, nowMs: number): ChangedAccounts {
  if (!mayChangeAccounts(changes)) return NONE
  const now = (ids: ReadonlySet<string>) => new Map([...ids].map((id) => [id, nowMs]))
  return { ...NONE, identity: now(changes.ids.identity), relationship: now(changes.ids.relationship) }
}

/** As stored, which is all there is to go by for who did not see the rows before. */
export function accountsChangedAsStored(moves: readonly AccountChange[], rows: RowSnapshot): ChangedAccounts {
  const identity = new Map<string, number>()
  const relationship = new Map<string, number>()
  const take = (moved: Map<string, number>, id: string, atMs: number) =>
    moved.set(id, Math.max(atMs, moved.get(id) ?? 0))
  for (const { id, objectType, movedAtMs } of moves) {
    take(objectType === 'identity' ? identity : relationship, id, movedAtMs)
    if (objectType !== 'identity') continue
    for (const held of rows.heldBy(id)) take(relationship, held, movedAtMs)
  }
  return { ...NONE, identity, relationship }
}

/** A collection and its members, before and after an evaluation; both ascending. */
export type MembersOverTime = {
  readonly collection: Collection
  /** Undefined where this evaluator did not know them. */
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

/**
 * When a member who stayed last came to another account; undefined when none did. No change of the membership tells
 * that to the links. Those who came just now are told by their coming, with the account that they have.
 */
export function accountsChangedAtMs(
  { collection, before, after }: MembersOverTime,
  moved: ChangedAccounts,
): number | undefined {
  const ofType = moved[CORE_TYPE[collection.objectType as CriteriaObjectType]]
  const concerned = ofType.size === 0 ? [] : (before ?? after ?? []).filter((id) => ofType.has(id))
  if (concerned.length === 0) return undefined
  const stayed = before === undefined || before === after ? undefined : new Set(after)
  return latest(stayed === undefined ? concerned : concerned.filter((id) => stayed.has(id)), ofType)
}

/** The same for joinable collections, whose members are identities: those in which one did, with the time. */
export async function joinableAccountsChanged(
  tenantId: string,
  joinableIds: readonly string[],
  { identity }: ChangedAccounts,
  joined: JoinedMembers,
): Promise<Map<string, number>> {
  if (identity.size === 0 || joinableIds.length === 0) return new Map()
  const all = await joined.of(tenantId, joinableIds)
  return new Map(
    [...all].flatMap(([id, { memberships }]) => {
      const movedAtMs = latest(
        memberships.map(({ identityId }) => identityId),
        identity,
      )
      return movedAtMs === undefined ? [] : [[id, movedAtMs] as const]
    }),
  )
}

function latest(ids: readonly string[], moved: ReadonlyMap<string, number>): number | undefined {
  let latestMs: number | undefined
  for (const id of ids) {
    const movedAtMs = moved.get(id)
    if (movedAtMs !== undefined && movedAtMs > (latestMs ?? 0)) latestMs = movedAtMs
  }
  return latestMs
}
