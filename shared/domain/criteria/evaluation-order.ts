/** Collections in dependency order, each after those it refers to, and collections that no order can contain. */
export type EvaluationOrder = { readonly order: readonly string[]; readonly cyclic: readonly string[] }

/**
 * Sorts collections topologically by their references and otherwise keeps their order. References to other ids are
 * ignored. `cyclic` has the collections that are in a cycle or refer to one.
 */
export function evaluationOrder(references: ReadonlyMap<string, Iterable<string>>): EvaluationOrder {
  const waitingFor = new Map<string, number>()
  const referrers = new Map<string, string[]>([...references.keys()].map((id) => [id, []]))
  for (const [id, targets] of references) {
    const known = [...new Set(targets)].filter((target) => references.has(target))
    waitingFor.set(id, known.length)
    for (const target of known) referrers.get(target)?.push(id)
  }
  const order = [...waitingFor].flatMap(([id, count]) => (count === 0 ? [id] : []))
  for (let index = 0; index < order.length; index += 1) {
    for (const referrer of referrers.get(order[index] as string) ?? []) {
      const left = (waitingFor.get(referrer) as number) - 1
      waitingFor.set(referrer, left)
      if (left === 0) order.push(referrer)
    }
  }
  return { order, cyclic: [...waitingFor].flatMap(([id, count]) => (count > 0 ? [id] : [])) }
}

/**
 * The cycle through `id` that these references would create: its ids in order, `id` first and last. Undefined when
 * there is none.
 * @param referencesOf The references of the other collections.
 */
export function findCycle(
  id: string,
  references: Iterable<string>,
  referencesOf: (id: string) => Iterable<string>,
): string[] | undefined {
  const cameFrom = new Map<string, string>()
  const open: string[] = []
  const discover = (target: string, from: string): void => {
    if (cameFrom.has(target)) return
    cameFrom.set(target, from)
    open.push(target)
  }
  for (const target of references) discover(target, id)
  while (!cameFrom.has(id)) {
    const current = open.pop()
    if (current === undefined) return undefined
    for (const target of referencesOf(current)) discover(target, current)
  }
  const path = [id]
  let at = cameFrom.get(id) as string
  while (at !== id) {
    path.push(at)
    at = cameFrom.get(at) as string
  }
  return [...path, id].reverse()
}
