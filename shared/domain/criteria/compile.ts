import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { ObjectType } from '../core/core-object.ts'
import type { Column } from '../tenant-index/rows/column.ts'
import type { ColumnValues } from '../tenant-index/rows/column-values.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { arranged, commonObject, type KnownLeaves, withEqualLeavesShared } from './arrange-condition.ts'
import { COMPUTED_ATTRIBUTES, type ComputedName, isComputed } from './computed-attributes.ts'
import { type ComputedTest, computedTest } from './computed-test.ts'
import { computedValues } from './computed-values.ts'
import {
  type CheckedCondition,
  type CheckedLeaf,
  type CheckedNode,
  type GroupOperator,
  readsToday,
} from './condition.ts'
import { derivedTextsOf } from './derived-texts.ts'
import { isNegative, leafTest } from './leaf-test.ts'
import { LeafVerdicts } from './leaf-verdicts.ts'
import { type PairTest, pairTest } from './pair-test.ts'
import { schemaSource } from './schema.ts'

/** The order of the three objects in a row. */
export const ROW_PLACE = { identity: 0, orgUnit: 1, relationship: 2 } as const satisfies Record<ObjectType, number>

/**
 * A node bound to the columns that it reads. `reads` is the object of the row that it depends on, if it is only one.
 */
export type BoundNode =
  | BoundComputed
  | BoundLeaf
  | BoundPair
  | BoundToday
  | BoundMembership
  | BoundGroup
  | BoundAnyPosition
export type BoundLeaf = {
  readonly kind: 'leaf'
  readonly reads: ObjectType
  readonly place: number
  readonly column: Column
  readonly verdicts: LeafVerdicts
  readonly negative: boolean
  readonly leaf: CheckedLeaf
}
/** A column of one of the objects on a row. */
export type RowColumn = { readonly place: number; readonly column: Column }
/** A leaf that compares two attributes. */
export type BoundPair = {
  readonly kind: 'pair'
  readonly reads: ObjectType | undefined
  /** Undefined for the field `Today()`. */
  readonly field: RowColumn | undefined
  readonly operand: RowColumn
  readonly test: PairTest
  readonly negative: boolean
  readonly leaf: CheckedLeaf
}
/** A leaf on a computed attribute, which follows from one object of the row. */
type BoundComputed = {
  readonly kind: 'computed'
  readonly reads: ObjectType
  readonly place: number
  readonly test: ComputedTest
  readonly name: ComputedName
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
  /** Leaves at any depth. */
  readonly leafCount: number
  /** Whether any leaf tests the members of collections. */
  readonly readsMembers: boolean
  readonly reads: ObjectType | undefined
  readonly operator: GroupOperator
  readonly children: readonly BoundNode[]
}

/** A group that holds on the rows of an identity when it holds on one of them. */
export type BoundAnyPosition = {
  readonly kind: 'anyPosition'
  readonly reads: 'identity'
  readonly leafCount: number
  readonly readsMembers: boolean
  readonly group: BoundGroup
}

/** A condition prepared for repeated evaluation. It caches results about distinct values for as long as these exist. */
export class CompiledCondition {
  readonly #root: CheckedNode
  /** Weak: a cached condition must not keep an evicted snapshot in memory. */
  #bound = new WeakMap<RowSnapshot, BoundNode>()
  /** By values, which the forks of a snapshot share. */
  #verdicts = new WeakMap<ColumnValues, Map<CheckedLeaf, LeafVerdicts>>()

  #preparations = new WeakMap<RowSnapshot, ((todayMs: number) => Task<void>)[]>()

  /** @param root Equal leaves must be the same object, so that they are evaluated once. */
  constructor(root: CheckedNode) {
    this.#root = root
  }

  /** The condition bound to the columns of a snapshot. */
  boundTo(snapshot: RowSnapshot): BoundNode {
    const known = this.#bound.get(snapshot)
    if (known !== undefined) return known
    const bound = this.#bind(this.#root, snapshot)
    this.#bound.set(snapshot, bound)
    return bound
  }

  /** Whether `prepared` has anything to find. */
  needsPreparation(snapshot: RowSnapshot): boolean {
    this.boundTo(snapshot)
    return this.#preparations.has(snapshot)
  }

