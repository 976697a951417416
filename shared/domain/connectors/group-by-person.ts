import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { areOtherPeople, foldedKey, hasJoiningValue, type JoinKeyValue, joinKeyValues } from './join-keys.ts'

/** An identity, with the core object to which it has belonged so far. */
type Joinable = Pick<ConnectorObject, 'id' | 'connectorId' | 'data'> & { readonly coreObjectId?: string }

/** Identities with one value of a join key that stay apart, because it does not say which of them are one person. */
type JoinConflict<T> = { readonly key: string; readonly value: string; readonly identities: readonly T[] }

export type People<T> = {
  /** Each person's identities, those of connectors of full authority first, each by the age of its connector. */
  readonly people: readonly (readonly T[])[]
  /** Identities of supplementing connectors that belong to no person. */
  readonly unmatched: readonly T[]
  readonly conflicts: readonly JoinConflict<T>[]
}

/**
 * Groups live identities by person.
 *
 * - A key counts between identities of two connectors when one of these lists it. Two different `nin` are never one
 *   person.
 * - Identities that belong to one core object stay together while a key agrees.
 * - Others join by the first key with a value on both sides. A value that two identities of one connector have, or that
 *   identities with different `nin` have beside one without, joins none, and ends the search of all that have it. A
 *   key by which not all identities are found yet joins no one: others with its value may be missing here.
 * - Identities of supplementing connectors come last and change nothing in this: each belongs to the one person that its
 *   first key finds.
 *
 * The result does not depend on the order of the identities.
 * @param returning The id of an identity that was not live before: it belongs to no person yet.
 */
export function groupByPerson<T extends Joinable>(
  identities: readonly T[],
  rules: ConnectorRules,
  returning?: string,
): People<T> {
  let found = groupOnce(identities, rules, ({ id, coreObjectId }) => (id === returning ? undefined : coreObjectId))
  // An identity that has joined another one can stop being a candidate of a third.
  for (let count = identities.length; found.people.length > 1 && found.people.length < count; ) {
    count = found.people.length
    const personOf = new Map(found.people.flatMap((person, index) => person.map(({ id }) => [id, String(index)])))
    found = groupOnce(identities, rules, ({ id }) => personOf.get(id))
  }
  return found
}

/** @param heldBy Equal for the identities of one person so far; undefined for one that belongs to no person yet. */
function groupOnce<T extends Joinable>(
  identities: readonly T[],
  rules: ConnectorRules,
  heldBy: (identity: T) => string | undefined,
): People<T> {
  const { full = [], supplementing = [] } = Object.groupBy(identities.toSorted(byAge(rules)), ({ connectorId }) =>
    rules.supplements(connectorId) ? 'supplementing' : 'full',
  )
  const grouping = new Grouping(full)
  const conflicts: JoinConflict<T>[] = []
  const sharing = rules.joinKeys.map((key) => ({ key, groups: groupsWith(key, full, rules) }))
  for (const { key, groups } of sharing) {
    for (const [, group] of groups) {
      keepTogether(group, heldBy, ({ connectorId }) => rules.joinsOn(connectorId, key), grouping)
    }
  }
  const decided = new Set<T>()
  for (const { key, groups } of sharing) {
    if (!rules.findsBy(key)) continue
    for (const [value, group] of groups) {
      if (joinGroup(group, grouping, decided)) conflicts.push({ key, value, identities: group })
    }
  }
  const people = grouping.people().map((person) => [...person])
  const unmatched: T[] = []
  for (const identity of supplementing) {
    const person = personOfSupplement({ identity, heldBy }, supplementing, people, rules, conflicts)
    if (person === undefined) unmatched.push(identity)
    else person.push(identity)
  }
  return { people, unmatched, conflicts }
}

const byAge =
  ({ rankOf }: ConnectorRules) =>
  (left: Pick<Joinable, 'id' | 'connectorId'>, right: Pick<Joinable, 'id' | 'connectorId'>): number =>
    rankOf(left.connectorId) - rankOf(right.connectorId) || (left.id < right.id ? -1 : 1)

/** The identities of each value of a key that counts between them: of several connectors, if one of these lists it. */
function groupsWith<T extends Joinable>(key: string, identities: readonly T[], rules: ConnectorRules): [string, T[]][] {
  const byValue = new Map<string, T[]>()
  for (const identity of identities) {
    const value = hasJoiningValue(identity, key, rules) ? foldedKey(identity.data, key, rules) : undefined
    if (value === undefined) continue
    const group = byValue.get(value)
    if (group === undefined) byValue.set(value, [identity])
    else group.push(identity)
  }
  return [...byValue].filter(([, group]) => group.some(({ connectorId }) => rules.joinsOn(connectorId, key)))
}

/** People while they are put together. */
class Grouping<T extends Joinable> {
  readonly #personOf: Map<T, T[]>
  readonly #order: readonly T[]

  constructor(inOrder: readonly T[]) {
    this.#order = inOrder
    this.#personOf = new Map(inOrder.map((identity) => [identity, [identity]]))
  }

  personOf(identity: T): readonly T[] {
    return this.#personOf.get(identity) as T[]
  }

