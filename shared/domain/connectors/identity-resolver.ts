import type { Versioned } from '../../kernel/versioned.ts'
import {
  type ConnectorObject,
  type ConnectorObjectStore,
  type DeriveId,
  type ObjectData,
  ownCoreObjectId,
} from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { exceedsCoreObject } from './merged-core-object.ts'
import type { ObjectWrite } from './object-input.ts'

/** An identity being written, possibly without a core object yet. */
export type WrittenIdentity = Omit<ConnectorObject, 'coreObjectId'>

/** The core object of an identity, and the other identities that move to another core object because of it. */
export type Placement = {
  readonly coreObjectId: string
  readonly movers: readonly ConnectorObject[]
  /** Whether the identities of the person together are too large for one core object. */
  readonly isTooLarge: boolean
  /** Leaves all identities as they were before. */
  undo(): void
}

type Identity = WrittenIdentity & { readonly coreObjectId?: string }

type IdentityResolverDependencies = {
  readonly rules: ConnectorRules
  /** Returns the core object of an identity that joins no other. */
  ownCoreObjectId(connectorObjectId: string): string
  newId(): string
}

/**
 * Assigns identities to core objects: identities of the same person share one. It holds the written identities as the
 * decisions so far leave them, and must also hold every identity that shares a join key or a core object with one of
 * them.
 */
export class IdentityResolver {
  readonly #identities = new Map<string, Identity>()
  /**
   * Ids of live identities by what they share, a join key or a core object, and ids of all identities by the core
   * object that they claim: those of soft-deleted ones are not assigned to others.
   */
  readonly #index = new Map<string, Set<string>>()
  readonly #deps: IdentityResolverDependencies
  /** What the last placement has replaced, in order; undefined for a new identity. */
  readonly #replaced: [id: string, before: Identity | undefined][] = []

  constructor(identities: Iterable<ConnectorObject>, deps: IdentityResolverDependencies) {
    this.#deps = deps
    for (const identity of identities) this.#put(identity)
  }

  /** Adds or replaces an identity and assigns its core object. */
  place(written: WrittenIdentity): Placement {
    const before = this.#identities.get(written.id)
    this.#replaced.length = 0
    const connected = before === undefined ? [] : this.#connectedTo([before])
    this.#put(before?.coreObjectId === undefined ? written : { ...written, coreObjectId: before.coreObjectId })
    const changed = this.#assign(
      [written.id, ...connected],
      before !== undefined && isLive(before) ? undefined : written.id,
    )
    const { coreObjectId } = this.#identities.get(written.id) as ConnectorObject
    const person = this.#identitiesWith(this.#withKey(`core ${coreObjectId}`))
    const replaced = [...this.#replaced]
    const undo = () => {
      for (const [id, former] of replaced.toReversed()) this.#put(former ?? id)
    }
    const movers = changed.filter(({ id }) => id !== written.id)
    return { coreObjectId, movers, isTooLarge: isTooLarge(person, this.#deps.rules), undo }
  }

  /** Marks an identity as deleted. @returns The identities that move to another core object because of it. */
  remove(deleted: ConnectorObject): readonly ConnectorObject[] {
    const connected = this.#connectedTo([deleted])
    this.#put(deleted)
    return this.#assign(connected, undefined)
  }

  /**
   * Assigns a core object to every person among these identities and those connected to them.
   * @param returning An identity that was not live before. Live identities keep a core object that it claims as well.
   */
  #assign(ids: readonly string[], returning: string | undefined): ConnectorObject[] {
    const starts = this.#identitiesWith(ids)
    const identities = [...new Set([...starts, ...this.#identitiesWith(this.#connectedTo(starts))])].filter(isLive)
    const people = groupByPerson(identities, this.#deps.rules)
    const taken = new Set<string | undefined>()
    const changed: ConnectorObject[] = []
    const assignments = people.map((person) => {
      const kept = person.find(
        (each) =>
          each.coreObjectId !== undefined &&
          !taken.has(each.coreObjectId) &&
          (each.id !== returning || !this.#isHeldByOthers(each.coreObjectId, person)),
      )?.coreObjectId
      taken.add(kept)
      return { person, kept }
    })
    for (const { person, kept } of assignments) {
      const coreObjectId = kept ?? this.#newCoreObject(person[0] as Identity)
      for (const identity of person) {
        if (identity.coreObjectId === coreObjectId) continue
        const moved = { ...identity, coreObjectId }
        this.#put(moved)
        changed.push(moved)
      }
    }
    return changed
  }

  #isHeldByOthers(coreObjectId: string, person: readonly Identity[]): boolean {
    const own = new Set(person.map(({ id }) => id))
    return [...this.#withKey(`core ${coreObjectId}`)].some((id) => !own.has(id))
  }

  /** Returns the core object derived from the identity's id, or a new one when another identity claims that. */
  #newCoreObject({ id }: Identity): string {
    const own = this.#deps.ownCoreObjectId(id)
    return this.#withKey(claimOf(own)).size === 0 ? own : this.#deps.newId()
  }

  /** Returns the ids of all live identities connected to the starts by shared keys or core objects, directly or not. */
  #connectedTo(starts: readonly Identity[]): string[] {
    const found = new Set<string>()
    const keys = new Set(starts.flatMap(sharedBy))
    // Also those that are added meanwhile.
    for (const key of keys) {
      for (const identity of this.#identitiesWith(this.#withKey(key))) {
        found.add(identity.id)
        for (const other of sharedBy(identity)) keys.add(other)
      }
    }
    return [...found]
  }

  #identitiesWith(ids: Iterable<string>): Identity[] {
    return [...ids].map((id) => this.#identities.get(id) as Identity)
  }

  #withKey(key: string): Set<string> {
    const known = this.#index.get(key) ?? new Set()
    this.#index.set(key, known)
    return known
  }

  /** @param identity The id alone removes the identity. */
  #put(identity: Identity | string): void {
    const id = typeof identity === 'string' ? identity : identity.id
    const before = this.#identities.get(id)
    this.#replaced.push([id, before])
    for (const key of before === undefined ? [] : indexKeysOf(before)) this.#withKey(key).delete(id)
    this.#identities.delete(id)
    if (typeof identity === 'string') return
    this.#identities.set(id, identity)
    for (const key of indexKeysOf(identity)) this.#withKey(key).add(id)
  }
}

/** Of several identities, each of which has less than half of it. */
function isTooLarge(person: readonly Identity[], rules: ConnectorRules): boolean {
  if (person.length < 2) return false
  const oldestFirst = person.toSorted((one, other) => rules.rankOf(one.connectorId) - rules.rankOf(other.connectorId))
  return exceedsCoreObject(Object.assign({}, ...oldestFirst.toReversed().map(({ data }) => data)))
}

const isLive = ({ deletedAtMs }: Identity): boolean => deletedAtMs === undefined

function sharedBy({ data, coreObjectId }: Identity): string[] {
  const { nin, directoryObjectId } = joinKeys(data)
  const shared = { nin, account: directoryObjectId, core: coreObjectId }
  return Object.entries(shared).flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]))
}

