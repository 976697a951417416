import { type Static, Type } from 'typebox'
import { Closed, Guid } from '../../kernel/schema.ts'
import type { MergedCoreObject } from './merged-core-object.ts'

/**
 * The claim of a live identity to a directory account: its contributions name the account. One of the claimants holds
 * the account, for signing in and in groups; the others are stored without it until the holder releases it.
 */
export type AccountClaim = {
  readonly identityId: string
  readonly directoryObjectId: string
  /** Since when the identity claims the account, by the writer's clock. */
  readonly sinceMs: number
  readonly isHolder: boolean
}

/** Reads the claims of live identities. */
export interface AccountClaimReader {
  /** Returns all claims to these accounts. */
  claimsTo(tenantId: string, directoryObjectIds: readonly string[]): Promise<AccountClaim[]>
  /** Returns the claims to all accounts that another identity holds. */
  unmetClaims(tenantId: string): Promise<AccountClaim[]>
}

/** A core object as stored, undefined for a new one, and as merged from its contributions. */
export type CoreObjectChange = { readonly before: MergedCoreObject | undefined; readonly after: MergedCoreObject }

/** The account that a live identity claims, whether it holds it or not. */
function claimedAccount(object: MergedCoreObject | undefined): string | undefined {
  if (object === undefined || object.deleted || object.objectType !== 'identity') return undefined
  return object.claimedAccount ?? (object.attributes.directoryObjectId as string | undefined)
}

/** The account that a live identity holds. */
export function heldAccount(object: MergedCoreObject | undefined): string | undefined {
  return object?.claimedAccount === undefined ? claimedAccount(object) : undefined
}

/** Orders claims: the oldest first. */
function byAge(left: AccountClaim, right: AccountClaim): number {
  return left.sinceMs - right.sinceMs || (left.identityId < right.identityId ? -1 : 1)
}

/**
 * Returns the merged objects with the accounts that they hold. An identity holds the account that it claims unless
 * another one does, which did so before.
 * @param changes All changes of one merge. An identity can take an account that another one releases in the same merge.
 * @param claims The stored claims to the accounts that identities take in this merge, or hold beside another identity.
 */
export function assignAccounts(
  changes: readonly CoreObjectChange[],
  claims: readonly AccountClaim[],
  nowMs: number,
): MergedCoreObject[] {
  const released = new Set(
    changes.flatMap(({ before, after }) => {
      const held = heldAccount(before)
      return before === undefined || held === undefined || held === claimedAccount(after) ? [] : [before.id]
    }),
  )
  const holders = Map.groupBy(
    claims.filter(({ isHolder, identityId }) => isHolder && !released.has(identityId)),
    ({ directoryObjectId }) => directoryObjectId,
  )
  return changes.map(({ before, after }) => {
    const account = claimedAccount(after)
    if (account === undefined) return after
    const sinceMs = claimedAccount(before) === account ? (before?.accountSinceMs ?? 0) : nowMs
    const isHolder = heldAccount(before) === account
    const own: AccountClaim = { identityId: after.id, directoryObjectId: account, sinceMs, isHolder }
    const others = (holders.get(account) ?? []).filter(({ identityId }) => identityId !== after.id)
    if (others.every((other) => isHolder && byAge(own, other) < 0)) {
      holders.set(account, [...others, own])
      return { ...after, accountSinceMs: sinceMs }
    }
    const { directoryObjectId: _held, ...attributes } = after.attributes
    return { ...after, attributes, claimedAccount: account, accountSinceMs: sinceMs }
  })
}

/** The accounts whose claims must be known before a merge: those that an identity claims without holding them yet. */
export function accountsTaken(changes: readonly CoreObjectChange[], contested: ReadonlySet<string>): string[] {
  const accounts = changes.flatMap(({ before, after }) => {
    const account = claimedAccount(after)
    return account !== undefined && (account !== heldAccount(before) || contested.has(after.id)) ? [account] : []
  })
  return [...new Set(accounts)]
}

/** The accounts that identities hold and release with these changes. */
export function accountsReleased(changes: readonly CoreObjectChange[]): string[] {
  const accounts = changes.flatMap(({ before, after }) => {
    const held = heldAccount(before)
    return held === undefined || held === heldAccount(after) ? [] : [held]
  })
  return [...new Set(accounts)]
}

/** The identities that claim an account without holding it, those with the oldest claim first. */
export function claimants(claims: readonly AccountClaim[]): string[] {
  return claims
    .filter(({ isHolder }) => !isHolder)
    .toSorted(byAge)
    .map(({ identityId }) => identityId)
}

/** The accounts that a write has given to an identity or taken from one. */
export function accountsMoved(changes: readonly CoreObjectChange[]): string[] {
  const accounts = changes.flatMap(({ before, after }) => {
    const [from, to] = [heldAccount(before), heldAccount(after)]
    return from === to ? [] : [from, to].filter((account) => account !== undefined)
  })
  return [...new Set(accounts)]
}

/**
 * The identities to merge again after accounts have moved: the claimants of an account without a holder, and the
 * holders of an account with several, which concurrent writes can leave. The oldest claim comes first.
 */
export function contestants(claims: readonly AccountClaim[]): string[] {
  return [...Map.groupBy(claims, ({ directoryObjectId }) => directoryObjectId).values()].flatMap((rivals) => {
    const holders = rivals.filter(({ isHolder }) => isHolder)
    if (holders.length === 1) return []
    return (holders.length === 0 ? rivals : holders).toSorted(byAge).map(({ identityId }) => identityId)
  })
}

/** An account that several identities claim, as the API returns it. */
export const AccountConflict = Closed({ directoryObjectId: Guid, holderId: Guid, claimantIds: Type.Array(Guid) })
export type AccountConflict = Static<typeof AccountConflict>

/** Lists the accounts that several identities claim, by account. Claimants are ordered by the age of their claim. */
export async function accountConflicts(tenantId: string, reader: AccountClaimReader): Promise<AccountConflict[]> {
  const unmet = await reader.unmetClaims(tenantId)
  const accounts = [...new Set(unmet.map(({ directoryObjectId }) => directoryObjectId))].sort()
  const holders = new Map(
    (await reader.claimsTo(tenantId, accounts))
      .filter(({ isHolder }) => isHolder)
      .toSorted((left, right) => byAge(right, left))
      .map(({ directoryObjectId, identityId }) => [directoryObjectId, identityId]),
  )
  const claimants = Map.groupBy(unmet, ({ directoryObjectId }) => directoryObjectId)
  return accounts.flatMap((directoryObjectId) => {
    const holderId = holders.get(directoryObjectId)
    // The holder has just released it, and the next one is about to take over.
    if (holderId === undefined) return []
    const claimantIds = (claimants.get(directoryObjectId) ?? []).toSorted(byAge).map(({ identityId }) => identityId)
    return [{ directoryObjectId, holderId, claimantIds }]
  })
}
