/** The most that a link can leave out. */
export const MAX_LEFT_OUT_COUNT = 100

type LeftOut = {
  readonly identityIds: readonly string[]
  /** How many of them were not left out before. */
  readonly addedCount: number
  /** How many people do not fit. */
  readonly excessCount: number
}

/** The people whom a link leaves out when it leaves out these members as well, as far as they fit. */
export function leftOutWith(
  members: readonly { readonly identityId: string | null }[],
  accepted: readonly string[],
): LeftOut {
  const all = [...new Set([...accepted, ...members.flatMap(({ identityId }) => identityId ?? [])])]
  const identityIds = all.slice(0, MAX_LEFT_OUT_COUNT)
  return { identityIds, addedCount: identityIds.length - accepted.length, excessCount: all.length - identityIds.length }
}
