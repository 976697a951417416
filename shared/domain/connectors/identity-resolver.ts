import type { Versioned } from '../../kernel/versioned.ts'
import {
  type ConnectorObject,
  type ConnectorObjectStore,
  type DeriveId,
  type ObjectData,
  ownCoreObjectId,
} from './connector-object.ts'
import type { ObjectWrite } from './object-input.ts'

/** An identity that has been written, perhaps without a core object yet. */
export type WrittenIdentity = Omit<ConnectorObject, 'coreObjectId'>

/** Where an identity belongs now, and those that have to come to another core object with it. */
export type Placement = { readonly coreObjectId: string; readonly movers: readonly ConnectorObject[] }

type Identity = WrittenIdentity & { readonly coreObjectId?: string }

type IdentityResolverDependencies = {
  readonly rankOf: RankOf
  /** The core object that an identity makes when it joins none. */
  ownCoreObjectId(connectorObjectId: string): string
  newId(): string
}

/**
 * The identities around those that are written, as the decisions so far leave them. Of whoever is in here, everyone has
 * to be who shares a key or a core object with them.
 */
export class IdentityResolver {
  readonly #identities = new Map<string, Identity>()
  /** Ids by what live identities share: a key, or a core object. */
  readonly #sharing = new Map<string, Set<string>>()
  /** Ids by core object, of soft-deleted identities too: what they once were part of is not given to others. */
  readonly #claims = new Map<string, Set<string>>()
  readonly #deps: IdentityResolverDependencies

  constructor(identities: Iterable<ConnectorObject>, deps: IdentityResolverDependencies) {
    this.#deps = deps
    for (const identity of identities) this.#put(identity)
  }

  /** Takes an identity as it is from now on, and finds its person. */
  place(written: WrittenIdentity): Placement {
    const before = this.#identities.get(written.id)
    const around = before === undefined ? [] : this.#connectedTo(before)
    this.#put(before?.coreObjectId === undefined ? written : { ...written, coreObjectId: before.coreObjectId })
    const changed = this.#settle(written.id, around, before !== undefined && isLive(before) ? undefined : written.id)
    const { coreObjectId } = this.#identities.get(written.id) as ConnectorObject
    return { coreObjectId, movers: changed.filter(({ id }) => id !== written.id) }
  }

  /** @returns Those that belong to another core object once it is gone. */
  remove(deleted: ConnectorObject): readonly ConnectorObject[] {
    const around = this.#connectedTo(deleted)
    this.#put(deleted)
    return this.#settle(undefined, around, undefined)
  }

  /** Gives every person around a core object. @param returning one that was not live, and yields to those who were */
  #settle(id: string | undefined, around: readonly string[], returning: string | undefined): ConnectorObject[] {
    const ids = new Set<string>()
    for (const start of [id ?? [], around].flat()) {
      const identity = this.#identities.get(start)
      if (identity === undefined || ids.has(start)) continue
      ids.add(start)
      for (const connected of this.#connectedTo(identity)) ids.add(connected)
    }
    const identities = [...ids].flatMap((each) => this.#identities.get(each) ?? []).filter(isLive)
    const identityResolver = groupByPerson(identities, this.#deps.rankOf)
    const taken = new Set<string>()
    const changed: ConnectorObject[] = []
    const given = identityResolver.map((person) => {
      const kept = person.find(
        (each) =>
          each.coreObjectId !== undefined &&
          !taken.has(each.coreObjectId) &&
          (each.id !== returning || !this.#isHeldByOthers(each.coreObjectId, person)),
      )?.coreObjectId
      if (kept !== undefined) taken.add(kept)
      return { person, kept }
    })
    for (const { person, kept } of given) {
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
    return [...(this.#sharing.get(`core ${coreObjectId}`) ?? [])].some((id) => !own.has(id))
  }

  /** The core object derived from the identity's own id; another where that one has become someone else's. */
  #newCoreObject({ id }: Identity): string {
    const own = this.#deps.ownCoreObjectId(id)
    return [...(this.#claims.get(own) ?? [])].every((claimant) => claimant === id) ? own : this.#deps.newId()
  }

  /** Ids of all live identities that lead to each other by what they share. */
  #connectedTo(start: Identity): string[] {
    const seen = new Set<string>()
    const next = sharedBy(start)
    const seenKeys = new Set(next)
    for (let key = next.pop(); key !== undefined; key = next.pop()) {
      for (const id of this.#sharing.get(key) ?? []) {
        if (seen.has(id)) continue
        seen.add(id)
        for (const other of sharedBy(this.#identities.get(id) as Identity)) {
          if (seenKeys.has(other)) continue
          seenKeys.add(other)
          next.push(other)
        }
      }
    }
    return [...seen]
  }

  #put(identity: Identity): void {
    const { id } = identity
    const before = this.#identities.get(id)
    for (const key of before === undefined ? [] : sharedBy(before)) this.#sharing.get(key)?.delete(id)
    if (before?.coreObjectId !== undefined) this.#claims.get(before.coreObjectId)?.delete(id)
    this.#identities.set(id, identity)
    if (isLive(identity)) for (const key of sharedBy(identity)) add(this.#sharing, key, id)
    if (identity.coreObjectId !== undefined) add(this.#claims, identity.coreObjectId, id)
  }
}

const isLive = ({ deletedAtMs }: Identity): boolean => deletedAtMs === undefined

function sharedBy({ data, coreObjectId }: Identity): string[] {
  const { nin, directoryObjectId } = joinKeys(data)
  const shared = { nin, account: directoryObjectId, core: coreObjectId }
  return Object.entries(shared).flatMap(([kind, value]) => (value === undefined ? [] : [`${kind} ${value}`]))
}

function add(sets: Map<string, Set<string>>, key: string, id: string): void {
  const ids = sets.get(key)
  if (ids === undefined) sets.set(key, new Set([id]))
  else ids.add(id)
}

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
export function groupByPerson<T extends Joinable>(identities: readonly T[], rankOf: RankOf): T[][] {
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

type Found = Versioned<ConnectorObject>

/** All that share a key or a core object with the written identities, and with those, until there are no more. */
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
  let keys = written.flatMap(({ write }) => (write.operation === 'delete' ? [] : [joinKeys(write.data)]))
  let coreObjectIds = written.map(({ id }) => ownCoreObjectId(id, deriveId))
  let latest = stored.filter(({ value }) => value.objectType === 'identity')
  for (;;) {
    keys = [...keys, ...latest.map(({ value }) => joinKeys(value.data))]
    coreObjectIds = latest
      .flatMap(({ value: { id, coreObjectId } }) => [ownCoreObjectId(id, deriveId), coreObjectId])
      .concat(coreObjectIds)
    const nins = unseen(
      'nin',
      keys.map(({ nin }) => nin),
    )
    const accounts = unseen(
      'account',
      keys.map(({ directoryObjectId }) => directoryObjectId),
    )
    const [sharingKeys, mates] = await Promise.all([
      objects.identitiesByKeys(tenantId, nins, accounts),
      objects.ofCoreObjects(tenantId, unseen('core', coreObjectIds)),
    ])
    latest = [...sharingKeys, ...mates].filter(({ value }) => !known.has(value.id))
    if (latest.length === 0) return [...known.values()]
    for (const each of latest) known.set(each.value.id, each)
    keys = []
    coreObjectIds = []
  }
}
