import type { WireGroup, WireLeaf } from './condition.ts'
import { isSensitive } from './schema.ts'

/** What a reader sees in place of a value that they may not read. */
export const HIDDEN = 'hidden'

/** Whether a leaf compares a sensitive attribute with a value. */
const hasSecret = (leaf: WireLeaf): boolean => isSensitive(leaf.id) && leaf.value !== undefined

/** Whether a leaf from a request has `hidden` in place of a value, as a reader sees it who may not read the value. */
export const isHiddenValue = (id: string, value: unknown): boolean =>
  isSensitive(id) && typeof value === 'string' && value.trim() === HIDDEN

/** Whether a condition shows `hidden` in place of a value. */
export function showsHidden(group: WireGroup): boolean {
  return group.conditions.some((node) =>
    'conditions' in node ? showsHidden(node) : isHiddenValue(node.id, node.value),
  )
}

/** A stored condition for a reader who may not read sensitive attributes. */
export function withHiddenValues(group: WireGroup): WireGroup {
  const conditions = group.conditions.map((node) => {
    if ('conditions' in node) return withHiddenValues(node)
    return hasSecret(node) ? { ...node, value: HIDDEN } : node
  })
  return { ...group, conditions }
}

/**
 * A condition as such a reader reads it, which is sent back, with the stored values in place of the hidden ones. Only a
 * condition that is otherwise as stored keeps them.
 * @returns Undefined when the condition has another shape, or a value of its own in place of a hidden one.
 */
export function withStoredValues(input: unknown, stored: WireGroup | WireLeaf): unknown {
  if (typeof input !== 'object' || input === null) return undefined
  if (!('conditions' in stored)) {
    if (!hasSecret(stored)) return input
    return 'value' in input && input.value === HIDDEN ? { ...input, value: stored.value } : undefined
  }
  const { conditions } = input as { readonly conditions?: unknown }
  if (!Array.isArray(conditions) || conditions.length !== stored.conditions.length) return undefined
  const restored = stored.conditions.map((node, index) => withStoredValues(conditions[index], node))
  return restored.includes(undefined) ? undefined : { ...input, conditions: restored }
}
