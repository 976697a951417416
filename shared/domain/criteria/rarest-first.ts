import type { ObjectType } from '../core/core-object.ts'
import type { BoundNode } from './compile.ts'

/** A leaf that holds for at most this part of its values is evaluated before others. */
const RARE_SHARE = 1 / 4

/**
 * The children of an AND in the order in which they are evaluated: leaves on the object itself that are known to hold for
 * few of the values come first, so that fewer rows are left for the others. The rest keep their order.
 */
export function rarestFirst(
  children: readonly BoundNode[],
  objectType: ObjectType,
  todayMs: number,
): readonly BoundNode[] {
  const shareOf = (child: BoundNode): number => {
    const isOwn = child.kind === 'leaf' && child.reads === objectType && !child.negative
    const share = isOwn ? child.verdicts.shareHolding(todayMs) : undefined
    return share !== undefined && share <= RARE_SHARE ? share : 1
  }
  const ordered = children
    .map((child) => ({ child, share: shareOf(child) }))
    .sort((left, right) => left.share - right.share)
  return ordered.map(({ child }) => child)
}
