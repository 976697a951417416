import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { storedCondition } from '../collections/condition-entry.ts'
import { dayOf } from '../collections/evaluation-context.ts'
import { CORE_TYPE, type CollectionMembers, isRowOf, type JoinedMembership } from '../criteria/collection-members.ts'
import { type CompiledCondition, compile } from '../criteria/compile.ts'
import { evaluateObjects, evaluationSteps } from '../criteria/evaluate.ts'
import type { EvaluationContext } from '../criteria/evaluation.ts'
import { evaluationOrder } from '../criteria/evaluation-order.ts'
import type { People } from './people.ts'

/** Who is in a collection at this moment, of either kind. A person is when one of their rows is: decisions, section 10. */
export interface Standing {
  /** Those of the collections that the identity is in. Few looks at the store, however many collections there are. */
  collectionsOf(
    tenantId: string,
    identityId: string,
    collectionIds: readonly string[],
    people: People,
  ): Promise<ReadonlySet<string>>
  /** The identities in each of the collections. */
  identitiesIn(
    tenantId: string,
    collectionIds: readonly string[],
    people: People,
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>>
}

type StandingDependencies = Pick<CollectionDependencies, 'collections' | 'joined' | 'snapshots' | 'nowMs'>

/** Conditions kept ready for the next time. */
const CONDITIONS_KEPT_COUNT = 2000

/**
 * Criteria are evaluated here and now, for the one person or as a whole: the materialised members are seconds behind,
 * and reading them would cost a look for each collection.
 */
export function liveStanding(deps: StandingDependencies): Standing {
  const conditions = new Map<string, CompiledCondition>()
  const conditionOf = (collection: Collection): CompiledCondition => {
    const key = `${collection.tenantId}:${collection.id}:${collection.definitionVersion}`
    const known = conditions.get(key)
    if (known !== undefined) return known
    if (conditions.size >= CONDITIONS_KEPT_COUNT) conditions.clear()
    const compiled = compile(storedCondition(collection))
    conditions.set(key, compiled)
    return compiled
  }
  const contextOver = (
    collections: ReadonlyMap<string, Collection>,
    memberships: (collectionId: string) => readonly JoinedMembership[],
    idsOf: (collection: Collection, context: EvaluationContext) => ReadonlySet<string>,
  ): EvaluationContext => {
    const known = new Map<string, CollectionMembers>()
    const context: EvaluationContext = {
      todayMs: dayOf(deps.nowMs()),
      membersOf: (id) => {
        const collection = collections.get(id)
        if (collection === undefined) return undefined
        const members = known.get(id) ?? membersIn(collection, memberships, (criteria) => idsOf(criteria, context))
        known.set(id, members)
        return members
      },
    }
    return context
  }

  return {
    async collectionsOf(tenantId, identityId, collectionIds, people) {
      if (collectionIds.length === 0) return new Set()
      const [collections, own] = await Promise.all([
        withReferences(tenantId, collectionIds, deps),
        deps.joined.ofIdentity(tenantId, identityId),
      ])
      const nested = await deps.joined.of(tenantId, joinablesWithinConditions(collections))
      const memberships = (id: string) => nested.get(id)?.memberships ?? own.get(id) ?? []
      const context = contextOver(collections, memberships, (collection, within) => {
        const isMember = (id: string) =>
          evaluateObjects(conditionOf(collection), people.rows, objectTypeOf(collection), [id], within).get(id) === true
        return new AskedSet(isMember)
      })
      const rows = people.rowsOf(identityId)
      const isIn = (id: string) => {
        const members = context.membersOf(id)
        return members !== undefined && rows.some((row) => isRowOf(members, row, people.rows))
      }
      return new Set(collectionIds.filter(isIn))
    },
    async identitiesIn(tenantId, collectionIds, people) {
      const collections = await withReferences(tenantId, collectionIds, deps)
      const joinables = [...collections.values()].filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
      const joined = await deps.joined.of(tenantId, joinables)
      const memberships = (id: string) => joined.get(id)?.memberships ?? []
      const evaluated = new Map<string, ReadonlySet<string>>()
      const context = contextOver(collections, memberships, ({ id }) => evaluated.get(id) ?? NOBODY)
      for (const collection of inOrderOfReferences(collections)) {
        const steps = evaluationSteps(conditionOf(collection), people.rows, objectTypeOf(collection), context)
        evaluated.set(collection.id, new Set(await deps.snapshots.reading(people.rows, steps)))
      }
      return new Map(collectionIds.map((id) => [id, new Set(identitiesBehind(context.membersOf(id), people))]))
    },
  }
}

const NOBODY: ReadonlySet<string> = new Set()

/** Criteria collections, each after those that its condition names. */
function inOrderOfReferences(collections: ReadonlyMap<string, Collection>): Collection[] {
  const criteria = [...collections.values()].filter(({ kind }) => kind === 'criteria')
  const { order } = evaluationOrder(new Map(criteria.map(({ id, refersTo }) => [id, refersTo])))
  return order.flatMap((id) => collections.get(id) ?? [])
}

function membersIn(
  collection: Collection,
  memberships: (collectionId: string) => readonly JoinedMembership[],
  idsOf: (collection: Collection) => ReadonlySet<string>,
): CollectionMembers {
  if (collection.kind === 'joinable') return { kind: 'joinable', memberships: memberships(collection.id) }
  return { kind: 'criteria', objectType: objectTypeOf(collection), ids: idsOf(collection) }
}

/** The collections and those that their conditions name, directly or not: one look for each level of nesting. */
async function withReferences(
  tenantId: string,
  collectionIds: readonly string[],
  deps: StandingDependencies,
): Promise<ReadonlyMap<string, Collection>> {
  const collections = new Map<string, Collection>()
  const asked = new Set<string>()
  let open = [...new Set(collectionIds)]
  while (open.length > 0) {
    for (const id of open) asked.add(id)
    const found = await deps.collections.existing(tenantId, open)
    for (const collection of found) collections.set(collection.id, collection)
    const named = found.flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
    open = [...new Set(named)].filter((id) => !asked.has(id))
  }
  return collections
}

function joinablesWithinConditions(collections: ReadonlyMap<string, Collection>): string[] {
  const named = [...collections.values()].flatMap(({ kind, refersTo }) => (kind === 'criteria' ? refersTo : []))
  return [...new Set(named)].filter((id) => collections.get(id)?.kind === 'joinable')
}

function identitiesBehind(members: CollectionMembers | undefined, people: People): string[] {
  if (members === undefined) return []
  if (members.kind === 'joinable') {
    return members.memberships.map(({ identityId }) => identityId).filter((id) => people.has('identity', id))
  }
  switch (CORE_TYPE[members.objectType]) {
    case 'identity':
      return [...members.ids]
    case 'relationship':
      return [...members.ids].flatMap((id) => people.holderOf(id) ?? [])
    case 'orgUnit':
      return [...members.ids].flatMap((id) => people.holdersIn(id))
  }
}

function objectTypeOf({ objectType }: Collection): CriteriaObjectType {
  return objectType as CriteriaObjectType
}

/** A set that finds out about an id when it is asked, and remembers. For looking one object up, not for walking through. */
class AskedSet extends Set<string> {
  readonly #answers = new Map<string, boolean>()
  readonly #ask: (id: string) => boolean

  constructor(ask: (id: string) => boolean) {
    super()
    this.#ask = ask
  }

  override has(id: string): boolean {
    const known = this.#answers.get(id)
    if (known !== undefined) return known
    const answer = this.#ask(id)
    this.#answers.set(id, answer)
    return answer
  }
}
