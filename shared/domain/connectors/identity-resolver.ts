import { Arrivals } from './arrivals.ts'
import { Carriers } from './carriers.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { groupByPerson, type People } from './group-by-person.ts'
import { type Identity, IdentityIndex, isLiveIdentity, type WrittenIdentity } from './identity-index.ts'
import type { WithKeys } from './join-keys.ts'
import { exceedsCoreObject } from './merged-core-object.ts'
import { type CoreObjectIds, OwnCoreObjects } from './own-core-objects.ts'
import { createdAtMs, ReplacedIdentities } from './replaced-identities.ts'

/** The core object of an identity, and the other identities that move to another core object because of it. */
export type Placement = {
  readonly coreObjectId: string
  readonly movers: readonly ConnectorObject[]
  /** The written identity's keys that others share without being one person with it; undefined when there are none. */
  readonly conflictKeys: readonly string[] | undefined
  readonly createdBesideId: string | undefined
  /** Whether the identities of the person together are too large for one core object. */
  readonly isTooLarge: boolean
  /** Leaves all identities as they were before. */
  undo(): void
}

export type PlacementOptions = {
  /** The id that the identity had under its former name. */
  readonly formerId?: string
  /** Whether it was created a moment ago, and placed without seeing what others wrote at the same time. */
  readonly isNew?: boolean
}

type IdentityResolverDependencies = CoreObjectIds & {
  readonly rules: ConnectorRules
  /** Identities that are placed after all deletions, and are not stored yet. Default: none. */
  readonly arrivals?: readonly WithKeys[]
}

/**
 * Assigns identities to core objects: identities of the same person share one. It holds the written identities as the
 * decisions so far leave them, and must also hold every identity that shares a join key or a core object with one of
 * them.
 */
export class IdentityResolver {
  readonly #deps: IdentityResolverDependencies
  readonly #index: IdentityIndex
  readonly #carriers: Carriers
  readonly #ownCoreObjects: OwnCoreObjects
  readonly #replaced: ReplacedIdentities
  readonly #arrivals: Arrivals

  constructor(identities: Iterable<ConnectorObject>, deps: IdentityResolverDependencies) {
    this.#deps = deps
    this.#index = new IdentityIndex(deps.rules)
    this.#carriers = new Carriers(this.#index, deps.rules)
    this.#replaced = new ReplacedIdentities(this.#index, this.#carriers, deps)
    this.#arrivals = new Arrivals(deps.arrivals ?? [], deps.rules)
    const all = [...identities]
    for (const identity of all) this.#index.put(identity)
    this.#ownCoreObjects = new OwnCoreObjects(all, this.#index, deps)
  }

