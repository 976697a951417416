import { enqueueMembersChanged } from '../../kernel/enqueue-messages.ts'
import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { JoinedMembers } from '../collections/membership-store.ts'
import { schemaName } from '../core/attribute-names.ts'
import { ACCOUNT_CHANGE_DELAY_MS, type AccountChange } from '../core/core-object-store.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import type { KnownChanges, RowChanges } from '../tenant-index/rows/row-changes.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

/** A criteria collection after its evaluation. */
export type EvaluatedCollection = MembersBeforeAndAfter & {
  /** Whether the evaluation has changed its members. */
  readonly isChanged: boolean
  /** Undefined when it was not read. */
  readonly membershipVersion: number | undefined
}

/** The results of a batch of a pass that concern links. */
export type Evaluated = {
  readonly criteria: readonly EvaluatedCollection[]
  /**
   * The last batch is for joinable collections as well: all linked ones beside these criteria collections of the
   * tenant.
   */
  readonly joinablesBeside?: ReadonlySet<string>
  /** Collections that had links when this process last read them. */
  readonly knownLinked: ReadonlySet<string>
  readonly rows: RowSnapshot
  readonly changes: RowChanges
  /** Links have been notified of the account changes that could be read before. */
  readonly followedUntilMs: number
}

export type NotifyLinksDependencies = Pick<
  CollectionDependencies,
  'links' | 'joined' | 'accountChanges' | 'messageQueue' | 'newId' | 'nowMs'
>

/**
 * Enqueues a message for each linked collection whose members changed, or changed accounts. For a collection that this
 * evaluator sees for the first time it relies on stored changes, which also covers messages that another evaluator
 * failed to enqueue. While only members of collections have changed that had links before, the links are not read: a
 * message for a collection without links has no effect.
 * @returns The linked collections; undefined if they were not read.
 */
export async function notifyLinks(
  tenantId: string,
  evaluated: Evaluated,
  deps: NotifyLinksDependencies,
): Promise<ReadonlySet<string> | undefined> {
  const { criteria, changes } = evaluated
  const isQuiet = criteria.every((collection) => !collection.isChanged && !isNew(collection, changes))
  const hasKnownAccounts = changes !== 'everything' && !mayChangeAccounts(changes)
  if (isQuiet && hasKnownAccounts) return undefined
  const due = new Set(criteria.filter(({ isChanged }) => isChanged).map(({ collection }) => collection.id))
  if (
    hasKnownAccounts &&
    !criteria.some((collection) => isNew(collection, changes)) &&
    due.isSubsetOf(evaluated.knownLinked)
  ) {
    await enqueueChanges(tenantId, due, deps)
    return undefined
  }
  const applied = await deps.links.linkedCollections(tenantId)
  const linked = new Set(applied.keys())
  if (linked.size === 0) return linked
  for (const id of await collectionsWithChangedAccounts(tenantId, linked, evaluated, deps)) due.add(id)
  for (const id of await collectionsBehind(tenantId, applied, evaluated, deps)) due.add(id)
  await enqueueChanges(tenantId, linked.intersection(due), deps)
  return linked
}

async function enqueueChanges(
  tenantId: string,
  collectionIds: ReadonlySet<string>,
  { messageQueue, newId }: Pick<NotifyLinksDependencies, 'messageQueue' | 'newId'>,
): Promise<void> {
  for (const collectionId of collectionIds) {
    await enqueueMembersChanged({ tenantId, collectionId }, newId(), { messageQueue })
  }
}

function isNew({ before }: MembersBeforeAndAfter, changes: RowChanges): boolean {
  return changes === 'everything' || before === undefined
}

/** Collections with a link that was not compared since members changed accounts. */
async function collectionsWithChangedAccounts(
  tenantId: string,
  linked: ReadonlySet<string>,
  { criteria, joinablesBeside, rows, changes, followedUntilMs }: Evaluated,
  { links, joined, accountChanges, nowMs }: NotifyLinksDependencies,
): Promise<ReadonlySet<string>> {
  const linkedCriteria = criteria.filter(({ collection }) => linked.has(collection.id))
  const asksStore = changes === 'everything' || linkedCriteria.some((collection) => isNew(collection, changes))
  const seen = accountChangesInRows(changes, nowMs())
  const stored = asksStore
    ? storedAccountChanges(await accountChanges.since(tenantId, followedUntilMs - ACCOUNT_CHANGE_DELAY_MS), rows)
    : seen
  const ofJoinables = changes === 'everything' ? stored : seen
  const changed = await joinableAccountsChanged(tenantId, joinables(linked, joinablesBeside), ofJoinables, joined)
  for (const linked of linkedCriteria) {
    const changedAtMs = accountsChangedAtMs(linked, isNew(linked, changes) ? stored : seen)
    if (changedAtMs !== undefined) changed.set(linked.collection.id, changedAtMs)
  }
  return changed.size === 0 ? new Set() : links.accountsChanged(tenantId, changed)
}

