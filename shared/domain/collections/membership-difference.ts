import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { MembershipChange } from './membership-store.ts'

/** Ids compared between two pauses. */
const IDS_PER_STEP_COUNT = 16_384

/** What to add to and remove from one ascending list to get the other, in steps. Both results are ascending too. */
export function* differenceSteps(before: readonly string[], after: readonly string[]): Task<MembershipChange> {
  const added: string[] = []
  const removed: string[] = []
  let left = 0
  let right = 0
  while (left < before.length || right < after.length) {
    if ((left + right) % IDS_PER_STEP_COUNT === 0) yield
    const old = before[left]
    const young = after[right]
    if (old === young) {
      left += 1
      right += 1
    } else if (young === undefined || (old !== undefined && old < young)) {
      removed.push(old as string)
      left += 1
    } else {
      added.push(young)
      right += 1
    }
  }
  return { added, removed }
}