  /** Adds or replaces an identity and assigns its core object. */
  place(written: WrittenIdentity, { formerId, isNew = false }: PlacementOptions = {}): Placement {
    const stored = this.#index.get(formerId ?? written.id)
    // A name that a rename has left free says nothing of who gets it.
    const before = stored?.renamedTo === undefined ? stored : undefined
    const isReturning = before === undefined || !isLiveIdentity(before) || (isNew && this.#index.hasDouble(before))
    this.#index.begin()
    if (formerId !== undefined) this.#index.put(formerId)
    const connected = before === undefined ? this.#replaced.othersOf(written) : this.#index.connectedTo([before])
    const { coreObjectId: former, supplements, formerCoreObjectIds, conflictKeys: conflicts } = before ?? {}
    const besideId = before === undefined ? this.#index.onlyLiveLike(written)?.id : before.createdBesideId
    this.#index.put({
      ...{ ...written, ...(former && { coreObjectId: former }), ...(conflicts && { conflictKeys: conflicts }) },
      ...{ ...(supplements && { supplements }), ...(formerCoreObjectIds && { formerCoreObjectIds }) },
      ...(besideId && { createdBesideId: besideId }),
    })
    const changed = this.#assign([written.id, ...connected], isReturning ? written.id : undefined)
    const { coreObjectId, conflictKeys, createdBesideId } = this.#index.get(written.id) as ConnectorObject
    const sharing = this.#index.inCoreObject(coreObjectId)
    // What supplements a person never makes the data of those who carry it too large.
    const person = this.#carriers.includes(written as Identity)
      ? sharing.filter((candidate) => this.#carriers.includes(candidate))
      : sharing
    const undo = this.#index.undo()
    const movers = changed.filter(({ id }) => id !== written.id)
    const ofWritten = { coreObjectId, conflictKeys, createdBesideId }
    return { ...ofWritten, movers, isTooLarge: isTooLarge(person, this.#deps.rules), undo }
  }

  /**
   * Marks an identity as deleted. When the connector has exactly one live identity with the same join key, that one is the
   * same person under a new external id, unless an arrival replaces the deleted one. The core object of the older of the
   * two stays. The deletion decides for good about those that were created beside the deleted one.
   * @returns The identities that move to another core object because of it, and the core object in which that of the
   * deleted one continues, if no other identity carries it.
   */
  remove(deleted: ConnectorObject): { readonly movers: readonly ConnectorObject[]; readonly continuedIn?: string } {
    const connected = this.#index.connectedTo([deleted])
    this.#index.put(deleted)
    this.#replaced.recordDeletion(deleted.id)
    const { coreObjectId } = deleted
    const other = this.#carriers.includes(deleted)
      ? this.#index.onlyLiveLike(deleted, this.#arrivals.keysUntilReplaced(deleted))
      : undefined
    const isOlder = other !== undefined && createdAtMs(other) < createdAtMs(deleted)
    const renamed = other === undefined || isOlder ? undefined : { id: other.id, coreObjectId }
    const decided = this.#forgetCreationsBeside(deleted.id, connected)
    const assigned = this.#assign(connected, undefined, renamed).map(({ id }) => id)
    const movers = [...new Set([...assigned, ...decided])].map((id) => this.#index.get(id) as ConnectorObject)
    const remaining = other && this.#index.get(other.id)?.coreObjectId
    const isContinued = remaining !== undefined && remaining !== coreObjectId && !this.isCarried(coreObjectId)
    return { movers, ...(isContinued && isOlder && { continuedIn: remaining }) }
  }

  /**
   * Assigns a core object to every person among these identities and those connected to them.
   * @param returning An identity that belongs to no person so far. Live identities keep a core object that it claims as well.
   * @param renamed An identity whose person gets this core object.
   */
  #assign(
    ids: readonly string[],
    returning: string | undefined,
    renamed?: { readonly id: string; readonly coreObjectId: string },
  ): ConnectorObject[] {
    const starts = this.#index.ofIds(ids)
    const identities = [...new Set([...starts, ...this.#index.ofIds(this.#index.connectedTo(starts))])].filter(
      isLiveIdentity,
    )
    const { people, unmatched, conflicts } = groupByPerson(identities, this.#deps.rules, returning)
    const carried = Map.groupBy(
      identities.filter((identity) => this.#carriers.includes(identity)),
      ({ coreObjectId }) => coreObjectId,
    )
    const taken = new Set<string | undefined>()
    const assignments = people.map((person) => {
      const carriers = person.filter((identity) => this.#carriers.includes(identity))
      const own = carriers.find(
        (carrier) =>
          carrier.coreObjectId !== undefined &&
          !taken.has(carrier.coreObjectId) &&
          (carrier.id !== returning || !this.#isHeldByOthers(carrier.coreObjectId, person)) &&
          (carrier.supplements === undefined || !this.#wasCarriedByOthers(carrier.coreObjectId, person)),
      )
      // What it was before counts less than who has its keys: a system can give a former external id to another person.
      const former =
        own === undefined || own.id === returning
          ? this.#replaced.coreObjectBefore(carriers, returning, taken)
          : this.#replaced.coreObjectAtOnce(own, person, taken)
      const isRenamed =
        carriers.some(({ id }) => id === renamed?.id) && !this.#isHeldByOthers(renamed?.coreObjectId, person)
      const kept = isRenamed ? renamed?.coreObjectId : (former ?? own?.coreObjectId)
      taken.add(kept)
      return { person, kept }
    })
    const changed = assignments.flatMap(({ person, kept }) =>
      this.#move(person, kept ?? this.#ownCoreObjects.of(person[0] as Identity)),
    )
    // An identity that belongs to no person stays where it is, unless others carry that core object.
    for (const identity of unmatched) {
      const { coreObjectId } = identity
      const isFree = coreObjectId !== undefined && !this.isCarried(coreObjectId)
      changed.push(...this.#move([identity], isFree ? coreObjectId : this.#ownCoreObjects.of(identity)))
    }
    const followers = [...carried].flatMap(([coreObjectId, carriers]) => this.#follow(coreObjectId, carriers))
    const marked = this.#markConflicts(identities, conflicts)
    const changedIds = new Set([...changed, ...followers, ...marked].map(({ id }) => id))
    return [...changedIds].map((id) => this.#index.get(id) as ConnectorObject)
  }

  /**
   * Assigns the deleted identities of a core object to the one in which all of its people go on. One that is restored
   * would otherwise take that core object, and the memberships that are still on their way, from the others.
   * @param carriers Those that have carried the core object.
   * @returns The identities that move.
   */
  #follow(coreObjectId: string | undefined, carriers: readonly Identity[]): ConnectorObject[] {
    if (coreObjectId === undefined || this.isCarried(coreObjectId)) return []
    const [target, ...others] = new Set(
      this.#index.ofIds(carriers.map(({ id }) => id)).map((carrier) => carrier.coreObjectId),
    )
    if (target === undefined || others.length > 0) return []
    const deleted = this.#index.claiming(coreObjectId).filter((claimant) => !isLiveIdentity(claimant))
    for (const claimant of deleted) {
      this.#index.put({ ...claimant, formerCoreObjectIds: [coreObjectId, ...(claimant.formerCoreObjectIds ?? [])] })
    }
    return this.#move(this.#index.ofIds(deleted.map(({ id }) => id)), target)
  }

  /** @returns The ids of those that were created beside the identity. */
  #forgetCreationsBeside(id: string, among: readonly string[]): string[] {
    const created = this.#index.ofIds(among).filter(({ createdBesideId }) => createdBesideId === id)
    for (const { createdBesideId: _decided, ...identity } of created) this.#index.put(identity)
    return created.map((identity) => identity.id)
  }

  /** @returns The identities whose conflicts have changed. */
  #markConflicts(identities: readonly Identity[], conflicts: People<Identity>['conflicts']): Identity[] {
    const keysOf = new Map<string, string[]>()
    for (const { key, value, identities: claimants } of conflicts) {
      for (const { id } of claimants) keysOf.set(id, [...(keysOf.get(id) ?? []), `${key} ${value}`])
    }
    return identities.flatMap(({ id }) => {
      const { conflictKeys: before, createdBesideId, ...identity } = this.#index.get(id) as Identity
      const after = keysOf.get(id)
      if (JSON.stringify(before) === JSON.stringify(after)) return []
      const marked = {
        ...identity,
        ...(after && { conflictKeys: after, ...(createdBesideId && { createdBesideId }) }),
      }
      this.#index.put(marked)
      return [marked]
    })
  }

  /** Assigns the person to a core object. @returns The identities that move. */
  #move(person: readonly Identity[], coreObjectId: string): ConnectorObject[] {
    const moving = person.filter((identity) => identity.coreObjectId !== coreObjectId)
    this.#ownCoreObjects.record(moving, coreObjectId)
    const moved = moving.map((identity) => ({ ...identity, coreObjectId }))
    for (const identity of moved) this.#index.put(identity)
    return moved
  }

  #isHeldByOthers(coreObjectId: string | undefined, person: readonly Identity[]): boolean {
    return this.#carriers.besides(person, coreObjectId).length > 0
  }

  #wasCarriedByOthers(coreObjectId: string, person: readonly Identity[]): boolean {
    return this.#carriers.besides(person, coreObjectId).some(({ supplements }) => supplements === undefined)
  }

  /** Whether live identities carry the core object, by the decisions so far. */
  isCarried(coreObjectId: string): boolean {
    return this.#carriers.of(coreObjectId).length > 0
  }
}

/** Whether the merged data of several identities exceed a core object. The data of each alone are below half of it. */
function isTooLarge(person: readonly Identity[], rules: ConnectorRules): boolean {
  if (person.length < 2) return false
  const oldestFirst = person.toSorted((left, right) => rules.rankOf(left.connectorId) - rules.rankOf(right.connectorId))
  return exceedsCoreObject(Object.assign({}, ...oldestFirst.toReversed().map(({ data }) => data)))
}