  join(left: T, right: T): void {
    const [first, second] = [this.personOf(left), this.personOf(right)]
    if (first === second) return
    const person = [...first, ...second]
    for (const identity of person) this.#personOf.set(identity, person)
  }

  canBeOne(left: T, right: T): boolean {
    return this.personOf(left).every(
      (identity) => !this.personOf(right).some((another) => areOtherPeople(identity, another)),
    )
  }

  /** In the order of their oldest identities. */
  people(): T[][] {
    const position = new Map(this.#order.map((identity, index) => [identity, index]))
    const at = (identity: T | undefined): number => (identity && position.get(identity)) ?? 0
    const sorted = [...new Set(this.#personOf.values())].map((person) =>
      person.toSorted((left, right) => at(left) - at(right)),
    )
    return sorted.sort(([left], [right]) => at(left) - at(right))
  }
}

/**
 * Joins those of a group that belong to one core object already.
 * @param isListed Whether the connector of an identity lists the key of the group.
 */
function keepTogether<T extends Joinable>(
  group: readonly T[],
  heldBy: (identity: T) => string | undefined,
  isListed: (identity: T) => boolean,
  grouping: Grouping<T>,
): void {
  const byCoreObject = Map.groupBy(group, heldBy)
  for (const [coreObjectId, together] of byCoreObject) {
    if (coreObjectId === undefined) continue
    if (new Set(together.map(({ connectorId }) => connectorId)).size < 2) continue
    for (const [index, identity] of together.entries()) {
      for (const other of together.slice(index + 1)) {
        const counts = other.connectorId !== identity.connectorId && [identity, other].some(isListed)
        if (counts && grouping.canBeOne(identity, other)) grouping.join(identity, other)
      }
    }
  }
}

/**
 * Joins the people of a group, unless its value does not say who is who.
 * @param decided Identities whose search has ended. Those of the group are added, unless they can be none of the others.
 * @returns Whether the group is a conflict.
 */
function joinGroup<T extends Joinable>(group: readonly T[], grouping: Grouping<T>, decided: Set<T>): boolean {
  const people = new Set(group.map((identity) => grouping.personOf(identity)))
  const related = group.filter((identity) =>
    group.some(
      (other) =>
        other.connectorId !== identity.connectorId &&
        (grouping.personOf(other) === grouping.personOf(identity) || grouping.canBeOne(identity, other)),
    ),
  )
  if (people.size === 1 || related.length === 0) {
    for (const identity of related) decided.add(identity)
    return isAmbiguous(group)
  }
  const isOpen = related.some((identity) => !decided.has(identity))
  const isClear =
    !isAmbiguous(group.filter((identity) => related.includes(identity))) &&
    related.every((identity) => related.every((other) => grouping.canBeOne(identity, other)))
  for (const identity of related) decided.add(identity)
  const [first, ...others] = related
  if (isClear && isOpen) for (const other of others) grouping.join(first as T, other)
  return !isClear
}

/** Whether one connector has several of these identities. */
const isAmbiguous = (group: readonly Joinable[]): boolean =>
  new Set(group.map(({ connectorId }) => connectorId)).size < group.length

/**
 * The person to whom a supplementing identity adds attributes: the one to whom it belongs while a key agrees, else the one
 * that its first key with a match finds.
 */
function personOfSupplement<T extends Joinable>(
  { identity, heldBy }: { readonly identity: T; heldBy(identity: T): string | undefined },
  supplementing: readonly T[],
  people: T[][],
  rules: ConnectorRules,
  conflicts: JoinConflict<T>[],
): T[] | undefined {
  const keys = joinKeyValues(identity.data, rules)
  const has = (other: T, { key, value }: JoinKeyValue): boolean =>
    hasJoiningValue(other, key, rules) && foldedKey(other.data, key, rules) === value
  const carriersOf = (person: T[]): T[] => person.filter(({ connectorId }) => !rules.supplements(connectorId))
  const agrees = (person: T[], held: JoinKeyValue): boolean =>
    !carriersOf(person).some((other) => areOtherPeople(identity, other)) &&
    carriersOf(person).some(
      (other) =>
        has(other, held) &&
        (rules.joinsOn(identity.connectorId, held.key) || rules.joinsOn(other.connectorId, held.key)),
    )
  const held = heldBy(identity)
  const former = people.find(
    (person) => held !== undefined && carriersOf(person).some((carrier) => heldBy(carrier) === held),
  )
  if (former !== undefined && keys.some((key) => agrees(former, key))) return former
  for (const held of keys.filter(({ key }) => rules.findsBy(key))) {
    const found = people.filter((person) => agrees(person, held))
    if (found.length === 0) continue
    const likeIt = supplementing.filter((other) => other.connectorId === identity.connectorId && has(other, held))
    if (found.length === 1 && likeIt.length === 1) return found[0]
    const carriers = found.flatMap((person) => carriersOf(person).filter((other) => has(other, held)))
    conflicts.push({ ...held, identities: [...carriers, ...likeIt] })
    return undefined
  }
  return undefined
}
