import type { ConnectorObject } from './connector-object.ts'
import { joinKeys, type RankOf, samePeople } from './joining.ts'

/** An identity that has been written, perhaps without a core object yet. */
export type WrittenIdentity = Omit<ConnectorObject, 'coreObjectId'>

/** Where an identity belongs now, and those that have to come to another core object with it. */
export type Placement = { readonly coreObjectId: string; readonly movers: readonly ConnectorObject[] }

type Identity = WrittenIdentity & { readonly coreObjectId?: string }

type PeopleDependencies = {
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
  readonly #deps: PeopleDependencies

  constructor(identities: Iterable<ConnectorObject>, deps: PeopleDependencies) {
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
    const identityResolver = samePeople(identities, this.#deps.rankOf)
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
