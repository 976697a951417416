import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'

export type Node = WireGroup['conditions'][number]

/** What a change has replaced by what. */
export type ChangedPart = { readonly before: Node; readonly after: Node }

/** The smallest part of a condition that a change replaces. The whole condition where more than one part differs. */
export function changedPart(before: Node, after: Node): ChangedPart {
  if (!('groupOperator' in before && 'groupOperator' in after)) return { before, after }
  const isSameGroup =
    before.groupOperator === after.groupOperator &&
    before.over === after.over &&
    before.conditions.length === after.conditions.length
  const pairs = before.conditions.flatMap((node, index) => {
    const other = after.conditions[index]
    return other === undefined || JSON.stringify(node) === JSON.stringify(other) ? [] : [[node, other] as const]
  })
  const [only, ...others] = pairs
  return isSameGroup && only !== undefined && others.length === 0 ? changedPart(...only) : { before, after }
}
