import { evaluationOrder, findCycle } from '../../shared/domain/criteria/evaluation-order.ts'

/** A collection to create or to change. */
export type OrderedCollection = {
  readonly id: string
  readonly name: string
  readonly kind: 'criteria' | 'joinable'
  /** It does not exist yet, so that nothing can refer to it before its creation. */
  readonly isNew: boolean
  /** Ids of the collections that its new definition refers to. */
  readonly refersTo: readonly string[]
}

export type CollectionOrder = {
  /** Each collection after those that it refers to. */
  readonly order: readonly string[]
  /** New joinable collections that refer to themselves over others: they are created first, without references. */
  readonly incomplete: ReadonlySet<string>
  /** Names of criteria collections whose members would depend on each other, the first one repeated at the end. */
  readonly circle: readonly string[] | undefined
}

/**
 * Orders collections so that references exist when they are needed, and no circle exists in between: new ones first,
 * since nothing refers to them yet. Pure.
 * @param unchanged the other collections, over which references lead as well
 */
export function orderCollections(
  collections: readonly OrderedCollection[],
  unchanged: readonly OrderedCollection[] = [],
): CollectionOrder {
  const sorted = collections.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const added = sorted.filter(({ isNew }) => isNew)
  const newReferences = referencesOf(added)
  const isIncomplete = ({ id, kind }: OrderedCollection) => kind === 'joinable' && !!circleThrough(id, newReferences)
  const incomplete = new Set(added.filter(isIncomplete).map(({ id }) => id))
  const creations = evaluationOrder(referencesOf(added.filter(({ id }) => !incomplete.has(id))))
  // Only members depend on members: a policy may refer to any collection that exists.
  const dependent = [...sorted, ...unchanged].filter(({ kind }) => kind === 'criteria')
  const references = referencesOf(dependent)
  const { order, cyclic } = evaluationOrder(references)
  const changed = sorted.filter(({ isNew }) => !isNew)
  const changedIds = new Set(changed.map(({ id }) => id))
  const policies = changed.filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
  const circles = cyclic.values().map((id) => circleThrough(id, references))
  const names = new Map(dependent.map(({ id, name }) => [id, name]))
  return {
    // With a circle, nothing is changed: the order of those in it does not matter.
    order: [
      ...incomplete,
      ...creations.order,
      ...creations.cyclic,
      ...[...order, ...cyclic].filter((id) => changedIds.has(id)),
      ...policies,
    ],
    incomplete,
    circle: circles.find((ids) => ids !== undefined)?.map((id) => names.get(id) ?? id),
  }
}

type References = ReadonlyMap<string, readonly string[]>

function referencesOf(collections: readonly OrderedCollection[]): References {
  return new Map(collections.map(({ id, refersTo }) => [id, refersTo]))
}

/** The ids along a circle of references through a collection, its own first and last. */
function circleThrough(id: string, references: References): readonly string[] | undefined {
  return findCycle(id, references.get(id) ?? [], (other) => references.get(other) ?? [])
}

/** Groups of ids that references connect, in whichever direction. @returns a name of the group of each id */
export function connectedGroups(references: Iterable<readonly [string, readonly string[]]>): (id: string) => string {
  const parents = new Map<string, string>()
  const rootOf = (id: string): string => {
    const parent = parents.get(id)
    if (parent === undefined || parent === id) return id
    const root = rootOf(parent)
    parents.set(id, root)
    return root
  }
  for (const [id, targets] of references) {
    for (const target of targets) parents.set(rootOf(id), rootOf(target))
  }
  return rootOf
}
