import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import { conditionOf, type EditedGroup, type EditedNode, isComplete } from './condition-tree.ts'

/** The part of an edited tree that can be evaluated, for previews while lines are still being written. */
export type CompletePart = {
  /** Undefined when nothing is complete. */
  readonly condition: WireGroup | undefined
  /** Whether that is the whole tree. */
  readonly isWhole: boolean
  /** JSON pointers into the tree by those into the condition. */
  readonly pointers: ReadonlyMap<string, string>
}

/** Leaves out lines that are not complete, with unknown attributes, and groups without complete lines. */
export function completePart(tree: EditedGroup, isKnown: (attribute: string) => boolean): CompletePart {
  const pointers = new Map<string, string>()
  const kept = keptGroup(tree, isKnown, '', '', pointers)
  return {
    condition: kept === undefined ? undefined : conditionOf(kept),
    isWhole: kept !== undefined && countLeaves(kept) === countLeaves(tree),
    pointers,
  }
}

function keptGroup(
  group: EditedGroup,
  isKnown: (attribute: string) => boolean,
  from: string,
  to: string,
  pointers: Map<string, string>,
): EditedGroup | undefined {
  const children: EditedNode[] = []
  for (const [index, child] of group.children.entries()) {
    const at = `${from}/conditions/${index}`
    const target = `${to}/conditions/${children.length}`
    if (child.kind === 'group') {
      const kept = keptGroup(child, isKnown, at, target, pointers)
      if (kept !== undefined) children.push(kept)
    } else if (isComplete(child) && isKnown(child.id)) {
      pointers.set(target, at)
      children.push(child)
    }
  }
  if (children.length === 0) return undefined
  pointers.set(to, from)
  return { ...group, children }
}

function countLeaves(node: EditedNode): number {
  return node.kind === 'leaf' ? 1 : node.children.reduce((sum, child) => sum + countLeaves(child), 0)
}

/** A pointer into the condition, or to a member of one of its nodes, as a pointer into the tree. */
export function pointerInTree(pointer: string, pointers: ReadonlyMap<string, string>): string {
  const found = pointers.get(pointer)
  if (found !== undefined || pointer === '') return found ?? ''
  const end = pointer.lastIndexOf('/')
  return pointerInTree(pointer.slice(0, end), pointers) + pointer.slice(end)
}
