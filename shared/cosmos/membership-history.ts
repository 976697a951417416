import type { MembershipChange } from '../domain/collections/membership-store.ts'

/** Seconds for which changes can be asked for. A link that lags more is compared as a whole. */
export const CHANGES_KEPT_S = 24 * 60 * 60

/** A change of the members of a collection as it is kept, with the version that it made. */
type KeptChange = MembershipChange & { readonly membershipVersion: number }

/**
 * The changes from one version of a membership to the current one, in order. Undefined when some are kept no more, so
 * that only a whole comparison tells.
 * @param kept in any order; may reach beyond the current version, when somebody has written meanwhile.
 */
export function historySince(
  version: number,
  currentVersion: number,
  kept: readonly KeptChange[],
): MembershipChange[] | undefined {
  const changes = kept.toSorted((one, other) => one.membershipVersion - other.membershipVersion)
  const isUnbroken = changes.every(({ membershipVersion }, index) => membershipVersion === version + 1 + index)
  const isWhole = isUnbroken && changes.length >= currentVersion - version
  return isWhole ? changes.map(({ added, removed }) => ({ added, removed })) : undefined
}
