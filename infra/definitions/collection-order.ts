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
  /** Names of new criteria collections that refer to each other, the first one repeated at the end. */
  readonly circle: readonly string[] | undefined
}

/**
 * Orders collections so that references exist when they are needed, and no circle exists in between: new ones first,
 * since nothing refers to them yet. Pure.
 */
export function orderCollections(collections: readonly OrderedCollection[]): CollectionOrder {
  const sorted = collections.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const added = sorted.filter(({ isNew }) => isNew)
  const byId = new Map(added.map((collection) => [collection.id, collection]))
  const incomplete = added.filter(({ id, kind }) => kind === 'joinable' && reaches(id, byId)).map(({ id }) => id)
  const creations = afterReferences(added, incomplete)
  const changes = afterReferences(
    sorted.filter(({ isNew }) => !isNew),
    [],
  )
  return {
    order: [...creations.order, ...changes.order],
    incomplete: new Set(incomplete),
    circle: creations.circle?.map((id) => byId.get(id)?.name ?? id),
  }
}

/** The ids in an order in which each comes after those that it refers to, and a circle that prevents it. */
function afterReferences(collections: readonly OrderedCollection[], first: readonly string[]) {
  const byId = new Map(collections.map((collection) => [collection.id, collection]))
  const [order, path, done]: [string[], string[], Set<string>] = [[...first], [], new Set(first)]
  let circle: string[] | undefined
  const visit = (id: string): void => {
    const collection = byId.get(id)
    if (collection === undefined || done.has(id)) return
    const begun = path.indexOf(id)
    if (begun >= 0) {
      circle ??= [...path.slice(begun), id]
      return
    }
    path.push(id)
    for (const next of collection.refersTo) visit(next)
    path.pop()
    done.add(id)
    order.push(id)
  }
  for (const { id } of collections) visit(id)
  return { order, circle }
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
