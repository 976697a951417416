import type { Random } from '../../../infra/local/demo/seeded-random.ts'

/** @throws Error for an empty list */
export function pickOf<T>(random: Random, list: readonly T[]): T {
  const picked = list[random.below(list.length)]
  if (picked === undefined) throw new Error('Nothing to pick from')
  return picked
}

/** An entry, with a probability in proportion to its weight. */
export function pickWeighted<T extends { readonly weight: number }>(random: Random, list: readonly T[]): T {
  const chosen = random.below(list.reduce((sum, { weight }) => sum + weight, 0))
  let sum = 0
  for (const entry of list) {
    sum += entry.weight
    if (chosen < sum) return entry
  }
  throw new Error('Nothing to pick from')
}
