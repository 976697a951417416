import { chunk } from '../../../kernel/chunk.ts'
import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import type { CheckedGroup, CheckedLeaf, CheckedNode, GroupRange } from '../condition.ts'
import { LEAVES_AT_ONCE_COUNT, type ProofContext, possibleResults, subjectOf } from './possible-results.ts'

/** Whether a node holds on every row, on none, or on some as far as is known. */
type Constancy = 'always' | 'never' | 'sometimes'

/** The constancy of the nodes of a condition that were looked at. */
export type Verdicts = ReadonlyMap<CheckedNode, Constancy>

/** Finds the constancy of the nodes of one condition, by all results that their leaves can have together. */
export class ConstancyAnalysis {
  readonly context: ProofContext
  readonly #verdicts = new Map<CheckedNode, Constancy>()

  constructor(context: ProofContext) {
    this.context = context
  }

  /** The different leaves among nodes on the same attribute, at most 12 at once. */
  siblings(nodes: readonly CheckedNode[]): CheckedLeaf[][] {
    const leaves = nodes.filter((node) => node.kind === 'leaf')
    const different = [...new Map(leaves.map((leaf) => [keyOf(leaf), leaf])).values()]
    return [...Map.groupBy(different, subjectOf).values()].flatMap((all) => chunk(all, LEAVES_AT_ONCE_COUNT))
  }

  *verdicts(root: CheckedGroup): Task<Verdicts> {
    yield* this.#visit(root)
    return this.#verdicts
  }

  *#visit(node: CheckedNode): Task<Constancy> {
    yield
    if (isOverPositions(node)) {
      const { over: _over, ...group } = node
      // It may hold on no row, because a row without a person satisfies no such group.
      const holds = yield* this.#visit(group)
      return this.#found(node, holds === 'never' ? 'never' : 'sometimes')
    }
    const atoms = atomsOf(node)
    const decided = atoms.size <= LEAVES_AT_ONCE_COUNT ? yield* this.#decide(node, [...atoms.values()]) : undefined
    if (decided !== undefined) return decided
    if (node.kind === 'leaf') return this.#found(node, 'sometimes')
    const children: Constancy[] = []
    for (const child of node.children) children.push(yield* this.#visit(child))
    const combined = combine(node.operator, children)
    return this.#found(node, combined === 'sometimes' ? this.#byOwnLeaves(node) : combined)
  }

  #found(node: CheckedNode, verdict: Constancy): Constancy {
    this.#verdicts.set(node, verdict)
    return verdict
  }

  /** By all results that the atoms can have together; undefined when these are not known. */
  *#decide(root: CheckedNode, atoms: readonly CheckedNode[]): Task<Constancy | undefined> {
    for (const atom of atoms) if (isOverPositions(atom)) yield* this.#visit(atom)
    const possible = this.#possible(atoms)
    if (possible === undefined) return undefined
    const places = new Map(atoms.map((atom, index) => [keyOf(atom), index]))
    const tableOf = (node: CheckedNode): Uint8Array => {
      const place = isAtom(node) ? places.get(keyOf(node)) : undefined
      const table =
        place === undefined ? combined(node as CheckedGroup, tableOf, possible.length) : bitsAt(place, possible)
      if (!isOverPositions(node)) this.#found(node, constancyOf(table))
      return table
    }
    tableOf(root)
    return this.#verdicts.get(root)
  }

  /** The combinations of the results of atoms, bit by bit. A group over all positions may hold or not. */
  #possible(atoms: readonly CheckedNode[]): Uint16Array | undefined {
    const bySubject = Map.groupBy(atoms.keys(), (index) => {
      const atom = atoms[index] as CheckedNode
      return atom.kind === 'leaf' ? subjectOf(atom) : keyOf(atom)
    })
    let masks = Uint16Array.of(0)
    for (const places of bySubject.values()) {
      const leaves = places.map((index) => atoms[index] as CheckedNode)
      const results = leaves.every((leaf) => leaf.kind === 'leaf')
        ? possibleResults(leaves, this.context)
        : new Set(this.#verdicts.get(leaves[0] as CheckedNode) === 'never' ? [0] : [0, 1])
      if (results === undefined) return undefined
      masks = product(
        masks,
        [...results].map((result) => placedAt(places, result)),
      )
    }
    return masks
  }

  /** By the leaves of the group itself on one attribute, of a group that is too large to be decided. */
  #byOwnLeaves({ operator, children }: CheckedGroup): Constancy {
    if (operator === 'XOR') return 'sometimes'
    const wanted = operator === 'AND' ? (count: number) => (1 << count) - 1 : () => 0
    for (const leaves of this.siblings(children)) {
      const results = possibleResults(leaves, this.context)
      if (results === undefined || results.has(wanted(leaves.length))) continue
      return operator === 'OR' ? 'always' : 'never'
    }
    return 'sometimes'
  }
}