/**
 * Collections whose links have not applied the latest version: an evaluator failed after the change and before its
 * message.
 */
async function collectionsBehind(
  tenantId: string,
  applied: ReadonlyMap<string, number>,
  { criteria, joinablesBeside, changes }: Evaluated,
  { joined }: Pick<NotifyLinksDependencies, 'joined'>,
): Promise<ReadonlySet<string>> {
  const beside = changes === 'everything' ? joinables(new Set(applied.keys()), joinablesBeside) : []
  const versions = new Map(await joined.versions(tenantId, beside))
  for (const entry of criteria) {
    const { collection, membershipVersion } = entry
    if (isNew(entry, changes) && membershipVersion !== undefined) versions.set(collection.id, membershipVersion)
  }
  const late = [...versions].filter(([id, version]) => (applied.get(id) ?? Infinity) < version)
  return new Set(late.map(([id]) => id))
}

function joinables(linked: ReadonlySet<string>, criteriaIds: ReadonlySet<string> | undefined): string[] {
  return criteriaIds === undefined ? [] : [...linked.difference(criteriaIds)]
}

const ACCOUNT = schemaName('identity', 'directoryObjectId')
const HOLDER = schemaName('relationship', 'identity')

/** Identities and relationships whose account may have changed: id to time in milliseconds. */
export type ChangedAccounts = {
  readonly identity: ReadonlyMap<string, number>
  readonly relationship: ReadonlyMap<string, number>
  readonly orgUnit: ReadonlyMap<string, number>
}

const NONE: ChangedAccounts = { identity: new Map(), relationship: new Map(), orgUnit: new Map() }

/** Whether the changes may have changed the account of a member that stays a member. */
export function mayChangeAccounts(changes: RowChanges): changes is KnownChanges {
  return changes !== 'everything' && (changes.attributes.has(ACCOUNT) || changes.attributes.has(HOLDER))
}

/**
 * Account changes according to a snapshot in memory. Its changes do not tell whose account changed, so all objects with
 * other values in their rows count.
 */
export function accountChangesInRows(changes: RowChanges, nowMs: number): ChangedAccounts {
  if (!mayChangeAccounts(changes)) return NONE
  const now = (ids: ReadonlySet<string>) => new Map([...ids].map((id) => [id, nowMs]))
  return { ...NONE, identity: now(changes.rewritten.identity), relationship: now(changes.rewritten.relationship) }
}

/** Account changes as stored, for an evaluator that did not have the former rows in memory. */
export function storedAccountChanges(accountChanges: readonly AccountChange[], rows: RowSnapshot): ChangedAccounts {
  const identity = new Map<string, number>()
  const relationship = new Map<string, number>()
  const take = (changed: Map<string, number>, id: string, atMs: number) =>
    changed.set(id, Math.max(atMs, changed.get(id) ?? 0))
  for (const { id, objectType, changedAtMs } of accountChanges) {
    take(objectType === 'identity' ? identity : relationship, id, changedAtMs)
    if (objectType !== 'identity') continue
    for (const held of rows.heldBy(id)) take(relationship, held, changedAtMs)
  }
  return { ...NONE, identity, relationship }
}

/** A collection and its members, before and after an evaluation; both ascending. */
export type MembersBeforeAndAfter = {
  readonly collection: Collection
  /** Undefined when this evaluator has not evaluated the collection before. */
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

/**
 * The time of the last account change of a member that stayed a member; undefined when there was none. Such a change
 * does not change the membership, so links would not receive it. New members reach links with their current account.
 */
export function accountsChangedAtMs(
  { collection, before, after }: MembersBeforeAndAfter,
  changed: ChangedAccounts,
): number | undefined {
  const ofType = changed[CORE_TYPE[collection.objectType as CriteriaObjectType]]
  const concerned = ofType.size === 0 ? [] : (before ?? after ?? []).filter((id) => ofType.has(id))
  if (concerned.length === 0) return undefined
  const stayed = before === undefined || before === after ? undefined : new Set(after)
  return latest(stayed === undefined ? concerned : concerned.filter((id) => stayed.has(id)), ofType)
}

/** The last account changes of members of joinable collections, which are identities: by collection, where there are any. */
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
      const changedAtMs = latest(
        memberships.map(({ identityId }) => identityId),
        identity,
      )
      return changedAtMs === undefined ? [] : [[id, changedAtMs] as const]
    }),
  )
}

function latest(ids: readonly string[], changed: ReadonlyMap<string, number>): number | undefined {
  let latestMs: number | undefined
  for (const id of ids) {
    const changedAtMs = changed.get(id)
    if (changedAtMs !== undefined && changedAtMs > (latestMs ?? 0)) latestMs = changedAtMs
  }
  return latestMs
}
