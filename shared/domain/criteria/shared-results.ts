import { LRUCache } from 'lru-cache'
import type { ObjectType } from '../core/core-object.ts'
import type { Bitmap } from '../tenant-index/rows/bitmap.ts'
import type { BoundLeaf, BoundNode, BoundPair } from './compile.ts'
import type { CheckedLeaf } from './condition.ts'

/** Bytes of the results of leaves that are kept for each object type: a hundred leaves on a million objects. */
const LEAF_RESULT_BYTES = 12_500_000

/**
 * The slots of a table whose rows satisfy a leaf, for conditions that were compiled with the same leaves. The least
 * recently used results are dropped.
 */
type LeafResults = Readonly<Record<ObjectType, LRUCache<CheckedLeaf, Bitmap>>>

export function newLeafResults(): LeafResults {
  const ofType = () =>
    new LRUCache<CheckedLeaf, Bitmap>({
      maxSize: LEAF_RESULT_BYTES,
      // A table without objects takes space as well.
      sizeCalculation: ({ byteLength }) => byteLength + 1,
    })
  return { identity: ofType(), orgUnit: ofType(), relationship: ofType() }
}

function isOfLeaf(node: BoundNode): node is BoundLeaf | BoundPair {
  return node.kind === 'leaf' || node.kind === 'pair'
}

/**
 * The slots of a table whose rows satisfy a node of one condition that does not depend on the members of collections.
 * For evaluations of the condition on the same state of a snapshot and on the same day.
 */
export class SharedResults {
  readonly #nodes: Readonly<Record<ObjectType, Map<BoundNode, Bitmap>>> = {
    identity: new Map(),
    orgUnit: new Map(),
    relationship: new Map(),
  }
  readonly #leaves: LeafResults

  /** @param leaves Results that evaluations of other conditions on the same state and day have found. */
  constructor(leaves: LeafResults) {
    this.#leaves = leaves
  }

  get(node: BoundNode, objectType: ObjectType): Bitmap | undefined {
    return isOfLeaf(node) ? this.#leaves[objectType].get(node.leaf) : this.#nodes[objectType].get(node)
  }

  set(node: BoundNode, objectType: ObjectType, slots: Bitmap): void {
    if (isOfLeaf(node)) this.#leaves[objectType].set(node.leaf, slots)
    else this.#nodes[objectType].set(node, slots)
  }
}
