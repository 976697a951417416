import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { areOtherPeople, isKeyOfOnePerson, joinKeysInOrder, rekeyingKeysOf } from './join-keys.ts'

/** An identity being written, possibly without a core object yet. */
export type WrittenIdentity = Omit<ConnectorObject, 'coreObjectId'>

/** An identity with its core object, or without one before its first assignment. */
export type Identity = WrittenIdentity & { readonly coreObjectId?: string }

/** The identities that an `IdentityResolver` holds, by their ids and by what they share. */
export class IdentityIndex {
  readonly #identities = new Map<string, Identity>()
  /**
   * Ids of live identities by what they share, a join key or a core object; ids of soft-deleted ones by the join keys
   * that they had in their connector; and ids of all identities by the core object that they claim: those of
   * soft-deleted ones are not assigned to others, except to the same person under a new external id.
   */
  readonly #idsByKey = new Map<string, Set<string>>()
  /** What was replaced since `begin`, in order; undefined for a new identity. */
  readonly #replaced: [id: string, before: Identity | undefined][] = []
  readonly #rules: ConnectorRules

  constructor(rules: ConnectorRules) {
    this.#rules = rules
  }

  get(id: string): Identity | undefined {
    return this.#identities.get(id)
  }

  /** The identities with these ids, which must be known. */
  ofIds(ids: Iterable<string>): Identity[] {
    return [...ids].map((id) => this.#identities.get(id) as Identity)
  }

  /** The live identities in a core object. */
  inCoreObject(coreObjectId: string | undefined): Identity[] {
    return this.ofIds(this.#withKey(`core ${coreObjectId}`))
  }

  /** Whether another identity of its connector has one of its keys and belongs to the same core object. */
  hasDouble(identity: Identity): boolean {
    const keys = new Set(joinKeysInOrder(identity, this.#rules))
    return this.inCoreObject(identity.coreObjectId).some(
      (other) =>
        other.id !== identity.id &&
        other.connectorId === identity.connectorId &&
        !keys.isDisjointFrom(new Set(joinKeysInOrder(other, this.#rules))),
    )
  }

  /** All identities that claim a core object. */
  claiming(coreObjectId: string | undefined): Identity[] {
    return this.ofIds(this.#withKey(claimOf(coreObjectId)))
  }

  /**
   * The live identity of the same connector with the keys of one that is deleted or new, when there is exactly one. Those
   * that certainly are other people do not count.
   * @param keys Join keys as texts that count, in order. Default: all that the identity has.
   */
  onlyLiveLike(
    identity: Identity,
    keys: readonly string[] = rekeyingKeysOf(identity, this.#rules),
  ): Identity | undefined {
    const live = this.#sameKey(identity, keys)
    return live.length === 1 ? live[0] : undefined
  }

  /**
   * The deleted identities of its connector that had the keys of an identity.
   * @param among Join keys as texts: others do not count. Default: all that the identity has.
   */
  deletedLike(identity: Identity, among: readonly string[] = rekeyingKeysOf(identity, this.#rules)): Identity[] {
    const keys = rekeyingKeysOf(identity, this.#rules).filter((key) => among.includes(key))
    return this.#sameKey(
      identity,
      keys.map((key) => formerKeyOf(identity, key)),
    )
  }

  /** Whether two identities of a connector share a key that no two people have. */
  shareKeyOfOnePerson(left: Identity, right: Identity): boolean {
    const keys = rekeyingKeysOf(left, this.#rules).filter(isKeyOfOnePerson)
    return rekeyingKeysOf(right, this.#rules).some((key) => keys.includes(key))
  }

  /**
   * The identities of the same connector with the first of the keys that any of them has, except those that certainly are
   * other people.
   */
  #sameKey(identity: Identity, keys: readonly string[]): Identity[] {
    const { connectorId } = identity
    for (const key of keys) {
      const found = this.ofIds(this.#withKey(key)).filter(
        (candidate) => candidate.connectorId === connectorId && !areOtherPeople(candidate, identity),
      )
      if (found.length > 0) return found
    }
    return []
  }

  /** Returns the ids of all live identities connected to the starts by shared keys or core objects, directly or not. */
  connectedTo(starts: readonly Identity[]): string[] {
    const found = new Set<string>()
    const keys = new Set(starts.flatMap((start) => sharedBy(start, this.#rules)))
    // Also those that are added meanwhile.
    for (const key of keys) {
      for (const identity of this.ofIds(this.#withKey(key))) {
        found.add(identity.id)
        for (const other of sharedBy(identity, this.#rules)) keys.add(other)
      }
    }
    return [...found]
  }

  #withKey(key: string): Set<string> {
    const known = this.#idsByKey.get(key) ?? new Set()
    this.#idsByKey.set(key, known)
    return known
  }

  /** Begins what `undo` reverts. */
  begin(): void {
    this.#replaced.length = 0
  }

  /** @returns A function that leaves all identities as they were at the last `begin`. */
  undo(): () => void {
    const replaced = [...this.#replaced]
    return () => {
      for (const [id, former] of replaced.toReversed()) this.put(former ?? id)
    }
  }

  /** @param identity The id alone removes the identity. */
  put(identity: Identity | string): void {
    const id = typeof identity === 'string' ? identity : identity.id
    const before = this.#identities.get(id)
    this.#replaced.push([id, before])
    for (const key of before === undefined ? [] : indexKeysOf(before, this.#rules)) this.#withKey(key).delete(id)
    this.#identities.delete(id)
    if (typeof identity === 'string') return
    this.#identities.set(id, identity)
    for (const key of indexKeysOf(identity, this.#rules)) this.#withKey(key).add(id)
  }
}

export const isLiveIdentity = ({ deletedAtMs }: Identity): boolean => deletedAtMs === undefined

function sharedBy(identity: Identity, rules: ConnectorRules): string[] {
  const { coreObjectId } = identity
  return [...joinKeysInOrder(identity, rules), ...(coreObjectId === undefined ? [] : [`core ${coreObjectId}`])]
}

/** The key under which the deleted identities of the connector that had a join key are found. */
const formerKeyOf = ({ connectorId }: Identity, key: string): string => `former ${connectorId} ${key}`

const claimOf = (coreObjectId: string | undefined): string => `claim ${coreObjectId}`

function indexKeysOf(identity: Identity, rules: ConnectorRules): string[] {
  return [
    ...(isLiveIdentity(identity)
      ? sharedBy(identity, rules)
      : rekeyingKeysOf(identity, rules).map((key) => formerKeyOf(identity, key))),
    claimOf(identity.coreObjectId),
  ]
}