  /** Finds in steps what its computed attributes need. */
  *prepared(snapshot: RowSnapshot, todayMs: number): Task<void> {
    this.boundTo(snapshot)
    for (const prepare of this.#preparations.get(snapshot) ?? []) yield* prepare(todayMs)
  }

  /** The memory of the cached results on a snapshot. */
  sizeBytes(snapshot: RowSnapshot): number {
    const bound = this.#bound.get(snapshot)
    return bound === undefined ? 0 : verdictBytes(bound)
  }

  /** Drops the cached results. */
  release(): void {
    this.#bound = new WeakMap()
    this.#verdicts = new WeakMap()
  }

  #bind(node: CheckedNode, snapshot: RowSnapshot): BoundNode {
    if (node.kind === 'leaf') return this.#bindLeaf(node, snapshot)
    const children = node.children.map((child) => this.#bind(child, snapshot))
    const leafCount = children.reduce((sum, child) => sum + ('leafCount' in child ? child.leafCount : 1), 0)
    const isOfMembers = (child: BoundNode) =>
      'readsMembers' in child ? child.readsMembers : child.kind === 'membership'
    const readsMembers = children.some(isOfMembers)
    const reads = commonObject(children)
    const group: BoundGroup = { kind: 'group', reads, operator: node.operator, leafCount, readsMembers, children }
    return node.over === undefined ? group : { kind: 'anyPosition', reads: 'identity', leafCount, readsMembers, group }
  }

  #bindLeaf(leaf: CheckedLeaf, snapshot: RowSnapshot): BoundNode {
    if (leaf.operand !== undefined) return this.#bindPair(leaf, leaf.operand, snapshot)
    if (readsToday(leaf)) return { kind: 'today', reads: undefined, leaf }
    const source = schemaSource(leaf.name)
    if (source === undefined) throw new Error(`${leaf.name} is not an attribute that rows have`)
    const negative = isNegative(leaf)
    if (source.kind === 'collections') {
      return { kind: 'membership', reads: undefined, collectionIds: leaf.values.map(String), negative }
    }
    if (source.kind === 'computed') {
      const { objectType: reads, name } = source
      const test = computedTest(leaf, name, snapshot)
      const preparations = this.#preparations.get(snapshot) ?? []
      if (test.prepare !== undefined) this.#preparations.set(snapshot, [...preparations, test.prepare])
      return { kind: 'computed', reads, place: ROW_PLACE[reads], test, name, negative }
    }
    const { objectType, attribute } = source
    const column = snapshot.tables[objectType].column(attribute)
    const verdicts = this.#verdictsOf(leaf, column.values, snapshot)
    return { kind: 'leaf', reads: objectType, place: ROW_PLACE[objectType], column, verdicts, negative, leaf }
  }

  #bindPair(leaf: CheckedLeaf, operandName: string, snapshot: RowSnapshot): BoundPair {
    const operand = columnNamed(operandName, snapshot)
    if (isComputed(leaf.name)) return computedPair(leaf, leaf.name, operand, snapshot)
    const field = readsToday(leaf) ? undefined : columnNamed(leaf.name, snapshot)
    const columns = { values: field?.column.values, others: operand.column.values }
    const test = pairTest(leaf, columns, derivedTextsOf(snapshot.family))
    const isOfOne = field === undefined || field.place === operand.place
    const reads = isOfOne ? operand.column.objectType : undefined
    return { kind: 'pair', reads, field, operand, test, negative: isNegative(leaf), leaf }
  }

  #verdictsOf(leaf: CheckedLeaf, values: ColumnValues, { family }: RowSnapshot): LeafVerdicts {
    const decided = this.#verdicts.get(values) ?? new Map<CheckedLeaf, LeafVerdicts>()
    this.#verdicts.set(values, decided)
    const verdicts = decided.get(leaf) ?? new LeafVerdicts(leafTest(leaf, values, derivedTextsOf(family)), values)
    decided.set(leaf, verdicts)
    return verdicts
  }
}

/** Compares the list of an object, which its id stands for, with an attribute of the row. */
function computedPair(leaf: CheckedLeaf, name: ComputedName, operand: RowColumn, rows: RowSnapshot): BoundPair {
  const { of } = COMPUTED_ATTRIBUTES[name]
  const field = { place: ROW_PLACE[of], column: rows.tables[of].column('id') }
  const values = computedValues(name, rows)
  const { values: others } = operand.column
  const { ids } = rows.tables.orgUnit
  const unitOf = (code: number) => {
    if (others.kind === 'reference') return others.target === ids ? code : ids.codeOf(others.target.idOf(code))
    return others.kind === 'text' ? ids.codeOf(others.dictionary.textOf(code)) : 0
  }
  const isTrue = (code: number) => others.kind === 'text' && others.dictionary.textOf(code) === 'true'
  const test: PairTest =
    COMPUTED_ATTRIBUTES[name].type === 'Boolean'
      ? (slot, code, todayMs) => values.valueAt(slot, todayMs) === isTrue(code)
      : (slot, code) => values.contains(slot, unitOf(code))
  const reads = field.place === operand.place ? of : undefined
  return { kind: 'pair', reads, field, operand, test, negative: isNegative(leaf), leaf }
}

function columnNamed(name: string, { tables }: RowSnapshot): RowColumn {
  const source = schemaSource(name)
  if (source?.kind !== 'attribute') throw new Error(`${name} is not an attribute that rows have`)
  return { place: ROW_PLACE[source.objectType], column: tables[source.objectType].column(source.attribute) }
}

function verdictBytes(node: BoundNode): number {
  if (node.kind === 'anyPosition') return verdictBytes(node.group)
  if (node.kind === 'group') return node.children.reduce((sum, child) => sum + verdictBytes(child), 0)
  return node.kind === 'leaf' ? node.verdicts.sizeBytes : 0
}

/**
 * Compiles a condition, in an order of its nodes that is evaluated at less cost.
 * @param leaves Of other conditions with which this one can share results: equal leaves become the same object.
 */
export function compile(condition: CheckedCondition, leaves: KnownLeaves = new Map()): CompiledCondition {
  return new CompiledCondition(arranged(withEqualLeavesShared(condition.root, leaves)).node)
}

/** Compiles a condition so that its nodes stay where they stand in the tree, for an explanation. */
export function compileAsWritten(condition: CheckedCondition): CompiledCondition {
  return new CompiledCondition(condition.root)
}
