import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { groupByPerson, type People } from './group-by-person.ts'
import { areOtherPeople, joinKeysInOrder, rekeyingKeysOf } from './join-keys.ts'
import { exceedsCoreObject } from './merged-core-object.ts'

/** An identity being written, possibly without a core object yet. */
export type WrittenIdentity = Omit<ConnectorObject, 'coreObjectId'>

/** The core object of an identity, and the other identities that move to another core object because of it. */
export type Placement = {
  readonly coreObjectId: string
  readonly movers: readonly ConnectorObject[]
  /** The written identity's keys that others share without being one person with it; undefined when there are none. */
  readonly conflictKeys: readonly string[] | undefined
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
   * Ids of live identities by what they share, a join key or a core object; ids of soft-deleted ones by the join keys
   * that they had in their connector; and ids of all identities by the core object that they claim: those of
   * soft-deleted ones are not assigned to others, except to the same person under a new external id.
   */
  readonly #index = new Map<string, Set<string>>()
  readonly #deps: IdentityResolverDependencies
  /** What the last placement has replaced, in order; undefined for a new identity. */
  readonly #replaced: [id: string, before: Identity | undefined][] = []

  constructor(identities: Iterable<ConnectorObject>, deps: IdentityResolverDependencies) {
    this.#deps = deps
    for (const identity of identities) this.#put(identity)
  }

  /**
   * Adds or replaces an identity and assigns its core object.
   * @param formerId The id that it had under its former name.
   */
  place(written: WrittenIdentity, formerId?: string): Placement {
    const before = this.#identities.get(formerId ?? written.id)
    this.#replaced.length = 0
    if (formerId !== undefined) this.#put(formerId)
    const connected = before === undefined ? [] : this.#connectedTo([before])
    const { coreObjectId: former, supplements, formerCoreObjectIds } = before ?? {}
    this.#put({
      ...{ ...written, ...(former && { coreObjectId: former }) },
      ...{ ...(supplements && { supplements }), ...(formerCoreObjectIds && { formerCoreObjectIds }) },
    })
    const changed = this.#assign(
      [written.id, ...connected],
      before !== undefined && isLive(before) ? undefined : written.id,
    )
    const { coreObjectId, conflictKeys } = this.#identities.get(written.id) as ConnectorObject
    const sharing = this.#identitiesWith(this.#withKey(`core ${coreObjectId}`))
    // What supplements a person never makes the data of those who carry it too large.
    const person = this.#carries(written as Identity) ? sharing.filter((candidate) => this.#carries(candidate)) : sharing
    const replaced = [...this.#replaced]
    const undo = () => {
      for (const [id, former] of replaced.toReversed()) this.#put(former ?? id)
    }
    const movers = changed.filter(({ id }) => id !== written.id)
    return { coreObjectId, movers, conflictKeys, isTooLarge: isTooLarge(person, this.#deps.rules), undo }
  }

  /**
   * Marks an identity as deleted. When the connector has exactly one live identity with the same join key, that one is the
   * same person under a new external id. The core object of the older of the two stays.
   * @returns The identities that move to another core object because of it, and the core object in which that of the
   * deleted one continues, if no other identity carries it.
   */
  remove(deleted: ConnectorObject): { readonly movers: readonly ConnectorObject[]; readonly continuedIn?: string } {
    const connected = this.#connectedTo([deleted])
    this.#put(deleted)
    const { coreObjectId } = deleted
    const other = this.#carries(deleted) ? this.#onlyLiveLike(deleted) : undefined
    const isOlder = other !== undefined && createdAtMs(other) < createdAtMs(deleted)
    const renamed = other === undefined || isOlder ? undefined : { id: other.id, coreObjectId }
    const movers = this.#assign(connected, undefined, renamed)
    const remaining = other && this.#identities.get(other.id)?.coreObjectId
    const isContinued = remaining !== undefined && remaining !== coreObjectId && !this.#isCarried(coreObjectId)
    return { movers, ...(isContinued && isOlder && { continuedIn: remaining }) }
  }

  /**
   * Assigns a core object to every person among these identities and those connected to them.
   * @param returning An identity that was not live before. Live identities keep a core object that it claims as well.
   * @param renamed An identity whose person gets this core object.
   */
  #assign(
    ids: readonly string[],
    returning: string | undefined,
    renamed?: { readonly id: string; readonly coreObjectId: string },
  ): ConnectorObject[] {
    const starts = this.#identitiesWith(ids)
    const identities = [...new Set([...starts, ...this.#identitiesWith(this.#connectedTo(starts))])].filter(isLive)
    const { people, unmatched, conflicts } = groupByPerson(identities, this.#deps.rules, returning)
    const carried = Map.groupBy(
      identities.filter((identity) => this.#carries(identity)),
      ({ coreObjectId }) => coreObjectId,
    )
    const taken = new Set<string | undefined>()
    const assignments = people.map((person) => {
      const carriers = person.filter((identity) => this.#carries(identity))
      const own = carriers.find(
        (carrier) =>
          carrier.coreObjectId !== undefined &&
          !taken.has(carrier.coreObjectId) &&
          (carrier.id !== returning || !this.#isHeldByOthers(carrier.coreObjectId, person)) &&
          (carrier.supplements === undefined || !this.#wasCarriedByOthers(carrier.coreObjectId, person)),
      )
      // What it was before counts less than who has its keys: a system can give a former external id to another person.
      const former = own === undefined || own.id === returning ? this.#formerCoreObject(carriers, returning) : undefined
      const isRenamed =
        carriers.some(({ id }) => id === renamed?.id) && !this.#isHeldByOthers(renamed?.coreObjectId, person)
      const kept = isRenamed ? renamed?.coreObjectId : (former ?? own?.coreObjectId)
      taken.add(kept)
      return { person, kept }
    })
    const changed = assignments.flatMap(({ person, kept }) =>
      this.#move(person, kept ?? this.#newCoreObject(person[0] as Identity, returning)),
    )
    // An identity that belongs to no person stays where it is, unless others carry that core object.
    for (const identity of unmatched) {
      const { coreObjectId } = identity
      const isFree = coreObjectId !== undefined && !this.#isCarried(coreObjectId)
      changed.push(...this.#move([identity], isFree ? coreObjectId : this.#newCoreObject(identity, returning)))
    }
    const followers = [...carried].flatMap(([coreObjectId, carriers]) => this.#follow(coreObjectId, carriers))
    const marked = this.#markConflicts(identities, conflicts)
    const changedIds = new Set([...changed, ...followers, ...marked].map(({ id }) => id))
    return [...changedIds].map((id) => this.#identities.get(id) as ConnectorObject)
  }

  /**
   * Assigns the deleted identities of a core object to the one in which all of its people go on. One that is restored
   * would otherwise take that core object, and the memberships that are still on their way, from the others.
   * @param carriers Those that have carried the core object.
   * @returns The identities that move.
   */
  #follow(coreObjectId: string | undefined, carriers: readonly Identity[]): ConnectorObject[] {
    if (coreObjectId === undefined || this.#isCarried(coreObjectId)) return []
    const [target, ...others] = new Set(
      this.#identitiesWith(carriers.map(({ id }) => id)).map((carrier) => carrier.coreObjectId),
    )
    if (target === undefined || others.length > 0) return []
    const deleted = this.#identitiesWith(this.#withKey(claimOf(coreObjectId))).filter((claimant) => !isLive(claimant))
    for (const claimant of deleted) {
      this.#put({ ...claimant, formerCoreObjectIds: [coreObjectId, ...(claimant.formerCoreObjectIds ?? [])] })
    }
    return this.#move(this.#identitiesWith(deleted.map(({ id }) => id)), target)
  }

  /** @returns The identities whose conflicts have changed. */
  #markConflicts(identities: readonly Identity[], conflicts: People<Identity>['conflicts']): Identity[] {
    const keysOf = new Map<string, string[]>()
    for (const { key, value, identities: claimants } of conflicts) {
      for (const { id } of claimants) keysOf.set(id, [...(keysOf.get(id) ?? []), `${key} ${value}`])
    }
    return identities.flatMap(({ id }) => {
      const { conflictKeys: before, ...identity } = this.#identities.get(id) as Identity
      const after = keysOf.get(id)
      if (JSON.stringify(before) === JSON.stringify(after)) return []
      const marked = { ...identity, ...(after && { conflictKeys: after }) }
      this.#put(marked)
      return [marked]
    })
  }

  /** Assigns the person to a core object. @returns The identities that move. */
  #move(person: readonly Identity[], coreObjectId: string): ConnectorObject[] {
    const moved = person.filter((identity) => identity.coreObjectId !== coreObjectId).map((identity) => ({ ...identity, coreObjectId }))
    for (const identity of moved) this.#put(identity)
    return moved
  }

  /** Whether the identity makes a person exist. */
  #carries({ connectorId }: Identity): boolean {
    return !this.#deps.rules.supplements(connectorId)
  }

  #isHeldByOthers(coreObjectId: string | undefined, person: readonly Identity[]): boolean {
    const own = new Set(person.map(({ id }) => id))
    return this.#carriersOf(coreObjectId).some(({ id }) => !own.has(id))
  }

  #wasCarriedByOthers(coreObjectId: string, person: readonly Identity[]): boolean {
    const own = new Set(person.map(({ id }) => id))
    return this.#carriersOf(coreObjectId).some(({ id, supplements }) => supplements === undefined && !own.has(id))
  }

  /**
   * The core object of the one identity of the same connector that had a join key of the returning identity and is
   * deleted: HR systems give a person a new external id in that way. Undefined when there are several, or when another
   * live identity has the core object or the join key.
   */
  #formerCoreObject(person: readonly Identity[], returning: string | undefined): string | undefined {
    const written = person.find(({ id }) => id === returning)
    if (written === undefined) return undefined
    const former = this.#sameKey(written, formerKeysOf(written, this.#deps.rules))
    const [coreObjectId, ...others] = new Set(former.map((identity) => identity.coreObjectId))
    if (coreObjectId === undefined || others.length > 0 || this.#isCarried(coreObjectId)) return undefined
    const likeIt = former.every((identity) => this.#onlyLiveLike(identity as ConnectorObject)?.id === written.id)
    return likeIt ? coreObjectId : undefined
  }

  #isCarried(coreObjectId: string): boolean {
    return this.#carriersOf(coreObjectId).length > 0
  }

  #carriersOf(coreObjectId: string | undefined): Identity[] {
    return this.#identitiesWith(this.#withKey(`core ${coreObjectId}`)).filter((identity) => this.#carries(identity))
  }

  /** The live identity of the same connector with the same join key, when there is exactly one. */
  #onlyLiveLike(deleted: ConnectorObject): Identity | undefined {
    const live = this.#sameKey(deleted, rekeyingKeysOf(deleted, this.#deps.rules)).filter(
      ({ connectorId }) => connectorId === deleted.connectorId,
    )
    return live.length === 1 ? live[0] : undefined
  }

  /** The identities with the first of the keys that any has, except those that certainly are other people. */
  #sameKey(identity: Identity, keys: readonly string[]): Identity[] {
    for (const key of keys) {
      const found = this.#identitiesWith(this.#withKey(key)).filter((candidate) => !areOtherPeople(candidate, identity))
      if (found.length > 0) return found
    }
    return []
  }

  /**
   * Returns the core object derived from the identity's id, or a new one when another identity claims that, or may have
   * had it under this name, or when others went on with it while the identity was deleted: memberships of that one can
   * still be on their way to them.
   */
  #newCoreObject({ id, formerIds, formerCoreObjectIds }: Identity, returning: string | undefined): string {
    const own = this.#deps.ownCoreObjectId(id)
    const isLeft = id === returning && formerCoreObjectIds?.includes(own)
    return formerIds === undefined && !isLeft && this.#withKey(claimOf(own)).size === 0 ? own : this.#deps.newId()
  }

  /** Returns the ids of all live identities connected to the starts by shared keys or core objects, directly or not. */
  #connectedTo(starts: readonly Identity[]): string[] {
    const found = new Set<string>()
    const keys = new Set(starts.flatMap((start) => sharedBy(start, this.#deps.rules)))
    // Also those that are added meanwhile.
    for (const key of keys) {
      for (const identity of this.#identitiesWith(this.#withKey(key))) {
        found.add(identity.id)
        for (const other of sharedBy(identity, this.#deps.rules)) keys.add(other)
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
    for (const key of before === undefined ? [] : indexKeysOf(before, this.#deps.rules)) this.#withKey(key).delete(id)
    this.#identities.delete(id)
    if (typeof identity === 'string') return
    this.#identities.set(id, identity)
    for (const key of indexKeysOf(identity, this.#deps.rules)) this.#withKey(key).add(id)
  }
}

/** Whether the merged data of several identities exceed a core object. The data of each alone are below half of it. */
function isTooLarge(person: readonly Identity[], rules: ConnectorRules): boolean {
  if (person.length < 2) return false
  const oldestFirst = person.toSorted((left, right) => rules.rankOf(left.connectorId) - rules.rankOf(right.connectorId))
  return exceedsCoreObject(Object.assign({}, ...oldestFirst.toReversed().map(({ data }) => data)))
}

const createdAtMs = (identity: Identity): number => identity.createdAtMs ?? 0

const isLive = ({ deletedAtMs }: Identity): boolean => deletedAtMs === undefined

function sharedBy(identity: Identity, rules: ConnectorRules): string[] {
  const { coreObjectId } = identity
  return [...joinKeysInOrder(identity, rules), ...(coreObjectId === undefined ? [] : [`core ${coreObjectId}`])]
}

/** The keys under which deleted identities of the connector are found. */
const formerKeysOf = (identity: Identity, rules: ConnectorRules): string[] =>
  rekeyingKeysOf(identity, rules).map((key) => `former ${identity.connectorId} ${key}`)

const claimOf = (coreObjectId: string | undefined): string => `claim ${coreObjectId}`

function indexKeysOf(identity: Identity, rules: ConnectorRules): string[] {
  return [
    ...(isLive(identity) ? sharedBy(identity, rules) : formerKeysOf(identity, rules)),
    claimOf(identity.coreObjectId),
  ]
}
