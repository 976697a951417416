import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { LINKED_TYPES, type ObjectType } from '../core/core-object.ts'
import {
  addBits,
  type Bitmap,
  bitsWithout,
  commonBits,
  emptyBitmap,
  fullBitmap,
  hasFewerBits,
  removeBits,
  setBit,
} from '../tenant-index/rows/bitmap.ts'
import { addReferences, slotsIn, slotsWithCode, slotsWithCodes } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import {
  type CollectionMembers,
  type MemberSlots,
  type MembersBySlot,
  memberSlots,
  rowsOf,
} from './collection-members.ts'
import type { BoundAnyPosition, BoundGroup, BoundLeaf, BoundMembership, BoundNode } from './compile.ts'
import { slotsPassing } from './computed-test.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import { holdsOn } from './leaf-test.ts'
import { rarestFirst } from './rarest-first.ts'
import { slotsHoldingCodes, slotsOfPair } from './row-codes.ts'
import { RowTest, readsMembers } from './row-test.ts'
import type { SharedResults } from './shared-results.ts'

/** When fewer rows than this share remain, they are tested one by one. */
const SPARSE_SHARE = 1 / 32

/** To read the value of one row through its reference takes as long as to test as many objects one after the other. */
const OBJECTS_PER_ROW_COUNT = 8

/** Leaves tested on single rows in one step of the task. */
const TESTS_PER_STEP_COUNT = 1024
/** Collections whose member slots are cached during an evaluation. */
const COLLECTIONS_CACHED_COUNT = 64

/**
 * The evaluation of a condition on a snapshot, as tasks. Between steps, others may evaluate; the snapshot must not
 * change.
 */
export class Evaluation {
  readonly #snapshot: RowSnapshot
  readonly #context: EvaluationContext
  readonly #row: RowTest
  readonly #shared: SharedResults | undefined
  /** Undefined until a node tests members: an evaluation of one object takes about as long as to make a map. */
  #memberSlots: Map<CollectionMembers | MembersBySlot, MemberSlots> | undefined
  #testCount = 0

  /** @param shared Results that evaluations of one condition with other members have found. */
  constructor(snapshot: RowSnapshot, context: EvaluationContext, shared?: SharedResults) {
    this.#snapshot = snapshot
    this.#context = context
    this.#row = new RowTest(snapshot, context)
    this.#shared = shared
  }

