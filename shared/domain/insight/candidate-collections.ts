import { LRUCache } from 'lru-cache'
import { upToEntries } from '../../kernel/cache-size.ts'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { type CachedCondition, compiledTask, lazyContextOver } from '../collections/live-members.ts'
import { isSameCustomTypes } from '../core/custom-types.ts'
import type { JoinedMembership } from '../criteria/collection-members.ts'
import type { CompiledCondition } from '../criteria/compile.ts'
import type { EvaluationContext } from '../criteria/evaluation-context.ts'
import { isRowOfTask } from '../criteria/row-test.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

/** The criteria collections in which a person may be stored, and what they were evaluated from. */
export type Candidates = {
  readonly revision: object
  readonly definitions: object
  readonly joined: string
  readonly todayMs: number
  readonly collectionIds: ReadonlySet<string>
}

export type CandidateDependencies = Pick<CollectionDependencies, 'joined' | 'snapshots' | 'scheduler' | 'nowMs' | 'log'>

/** Tenants whose list of collections is kept, to see that it is the same. */
const TENANTS_KEPT_COUNT = 100
/** Compiled conditions kept in memory: as many as a tenant may have collections. */
const CONDITIONS_KEPT_COUNT = 5000

/**
 * Finds the criteria collections in which a person may be stored as a member: those whose condition holds now for the
 * person or a position. Evaluates in memory, and caches compiled conditions.
 */
export class CandidateCollections {
  readonly #deps: CandidateDependencies
  readonly #conditions = new LRUCache<string, CachedCondition>(upToEntries(CONDITIONS_KEPT_COUNT))
  readonly #lists = new LRUCache<string, { readonly list: readonly Collection[]; readonly definitions: object }>({
    max: TENANTS_KEPT_COUNT,
  })

  constructor(deps: CandidateDependencies) {
    this.#deps = deps
  }

  /** The candidates, evaluated again only when rows, definitions, the own memberships or the day have changed. */
  async of(
    former: Candidates | undefined,
    { tenantId, identityId }: { readonly tenantId: string; readonly identityId: string },
    collections: ReadonlyMap<string, Collection>,
    own: ReadonlyMap<string, readonly JoinedMembership[]>,
    rows: RowSnapshot,
  ): Promise<Candidates> {
    const joined = [...own].map(([id, all]) => `${id} ${all.map(({ relationshipId }) => relationshipId).join()}`).join()
    const definitions = this.#definitionsOf(tenantId, [...collections.values()])
    const from = { revision: rows.revision, definitions, joined, todayMs: dayOn(rows, this.#deps.nowMs()) }
    const isSame =
      former?.revision === from.revision &&
      former.definitions === from.definitions &&
      former.joined === from.joined &&
      former.todayMs === from.todayMs
    if (isSame) return former
    return { ...from, collectionIds: await this.#holding(tenantId, identityId, collections, own, rows) }
  }

  /** The same object for as long as the tenant has the same definitions. */
  #definitionsOf(tenantId: string, list: readonly Collection[]): object {
    const kept = this.#lists.get(tenantId)
    const isSame = kept?.list.length === list.length && kept.list.every((item, index) => item === list[index])
    // The members of joinable collections that conditions of org units test can change without any of these.
    const testsOthers = list.some(({ objectType, kind, refersTo }) => {
      return kind === 'criteria' && objectType === 'OrgUnit' && refersTo.length > 0
    })
    if (isSame && !testsOthers) return kept.definitions
    const definitions = {}
    this.#lists.set(tenantId, { list, definitions })
    return definitions
  }

  /** The criteria collections whose condition holds for the person now, and those whose condition cannot be evaluated. */
  async #holding(
    tenantId: string,
    identityId: string,
    collections: ReadonlyMap<string, Collection>,
    own: ReadonlyMap<string, readonly JoinedMembership[]>,
    rows: RowSnapshot,
  ): Promise<ReadonlySet<string>> {
    const { joined, scheduler, snapshots, nowMs } = this.#deps
    const criteria = [...collections.values()].filter(({ kind }) => kind === 'criteria')
    const conditions = await scheduler.run(this.#compiled(criteria, rows))
    // Of the other people of an org unit, the memberships are needed as well.
    const nested = joinablesBehindUnits(collections)
    const others = nested.length === 0 ? new Map() : await joined.of(tenantId, nested)
    const { context, running } = lazyContextOver(
      collections,
      rows,
      dayOn(rows, nowMs()),
      (id) => others.get(id)?.memberships ?? own.get(id) ?? [],
      ({ id }) => conditions.get(id) as CompiledCondition,
    )
    const ofPeople = criteria.filter(({ objectType }) => objectType !== 'OrgUnit').map(({ id }) => id)
    const evaluable = ofPeople.filter((id) => conditions.has(id))
    const found = await snapshots.reading(rows, running(holdingTask(evaluable, identityId, rows, context)))
    for (const id of ofPeople) if (!conditions.has(id)) found.add(id)
    return found
  }

  /** The conditions, without those that are invalid or refer to such a collection. */
  *#compiled(criteria: readonly Collection[], rows: RowSnapshot): Task<ReadonlyMap<string, CompiledCondition>> {
    const { types } = rows.settings
    const conditions = new Map<string, CompiledCondition>()
    const invalid = new Set<string>()
    for (const collection of criteria) {
      const { tenantId, id, definitionVersion } = collection
      const key = `${tenantId}:${id}`
      const former = this.#conditions.get(key)
      try {
        const isSame = former?.definitionVersion === definitionVersion && isSameCustomTypes(former.types, types)
        const condition = isSame ? former.condition : yield* compiledTask(collection, types)
        if (!isSame) this.#conditions.set(key, { definitionVersion, types, condition })
        conditions.set(id, condition)
      } catch (error) {
        this.#deps.log.error('collection.invalid', error, { tenantId, collectionId: id })
        invalid.add(id)
        continue
      }
      yield
      conditions.get(id)?.boundTo(rows)
    }
    for (let foundCount = 0; foundCount < invalid.size; ) {
      foundCount = invalid.size
      for (const { id, refersTo } of criteria) if (refersTo.some((to) => invalid.has(to))) invalid.add(id)
    }
    for (const id of invalid) conditions.delete(id)
    return conditions
  }
}

/** The joinable collections to which the conditions of org units refer, directly or through other conditions. */
function joinablesBehindUnits(collections: ReadonlyMap<string, Collection>): string[] {
  const isOfUnits = ({ kind, objectType }: Collection) => kind === 'criteria' && objectType === 'OrgUnit'
  const open = [...collections.values()].filter(isOfUnits)
  const behind = new Set<Collection>()
  for (let collection = open.pop(); collection !== undefined; collection = open.pop()) {
    if (behind.has(collection)) continue
    behind.add(collection)
    if (collection.kind === 'criteria') open.push(...collection.refersTo.flatMap((id) => collections.get(id) ?? []))
  }
  return [...behind].filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
}

/** The collections that have one of the rows of the person as a member. */
function* holdingTask(
  collectionIds: readonly string[],
  identityId: string,
  rows: RowSnapshot,
  context: EvaluationContext,
): Task<Set<string>> {
  const own = rows.rowsOf('identity', identityId)
  const found = new Set<string>()
  for (const id of collectionIds) {
    for (const row of own) {
      yield
      if (!(yield* isRowOfTask(id, row, rows, context))) continue
      found.add(id)
      break
    }
  }
  return found
}