export type GroupOverPositions = CheckedGroup & { readonly over: GroupRange }

export function isOverPositions(node: CheckedNode): node is GroupOverPositions {
  return node.kind === 'group' && node.over !== undefined
}

/** Whether the node is decided by its own results alone. */
function isAtom(node: CheckedNode): node is CheckedLeaf | GroupOverPositions {
  return node.kind === 'leaf' || isOverPositions(node)
}

const keys = new WeakMap<CheckedNode, string>()

/** Equal for nodes that are written in the same way. */
export function keyOf(node: CheckedNode): string {
  const key = keys.get(node) ?? JSON.stringify(node)
  keys.set(node, key)
  return key
}

/** The different leaves and groups over all positions. They are more than can be decided if there is one too many. */
function atomsOf(node: CheckedNode, atoms = new Map<string, CheckedNode>()): Map<string, CheckedNode> {
  if (isAtom(node)) atoms.set(keyOf(node), node)
  else for (const child of node.children) if (atoms.size <= LEAVES_AT_ONCE_COUNT) atomsOf(child, atoms)
  return atoms
}

function placedAt(places: readonly number[], result: number): number {
  return places.reduce((mask, place, index) => mask | (((result >>> index) & 1) << place), 0)
}

function product(masks: Uint16Array, others: readonly number[]): Uint16Array<ArrayBuffer> {
  const all = new Uint16Array(masks.length * others.length)
  let at = 0
  for (const mask of masks) for (const other of others) all[at++] = mask | other
  return all
}

/** The result of one atom for each combination. */
function bitsAt(place: number, masks: Uint16Array): Uint8Array {
  const bits = new Uint8Array(masks.length)
  for (let index = 0; index < masks.length; index += 1) bits[index] = ((masks[index] as number) >>> place) & 1
  return bits
}

/** The results of a group for each combination. */
function combined(
  { operator, children }: CheckedGroup,
  tableOf: (node: CheckedNode) => Uint8Array,
  length: number,
): Uint8Array {
  const counts = new Uint16Array(length)
  for (const child of children) {
    const table = tableOf(child)
    for (let index = 0; index < length; index += 1) counts[index] = (counts[index] as number) + (table[index] as number)
  }
  const results = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) {
    results[index] = Number(holdsWith(operator, counts[index] as number, children.length))
  }
  return results
}

function constancyOf(table: Uint8Array): Constancy {
  if (!table.includes(1)) return 'never'
  return table.includes(0) ? 'sometimes' : 'always'
}

function holdsWith(operator: CheckedGroup['operator'], heldCount: number, count: number): boolean {
  switch (operator) {
    case 'AND':
      return heldCount === count
    case 'OR':
      return heldCount > 0
    case 'NOT':
      return heldCount === 0
    case 'XOR':
      return heldCount === 1
  }
}

/** What follows for a group from its children alone. */
function combine(operator: CheckedGroup['operator'], children: readonly Constancy[]): Constancy {
  const always = children.filter((child) => child === 'always').length
  const never = children.filter((child) => child === 'never').length
  const isKnown = always + never === children.length
  if (isKnown) return holdsWith(operator, always, children.length) ? 'always' : 'never'
  switch (operator) {
    case 'AND':
      return never > 0 ? 'never' : 'sometimes'
    case 'OR':
      return always > 0 ? 'always' : 'sometimes'
    case 'NOT':
      return always > 0 ? 'never' : 'sometimes'
    case 'XOR':
      return always > 1 ? 'never' : 'sometimes'
  }
}
