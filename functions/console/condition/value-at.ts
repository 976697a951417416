import type { WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'

/**
 * The value that a JSON pointer into a condition leads to, with the attribute of its leaf: `/conditions/0/value`, or
 * `/conditions/0/value/1` for one of several. Undefined for a pointer to something else.
 */
export function valueAt(
  condition: WireGroup,
  pointer: string,
): { readonly id: string; readonly value: string } | undefined {
  const [path = '', index] = pointer.split(/\/value(?:\/|$)/)
  if (path === pointer) return undefined
  const indexes = path.split('/conditions/').slice(1).map(Number)
  const node = indexes.reduce<WireGroup | WireLeaf | undefined>(
    (parent, place) => (parent !== undefined && 'conditions' in parent ? parent.conditions[place] : undefined),
    condition,
  )
  if (node === undefined || 'conditions' in node) return undefined
  const value = Array.isArray(node.value) ? node.value[Number(index)] : node.value
  return value === undefined ? undefined : { id: node.id, value: String(value) }
}
