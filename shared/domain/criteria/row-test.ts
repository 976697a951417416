import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { LinkedType, ObjectType } from '../core/core-object.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { isRowOf, type Row } from './collection-members.ts'
import type { BoundAnyPosition, BoundMembership, BoundNode, BoundPair, RowColumn } from './compile.ts'
import type { GroupOperator } from './condition.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { holdsOn } from './leaf-test.ts'

/** Whether a group holds. Children that do not matter any more are not tested. */
export function groupHolds<T>(operator: GroupOperator, children: readonly T[], holds: (child: T) => boolean): boolean {
  switch (operator) {
    case 'AND':
      return children.every(holds)
    case 'OR':
      return children.some(holds)
    case 'NOT':
      return !children.some(holds)
    case 'XOR': {
      let held = 0
      for (const child of children) if (holds(child)) held += 1
      return held === 1
    }
  }
}

/** Whether the result of a node depends on members of collections. */
export function readsMembers(node: BoundNode): boolean {
  return 'readsMembers' in node ? node.readsMembers : node.kind === 'membership'
}

/**
 * Whether a row is a member of a collection, in the steps that the context needs to find out.
 * @see EvaluationContext.asksFor
 */
export function* isRowOfTask(
  collectionId: string,
  row: Row,
  snapshot: RowSnapshot,
  context: EvaluationContext,
): Task<boolean> {
  if (context.asksFor?.(collectionId, row) === true) yield
  const members = context.membersOf(collectionId)
  return members !== undefined && isRowOf(members, row, snapshot)
}

/** Tests conditions on one row at a time. */
export class RowTest {
  readonly #snapshot: RowSnapshot
  readonly #context: EvaluationContext
  /** The row being tested: its identity, org unit and relationship. Reused, because millions of rows are tested. */
  readonly #row: [number, number, number] = [0, 0, 0]

  /** By identity: a person with many positions is tested once, not once for each of them. */
  #ofIdentities: Map<BoundAnyPosition, Map<number, boolean>> | undefined

  constructor(snapshot: RowSnapshot, context: EvaluationContext) {
    this.#snapshot = snapshot
    this.#context = context
  }

  /**
   * The next tests are on the row of a slot: a relationship is a row, another object is a row without a relationship.
   */
  moveTo(objectType: ObjectType, slot: number): void {
    const isPosition = objectType === 'relationship'
    this.#row[0] = isPosition ? this.#linked('identity', slot) : objectType === 'identity' ? slot : 0
    this.#row[1] = isPosition ? this.#linked('orgUnit', slot) : objectType === 'orgUnit' ? slot : 0
    this.#row[2] = isPosition ? slot : 0
  }

  /** The next tests are on this row. */
  moveToRow([identity, orgUnit, relationship]: Row): void {
    this.#row[0] = identity
    this.#row[1] = orgUnit
    this.#row[2] = relationship
  }

  /** Whether the row satisfies a node. */
  holds(node: BoundNode): boolean {
    switch (node.kind) {
      case 'leaf': {
        const code = node.column.codeAt(this.#row[node.place] as number)
        return node.verdicts.holds(code, this.#context.todayMs) !== node.negative
      }
      case 'computed':
        return node.test(this.#row[node.place] as number, this.#context.todayMs) !== node.negative
      case 'pair':
        return this.#holdsPair(node) !== node.negative
      case 'anyPosition':
        return this.#holdsOnAnyRow(node)
      case 'today':
        return holdsOn(this.#context.todayMs, node.leaf, this.#snapshot.settings.zone)
      case 'membership':
        return node.collectionIds.some((id) => this.#isRowOf(id)) !== node.negative
      case 'group':
        return groupHolds(node.operator, node.children, (child) => this.holds(child))
    }
  }

  /** Whether the context finds members of a node in steps. */
  needsSteps(node: BoundNode): boolean {
    return this.#context.asksFor !== undefined && readsMembers(node)
  }

  /** Whether a node holds, in the steps that the context needs. Conditions are nested 16 levels deep at most. */
  *holdsTask(node: BoundNode): Task<boolean> {
    if (!this.needsSteps(node)) return this.holds(node)
    if (node.kind === 'membership') {
      for (const id of node.collectionIds) if (yield* this.#isRowOfTask(id)) return !node.negative
      return node.negative
    }
    if (node.kind === 'anyPosition') return yield* this.#holdsOnAnyRowTask(node)
    const { operator, children } = node as BoundNode & { kind: 'group' }
    let heldCount = 0
    for (const child of children) {
      const holds = yield* this.holdsTask(child)
      if (holds) heldCount += 1
      if (operator !== 'XOR' && holds === (operator !== 'AND')) return operator === 'OR'
    }
    return operator === 'XOR' ? heldCount === 1 : operator !== 'OR'
  }

  /** The rows of the identity of the row; none without an identity. */
  rowsOfIdentity(): Row[] {
    const [identity] = this.#row
    if (!this.#snapshot.tables.identity.isLive(identity)) return []
    const referrers = this.#snapshot.referrers.identity
    const rows: Row[] = []
    for (let slot = referrers.first(identity); slot !== 0; slot = referrers.next(slot)) {
      rows.push([identity, this.#linked('orgUnit', slot), slot])
    }
    return rows.length > 0 ? rows : [[identity, 0, 0]]
  }

  #holdsPair({ field, operand, test }: BoundPair): boolean {
    const code = field === undefined ? 0 : this.#codeOf(field)
    const otherCode = this.#codeOf(operand)
    const isMissing = otherCode === 0 || (field !== undefined && code === 0)
    return !isMissing && test(code, otherCode, this.#context.todayMs)
  }

  #codeOf({ column, place }: RowColumn): number {
    return column.codeAt(this.#row[place] as number)
  }

  #holdsOnAnyRow(node: BoundAnyPosition): boolean {
    const current: Row = [...this.#row]
    const known = this.#knownOf(node)
    const holds =
      known.get(current[0]) ??
      this.rowsOfIdentity().some((row) => {
        this.moveToRow(row)
        return this.holds(node.group)
      })
    this.moveToRow(current)
    known.set(current[0], holds)
    return holds
  }

  *#holdsOnAnyRowTask(node: BoundAnyPosition): Task<boolean> {
    const current: Row = [...this.#row]
    const known = this.#knownOf(node)
    let holds = known.get(current[0])
    if (holds === undefined) {
      holds = false
      for (const row of this.rowsOfIdentity()) {
        this.moveToRow(row)
        holds = yield* this.holdsTask(node.group)
        if (holds) break
      }
    }
    this.moveToRow(current)
    known.set(current[0], holds)
    return holds
  }

  #knownOf(node: BoundAnyPosition): Map<number, boolean> {
    this.#ofIdentities ??= new Map()
    const known = this.#ofIdentities.get(node) ?? new Map<number, boolean>()
    this.#ofIdentities.set(node, known)
    return known
  }

  /** The collections of a node that the row is a member of. */
  *collectionsOf({ collectionIds }: BoundMembership): Task<string[]> {
    const found: string[] = []
    for (const id of collectionIds) if (yield* this.#isRowOfTask(id)) found.push(id)
    return found
  }

  #isRowOfTask(collectionId: string): Task<boolean> {
    return isRowOfTask(collectionId, this.#row, this.#snapshot, this.#context)
  }

  #isRowOf(collectionId: string): boolean {
    const members = this.#context.membersOf(collectionId)
    return members !== undefined && isRowOf(members, this.#row, this.#snapshot)
  }

  #linked(to: LinkedType, relationship: number): number {
    return this.#snapshot.link(to).codeAt(relationship)
  }
}
