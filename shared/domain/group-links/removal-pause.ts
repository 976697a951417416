import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { AccountHolder } from './removal-plan.ts'

/** Members that a paused link names. Its count has all of them. */
const PAUSING_SHOWN_COUNT = 20

const PausingMember = Closed({
  identityId: Described(Nullable(Guid), 'The identity; null for a position that no identity holds, or when unknown.'),
  displayName: Described(Nullable(Type.String()), "The identity's display name; null when unknown."),
  directoryObjectId: Described(
    Nullable(Guid),
    'The account that the directory does not know as a user, or refuses; null for a member without an account.',
  ),
})
type PausingMember = Static<typeof PausingMember>

/** Why no member is removed from the group of a link, as shown with the link and in plans. */
export const PausedByDto = Closed({
  reason: Described(
    OneOf(['MembersWithoutAccount', 'AccountsUnknown']),
    '`MembersWithoutAccount`: members of the collection have no directory account. `AccountsUnknown`: they have one ' +
      'that the directory does not know, that is not a user, or that the directory refuses as a member of the group, ' +
      'such as a guest of a Microsoft 365 group that takes no guests. With both, `MembersWithoutAccount`.',
  ),
  count: Described(Type.Integer({ minimum: 1 }), 'Number of these members, for both reasons together.'),
  members: Described(
    Type.Array(PausingMember, { maxItems: PAUSING_SHOWN_COUNT }),
    `The members, at most ${PAUSING_SHOWN_COUNT}: of a link as the last sync found them, of a plan as it would leave them.`,
  ),
})
export type PausedByDto = Static<typeof PausedByDto>

/** Members without an account, as stored with the link. */
export const WithoutAccount = Type.Object({
  count: Type.Integer({ minimum: 0 }),
  /** Identities of the first of them; null for a position that no identity holds. */
  identityIds: Type.Unsafe<readonly (string | null)[]>(Type.Array(Nullable(Type.String()))),
})
export type WithoutAccount = Readonly<Static<typeof WithoutAccount>>

type PausableLink = {
  readonly skippedCount: number | null
  readonly unresolved: readonly string[]
  readonly withoutAccount: WithoutAccount | null
  readonly acceptedWithoutAccount: readonly string[]
}

/** The names of identities by id, and the holders of accounts: those that `pausingIds` asks for. */
export type PausingNames = {
  readonly names: ReadonlyMap<string, string | null>
  readonly holders: ReadonlyMap<string, AccountHolder>
}

/** What `pausedBy` needs the names of. */
export function pausingIds({ skippedCount, unresolved, withoutAccount }: PausableLink): {
  readonly identityIds: readonly string[]
  readonly accounts: readonly string[]
} {
  if ((skippedCount ?? 0) === 0) return { identityIds: [], accounts: [] }
  return {
    identityIds: (withoutAccount?.identityIds ?? []).filter((id) => id !== null),
    accounts: unresolved.slice(0, PAUSING_SHOWN_COUNT + MAX_ACCEPTED_COUNT),
  }
}

/** Identities that a link accepts without an account. */
export const MAX_ACCEPTED_COUNT = 100

/** Why a link removes no account; null when removals are not paused. */
export function pausedBy(link: PausableLink, { names, holders }: PausingNames): PausedByDto | null {
  const { skippedCount, unresolved, withoutAccount, acceptedWithoutAccount } = link
  const count = skippedCount ?? 0
  if (count === 0) return null
  const withoutCount = withoutAccount?.count ?? Math.max(0, count - unresolved.length)
  const without = (withoutAccount?.identityIds ?? []).map((identityId): PausingMember => {
    const displayName = identityId === null ? null : (names.get(identityId) ?? null)
    return { identityId, displayName, directoryObjectId: null }
  })
  const accepted = new Set(acceptedWithoutAccount)
  const unknown = unresolved.flatMap((directoryObjectId): PausingMember[] => {
    const { identityId = null, displayName = null } = holders.get(directoryObjectId) ?? {}
    return identityId !== null && accepted.has(identityId) ? [] : [{ identityId, displayName, directoryObjectId }]
  })
  return {
    reason: withoutCount > 0 ? 'MembersWithoutAccount' : 'AccountsUnknown',
    count,
    members: [...without, ...unknown].slice(0, PAUSING_SHOWN_COUNT),
  }
}