  *members(root: BoundNode, objectType: ObjectType): Task<Bitmap> {
    const { tables } = this.#snapshot
    const positions = yield* this.#matching(root, 'relationship', tables.relationship.liveSlots())
    if (objectType === 'relationship') return positions
    const members = emptyBitmap(tables[objectType].slotCount)
    addReferences(this.#snapshot.link(objectType), positions, members)
    const present = commonBits(members, tables[objectType].liveSlots())
    addBits(present, yield* this.#matching(root, objectType, this.#snapshot.alone(objectType)))
    return present
  }

  *hasMatchingRow(root: BoundNode, objectType: ObjectType, slot: number): Task<boolean> {
    if (!this.#snapshot.tables[objectType].isLive(slot)) return false
    if (this.#isStepOver(root)) yield
    // Without members that are found in steps, a row needs no task of its own.
    const inSteps = this.#row.needsSteps(root)
    const referrers = objectType === 'relationship' ? undefined : this.#snapshot.referrers[objectType]
    let row = referrers?.first(slot) ?? 0
    if (referrers === undefined || row === 0) {
      return inSteps ? yield* this.#holdsAtTask(root, objectType, slot) : this.#holdsAt(root, objectType, slot)
    }
    for (; row !== 0; row = referrers.next(row)) {
      const type = 'relationship'
      if (inSteps ? yield* this.#holdsAtTask(root, type, row) : this.#holdsAt(root, type, row)) return true
      if (this.#isStepOver(root)) yield
    }
    return false
  }

  /** Counts the leaves of a row to be tested; returns true at the end of a step. */
  #isStepOver(node: BoundNode): boolean {
    this.#testCount += 'leafCount' in node ? node.leafCount : 1
    if (this.#testCount < TESTS_PER_STEP_COUNT) return false
    this.#testCount = 0
    return true
  }

  /**
   * The slots in `mask` whose rows satisfy a node. A relationship's slot is its row. The slot of an identity or org
   * unit is a row without a relationship, or the object itself for a node that reads nothing else.
   */
  *#matching(node: BoundNode, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    yield
    if (hasFewerBits(mask, mask.length * 32 * SPARSE_SHARE)) return yield* this.#matchingFew(node, objectType, mask)
    if (this.#shared === undefined || readsMembers(node)) return yield* this.#matchingMany(node, objectType, mask)
    // With most words of the mask in use, all slots cost the same as those of the mask.
    const all =
      this.#shared.get(node, objectType) ??
      (yield* this.#matchingMany(node, objectType, fullBitmap(this.#snapshot.tables[objectType].slotCount)))
    this.#shared.set(node, objectType, all)
    return commonBits(mask, all)
  }

  *#matchingMany(node: BoundNode, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    if (node.reads !== undefined && node.reads !== objectType)
      return yield* this.#matchingThrough(node, node.reads, objectType, mask)
    switch (node.kind) {
      case 'leaf':
        return yield* this.#matchingLeaf(node, mask)
      case 'computed':
        return yield* slotsPassing(node.test, node.negative, mask, this.#context.todayMs)
      case 'pair':
        return yield* slotsOfPair(node, objectType, mask, this.#snapshot, this.#context.todayMs)
      case 'anyPosition':
        return yield* this.#matchingAnyPosition(node, mask)
      case 'today':
        return holdsOn(this.#context.todayMs, node.leaf, this.#snapshot.settings.zone)
          ? mask.slice()
          : new Int32Array(mask.length)
      case 'membership':
        return yield* this.#matchingMembership(node, objectType, mask)
      case 'group':
        return yield* this.#matchingGroup(node, objectType, mask)
    }
  }

  /** Row by row. */
  *#matchingFew(node: BoundNode, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    if (node.kind === 'leaf' && this.#isByCodes(node, mask)) return yield* this.#matchingByCodes(node, objectType, mask)
    const found: Bitmap = new Int32Array(mask.length)
    for (const slot of slotsIn(mask)) {
      if (this.#isStepOver(node)) yield
      if (this.#holdsAt(node, objectType, slot)) setBit(found, slot)
    }
    return found
  }

  /** Whether there are not more values to be tested than rows. */
  #isByCodes({ verdicts }: BoundLeaf, mask: Bitmap): boolean {
    const untestedCount = verdicts.untestedCount(this.#context.todayMs)
    return !verdicts.holdsWithoutValue && (untestedCount === 0 || !hasFewerBits(mask, untestedCount))
  }

  *#matchingByCodes(node: BoundLeaf, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    const codes = yield* node.verdicts.holding(this.#context.todayMs)
    return slotsHoldingCodes(node, codes, objectType, mask, this.#snapshot)
  }

  /** Evaluates a node on the objects that rows refer to, then assigns the result to each row by its reference. */
  *#matchingThrough(node: BoundNode, reads: ObjectType, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    if (objectType === 'relationship' && reads !== 'relationship' && this.#snapshot.link(reads).valueCount > 0) {
      const isOfFewRows = hasFewerBits(mask, this.#snapshot.tables[reads].slotCount / OBJECTS_PER_ROW_COUNT)
      if (isOfFewRows && node.kind === 'leaf' && this.#isByCodes(node, mask)) {
        return yield* this.#matchingByCodes(node, objectType, mask)
      }
      const decided = yield* this.#matching(node, reads, fullBitmap(this.#snapshot.tables[reads].slotCount))
      return this.#snapshot.referringTo(reads, decided, mask)
    }
    return this.#holdsAt(node, reads, 0) ? mask.slice() : new Int32Array(mask.length)
  }

  *#matchingLeaf({ column, verdicts, negative }: BoundLeaf, mask: Bitmap): Task<Bitmap> {
    if (verdicts.holdsWithoutValue) return slotsWithCode(column, 0, negative, mask)
    if (column.valueCount === 0) return negative ? mask.slice() : new Int32Array(mask.length)
    const codes = yield* verdicts.holding(this.#context.todayMs)
    const link = LINKED_TYPES.find((type) => column === this.#snapshot.link(type))
    if (link === undefined) return slotsWithCodes(column, codes, negative, mask)
    const referring = this.#snapshot.referringTo(link, codes.asBitmap(column.values.size), mask)
    return negative ? bitsWithout(mask, referring) : referring
  }

  /** The identities in `mask` that have a row which satisfies the group. */
  *#matchingAnyPosition({ group }: BoundAnyPosition, mask: Bitmap): Task<Bitmap> {
    const { identity, relationship } = this.#snapshot.tables
    const people = commonBits(mask, identity.liveSlots())
    const positions = this.#snapshot.referringTo('identity', people, relationship.liveSlots())
    const found = emptyBitmap(identity.slotCount)
    addReferences(this.#snapshot.link('identity'), yield* this.#matching(group, 'relationship', positions), found)
    addBits(found, yield* this.#matching(group, 'identity', commonBits(people, this.#snapshot.alone('identity'))))
    return commonBits(people, found)
  }

  *#matchingMembership(node: BoundMembership, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    const rows: Bitmap = new Int32Array(mask.length)
    for (const collectionId of node.collectionIds) {
      yield
      const members = this.#context.membersOf(collectionId)
      if (members === undefined) continue
      addBits(rows, rowsOf(yield* this.#slotsOf(members), objectType, mask, this.#snapshot))
    }
    if (!node.negative) return rows
    const others = mask.slice()
    removeBits(others, rows)
    return others
  }

  *#slotsOf(members: CollectionMembers | MembersBySlot): Task<MemberSlots> {
    const known = this.#memberSlots ?? new Map<CollectionMembers | MembersBySlot, MemberSlots>()
    this.#memberSlots = known
    const slots = known.get(members) ?? (yield* memberSlots(members, this.#snapshot))
    if (known.size >= COLLECTIONS_CACHED_COUNT) known.clear()
    known.set(members, slots)
    return slots
  }

  /** Each child is evaluated on the rows that are still undecided. */
  *#matchingGroup({ operator, children }: BoundGroup, objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    if (operator === 'XOR') return yield* this.#matchingExactlyOne(children, objectType, mask)
    if (operator === 'AND') {
      let left = mask
      for (const child of rarestFirst(children, objectType, this.#context.todayMs))
        left = yield* this.#matching(child, objectType, left)
      return left
    }
    const open = mask.slice()
    for (const child of children) removeBits(open, yield* this.#matching(child, objectType, open))
    if (operator === 'NOT') return open
    const held = mask.slice()
    removeBits(held, open)
    return held
  }

  *#matchingExactlyOne(children: readonly BoundNode[], objectType: ObjectType, mask: Bitmap): Task<Bitmap> {
    const open = mask.slice()
    const once: Bitmap = new Int32Array(mask.length)
    for (const child of children) {
      const held = yield* this.#matching(child, objectType, open)
      removeBits(open, commonBits(once, held))
      addBits(once, held)
    }
    return commonBits(once, open)
  }

  /** Whether the row of a slot satisfies a node. */
  #holdsAt(node: BoundNode, objectType: ObjectType, slot: number): boolean {
    this.#row.moveTo(objectType, slot)
    return this.#row.holds(node)
  }

  #holdsAtTask(node: BoundNode, objectType: ObjectType, slot: number): Task<boolean> {
    this.#row.moveTo(objectType, slot)
    return this.#row.holdsTask(node)
  }
}
