import type { Task } from '../../../kernel/cooperative-scheduler.ts'
import { type TimeZone, UTC } from '../../../kernel/time-zone.ts'
import type { CheckedGroup, CheckedNode } from '../condition.ts'
import { ConstancyAnalysis, keyOf, type Verdicts } from './constancy.ts'
import { type ProofContext, possibleResults } from './possible-results.ts'

/** What follows from the tree alone, for all data. `pointer` is a JSON pointer into the condition. */
export type Proof = { readonly code: 'NeverHolds' | 'AlwaysHolds' | 'Redundant'; readonly pointer: string }

/** Steps of automata in one analysis: some milliseconds. */
const MAX_STEPS_COUNT = 150_000
/** Limits the length of the list. */
const MAX_PROOFS_COUNT = 1000

/**
 * The groups that never or always hold, the smallest of each, and the leaves that another leaf of their group makes
 * superfluous. Never says what is not so. Finds all of it for groups of up to 12 different leaves; of larger ones, what
 * follows from their parts and from their own leaves on one attribute.
 * @param zone In which dates and `Today()` begin.
 */
export function* proofsTask(root: CheckedGroup, zone: TimeZone = UTC): Task<Proof[]> {
  const analysis = new ConstancyAnalysis({ budget: { stepCount: MAX_STEPS_COUNT }, zone })
  const verdicts = yield* analysis.verdicts(root)
  return reported(root, '', verdicts, analysis).slice(0, MAX_PROOFS_COUNT)
}

/** Whether it is proved that the group holds on no row, for all data. */
export function* neverHoldsTask(root: CheckedGroup, context: ProofContext): Task<boolean> {
  const verdicts = yield* new ConstancyAnalysis(context).verdicts(root)
  return verdicts.get(root) === 'never'
}

const CODE = { always: 'AlwaysHolds', never: 'NeverHolds' } as const

function reported(node: CheckedNode, pointer: string, verdicts: Verdicts, analysis: ConstancyAnalysis): Proof[] {
  if (node.kind === 'leaf') return []
  const within = node.children.flatMap((child, index) =>
    reported(child, `${pointer}/conditions/${index}`, verdicts, analysis),
  )
  const verdict = verdicts.get(node) ?? 'sometimes'
  if (verdict === 'sometimes') return [...redundant(node, pointer, analysis), ...within]
  const code = CODE[verdict]
  return within.some((proof) => proof.code === code) ? within : [{ code, pointer }, ...within]
}

/** Leaves of an AND that another one implies, and leaves of an OR that imply another one. Of equal ones, the later. */
function redundant({ operator, children }: CheckedGroup, pointer: string, analysis: ConstancyAnalysis): Proof[] {
  if (operator !== 'AND' && operator !== 'OR') return []
  const superfluous = new Set<string>()
  for (const leaves of analysis.siblings(children)) {
    if (leaves.length < 2) continue
    const results = possibleResults(leaves, analysis.context)
    if (results === undefined || results.size === 1 << leaves.length) continue
    const implies = (left: number, right: number) =>
      results.values().every((mask) => !(mask & (1 << left)) || mask & (1 << right))
    for (const [index, leaf] of leaves.entries()) {
      const isSuperfluous = leaves.keys().some((other) => {
        if (other === index) return false
        const [follows, isEqual] =
          operator === 'AND'
            ? [implies(other, index), implies(index, other)]
            : [implies(index, other), implies(other, index)]
        return follows && (!isEqual || other < index)
      })
      if (isSuperfluous) superfluous.add(keyOf(leaf))
    }
  }
  const seen = new Set<string>()
  return children.flatMap((child, index): Proof[] => {
    if (child.kind === 'group') return []
    const isRepeated = seen.has(keyOf(child))
    seen.add(keyOf(child))
    return isRepeated || superfluous.has(keyOf(child))
      ? [{ code: 'Redundant', pointer: `${pointer}/conditions/${index}` }]
      : []
  })
}