const claimOf = (coreObjectId: string | undefined): string => `claim ${coreObjectId}`

function indexKeysOf(identity: Identity): string[] {
  return [...(isLive(identity) ? sharedBy(identity) : []), claimOf(identity.coreObjectId)]
}

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

type Found = Versioned<ConnectorObject>

/** Reads all identities connected to the written ones by shared join keys or core objects, directly or not. */
export async function connectedIdentities(
  tenantId: string,
  ids: readonly string[],
  writes: readonly ObjectWrite[],
  stored: readonly Found[],
  { objects, deriveId }: { readonly objects: ConnectorObjectStore; readonly deriveId: DeriveId },
): Promise<Found[]> {
  const known = new Map<string, Found>()
  const seen = new Set<string>()
  const unseen = (kind: string, values: readonly (string | undefined)[]) =>
    values.flatMap((value) => {
      if (value === undefined || seen.has(`${kind} ${value}`)) return []
      seen.add(`${kind} ${value}`)
      return [value]
    })
  const written = writes.flatMap((write, index) =>
    write.objectType === 'identity' ? [{ id: ids[index] ?? '', write }] : [],
  )
  const identities = stored.filter(({ value }) => value.objectType === 'identity')
  const keysOf = (some: readonly Found[]) => some.map(({ value }) => joinKeys(value.data))
  const coreObjectsOf = (some: readonly Found[]) =>
    some.flatMap(({ value: { id, coreObjectId } }) => [ownCoreObjectId(id, deriveId), coreObjectId])
  let keys = written.flatMap(({ write }) => (write.operation === 'delete' ? [] : [joinKeys(write.data)]))
  keys.push(...keysOf(identities))
  let coreObjectIds = written.map(({ id }) => ownCoreObjectId(id, deriveId))
  coreObjectIds.push(...coreObjectsOf(identities))
  for (;;) {
    const nins = unseen(
      'nin',
      keys.map(({ nin }) => nin),
    )
    const accounts = unseen(
      'account',
      keys.map(({ directoryObjectId }) => directoryObjectId),
    )
    const cores = unseen('core', coreObjectIds)
    if ([...nins, ...accounts, ...cores].length === 0) return [...known.values()]
    const [byKeys, byCoreObject] = await Promise.all([
      objects.identitiesByKeys(tenantId, nins, accounts),
      objects.ofCoreObjects(tenantId, cores),
    ])
    const found = [...byKeys, ...byCoreObject]
    for (const each of found) known.set(each.value.id, each)
    keys = keysOf(found)
    coreObjectIds = coreObjectsOf(found)
  }
}
