import type { ObjectType } from '../core/core-object.ts'
import type { Column } from './column.ts'
import type { CheckedCondition, CheckedGroup, CheckedLeaf, CheckedNode, GroupOperator, Operator } from './condition.ts'
import { readsToday } from './condition.ts'
import { isNegative, leafTest } from './leaf-test.ts'
import { LeafVerdicts } from './leaf-verdicts.ts'
import type { RowSnapshot } from './row-snapshot.ts'
import { schemaSource } from './schema.ts'

/** The order of the three objects in a row. */
export const ROW_PLACE = { identity: 0, orgUnit: 1, relationship: 2 } as const satisfies Record<ObjectType, number>

/** A node tied to the columns it reads. `reads` is the one object of the row that decides it, if it is only one. */
export type BoundNode = BoundLeaf | BoundToday | BoundMembership | BoundGroup
export type BoundLeaf = {
  readonly kind: 'leaf'
  readonly reads: ObjectType
  readonly place: number
  readonly column: Column
  readonly verdicts: LeafVerdicts
  readonly negative: boolean
}
type BoundToday = { readonly kind: 'today'; readonly reads: undefined; readonly leaf: CheckedLeaf }
export type BoundMembership = {
  readonly kind: 'membership'
  readonly reads: undefined
  readonly collectionIds: readonly string[]
  readonly negative: boolean
}
export type BoundGroup = {
  readonly kind: 'group'
  readonly reads: ObjectType | undefined
  readonly operator: GroupOperator
  readonly children: readonly BoundNode[]
}

/** A condition made ready to be evaluated again and again. What it decides about a snapshot's values lives as long as both. */
export class CompiledCondition {
  readonly #root: CheckedNode
  /** Weakly: a compiled condition that is kept must not keep a snapshot that nobody uses any more. */
  readonly #bound = new WeakMap<RowSnapshot, BoundNode>()

  constructor(root: CheckedNode) {
    this.#root = root
  }

  /** The tree over this snapshot's columns. */
  boundTo(snapshot: RowSnapshot): BoundNode {
    const known = this.#bound.get(snapshot)
    if (known !== undefined) return known
    const bound = bind(this.#root, snapshot)
    this.#bound.set(snapshot, bound)
    return bound
  }
}

/** Puts cheap children first, and together what one object of the row decides: it is then decided once per object, not per row. */
export function compile(condition: CheckedCondition): CompiledCondition {
  return new CompiledCondition(arranged(condition.root))
}

function arranged(node: CheckedNode): CheckedNode {
  if (node.kind === 'leaf') return node
  const children = node.children.map(arranged)
  const byCost = (left: CheckedNode, right: CheckedNode): number => cost(left) - cost(right)
  if (node.operator === 'XOR' || objectRead(node) !== undefined) return { ...node, children: children.sort(byCost) }
  const rest = children.filter((child) => objectRead(child) !== 'identity' && objectRead(child) !== 'orgUnit')
  // NOT holds where no child does, so the children of a part are joined as in OR.
  const operator = node.operator === 'AND' ? 'AND' : 'OR'
  for (const objectType of ['identity', 'orgUnit']) {
    const part = children.filter((child) => objectRead(child) === objectType).sort(byCost)
    rest.push(...(part.length > 1 ? [{ kind: 'group', operator, children: part } satisfies CheckedGroup] : part))
  }
  return { ...node, children: rest.sort(byCost) }
}

/** Roughly what deciding costs per value, so that the dear leaves are asked about what the cheap ones left over. */
function cost(node: CheckedNode): number {
  if (node.kind === 'group') return node.children.reduce((sum, child) => sum + cost(child), 1)
  const reach = objectRead(node) === 'relationship' ? 1 : 2
  if (node.functions.length > 0) return reach + 12
  return CHEAP_OPERATORS.has(node.operator) ? reach : reach + 4
}

/** Those whose values are looked up rather than compared with every value there is. */
const CHEAP_OPERATORS: ReadonlySet<Operator> = new Set(['Equals', 'NotEquals', 'In', 'IsNull'])

/** The one object of the row that decides a node; undefined when it takes several, or none. */
function objectRead(node: CheckedNode): ObjectType | undefined {
  if (node.kind === 'group') {
    const [first, ...others] = node.children.map(objectRead)
    return others.every((other) => other === first) ? first : undefined
  }
  const source = readsToday(node) ? undefined : schemaSource(node.name)
  return source?.kind === 'attribute' ? source.objectType : undefined
}

function bind(node: CheckedNode, snapshot: RowSnapshot): BoundNode {
  if (node.kind === 'group') {
    const children = node.children.map((child) => bind(child, snapshot))
    return { kind: 'group', reads: objectRead(node), operator: node.operator, children }
  }
  if (readsToday(node)) return { kind: 'today', reads: undefined, leaf: node }
  const source = schemaSource(node.name)
  if (source === undefined) throw new Error(`${node.name} is not an attribute that rows have`)
  const negative = isNegative(node)
  if (source.kind === 'collections') {
    return { kind: 'membership', reads: undefined, collectionIds: node.values.map(String), negative }
  }
  const { objectType, attribute } = source
  const column = snapshot.tables[objectType].column(attribute)
  const verdicts = new LeafVerdicts(leafTest(node, column.values), column.values)
  return { kind: 'leaf', reads: objectType, place: ROW_PLACE[objectType], column, verdicts, negative }
}
