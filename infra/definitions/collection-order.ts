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
  const byId = new Map(added.map((collection) => [collection.id, collection]))
  const incomplete = added.filter(({ id, kind }) => kind === 'joinable' && reaches(id, byId)).map(({ id }) => id)
  const isIncomplete = new Set(incomplete)
  const creations = afterReferences(
    added.filter(({ id }) => !isIncomplete.has(id)),
    [],
  )
  // Only members depend on members: a policy may refer to any collection that exists.
  const dependent = [...sorted, ...unchanged].filter(({ kind }) => kind === 'criteria')
  const changed = sorted.filter(({ isNew }) => !isNew)
  const changedIds = new Set(changed.map(({ id }) => id))
  const changes = afterReferences(
    changed.filter(({ kind }) => kind === 'criteria'),
    dependent.filter(({ id }) => !changedIds.has(id)),
  )
  const policies = changed.filter(({ kind }) => kind === 'joinable').map(({ id }) => id)
  return {
    order: [...incomplete, ...creations, ...changes.filter((id) => changedIds.has(id)), ...policies],
    incomplete: isIncomplete,
    circle: circleOf(dependent),
  }
}

/** The ids in an order in which each comes after those that it refers to, directly or over others. */
function afterReferences(collections: readonly OrderedCollection[], others: readonly OrderedCollection[]): string[] {
  const byId = new Map([...others, ...collections].map((collection) => [collection.id, collection]))
  const [order, visited]: [string[], Set<string>] = [[], new Set()]
  const visit = ({ id, refersTo }: OrderedCollection): void => {
    if (visited.has(id)) return
    visited.add(id)
    for (const next of refersTo.flatMap((other) => byId.get(other) ?? [])) visit(next)
    order.push(id)
  }
  for (const collection of collections) visit(collection)
  return order
}

/** The names along a circle of references, the first one repeated at the end. */
function circleOf(collections: readonly OrderedCollection[]): readonly string[] | undefined {
  const byId = new Map(collections.map((collection) => [collection.id, collection]))
  const [path, done]: [OrderedCollection[], Set<string>] = [[], new Set()]
  const visit = (collection: OrderedCollection): readonly string[] | undefined => {
    if (done.has(collection.id)) return undefined
    const begun = path.indexOf(collection)
    if (begun >= 0) return [...path.slice(begun), collection].map(({ name }) => name)
    path.push(collection)
    for (const next of collection.refersTo.flatMap((id) => byId.get(id) ?? [])) {
      const circle = visit(next)
      if (circle !== undefined) return circle
    }
    path.pop()
    done.add(collection.id)
    return undefined
  }
  for (const collection of collections) {
    const circle = visit(collection)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** Whether references lead from a new collection back to it. */
function reaches(start: string, byId: ReadonlyMap<string, OrderedCollection>): boolean {
  const seen = new Set<string>()
  const open = [...(byId.get(start)?.refersTo ?? [])]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === start) return true
    if (seen.has(id)) continue
    seen.add(id)
    open.push(...(byId.get(id)?.refersTo ?? []))
  }
  return false
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
