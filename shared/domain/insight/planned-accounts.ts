import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { CORE_TYPE, type RowObjectType } from '../criteria/collection-members.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { RemovalGuard } from '../group-links/link-settings.ts'
import type { PausedByDto } from '../group-links/removal-pause.ts'
import { removedRecently } from '../sync/recorded-writes.ts'
import { removalHold } from '../sync/removal-guard.ts'
import {
  type Bitmap,
  bitsWithout,
  clearBit,
  commonBits,
  countBits,
  emptyBitmap,
  hasBit,
} from '../tenant-index/rows/bitmap.ts'
import { addReferences } from '../tenant-index/rows/column.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { SetFingerprints } from '../tenant-index/rows/set-fingerprints.ts'
import type { TextDictionary } from '../tenant-index/rows/text-dictionary.ts'
import type { MembersOfBoth } from './planned-members.ts'
import { plannedPause, slotsWithoutAccount } from './planned-pause.ts'

/** The identities behind the members of a collection: the members, their holders, or those with a position in them. */
export function identitiesBehind(objectType: RowObjectType, members: Bitmap, rows: RowSnapshot): Bitmap {
  const { identity, relationship } = rows.tables
  if (objectType === 'Identity') return members
  const positions =
    objectType === 'Relationship' ? members : rows.referringTo('orgUnit', members, relationship.liveSlots())
  const found = emptyBitmap(identity.slotCount)
  addReferences(rows.link('identity'), positions, found)
  return commonBits(found, identity.liveSlots())
}

/** An enabled link, with the accounts whose removal the guard holds now: they are still in the group. */
export type LinkToPlan = {
  readonly link: GroupLink
  readonly held: ReadonlySet<string>
  /** Accounts whose removal a person has rejected. */
  readonly rejected: ReadonlySet<string> | 'all'
}

type GuardState = { readonly isEmpty: boolean; readonly userCount: number; readonly includesRejected: boolean }

/** What a change writes to the group of a link. */
export type LinkEffect = {
  readonly link: GroupLink
  readonly toAdd: number
  /** 0 while removals are paused. Includes `freed`. */
  readonly toRemove: number
  /** Accounts whose removal is held now, and that the guard lets go together with those that the change removes. */
  readonly freed: readonly string[]
  /** Accounts that stay in the group because removals are paused. */
  readonly pausedRemovals: number
  /** The members that pause removals; null when none do. */
  readonly pausedBy: PausedByDto | null
  /** Removals that were deferred become due. Only a comparison with the group shows how many they are. */
  readonly endsPause: boolean
  readonly wouldHold: boolean
  /** Equal for equal sets of accounts. */
  readonly fingerprint: string
}

/** The effect of changed members on the groups of links. */
export class PlannedAccounts {
  readonly #rows: RowSnapshot
  readonly #guard: RemovalGuard
  readonly #nowMs: number
  readonly #dictionary: TextDictionary
  readonly #fingerprints: SetFingerprints

  constructor(rows: RowSnapshot, guard: RemovalGuard, nowMs: number) {
    this.#rows = rows
    this.#guard = guard
    this.#nowMs = nowMs
    const { values } = rows.tables.identity.column('directoryObjectId')
    if (values.kind !== 'text') throw new Error('Accounts are texts')
    this.#dictionary = values.dictionary
    this.#fingerprints = new SetFingerprints(values.dictionary)
  }

  /** The effect on the links of one collection, without links whose groups do not change. */
  *effectsOn(links: readonly LinkToPlan[], objectType: RowObjectType, members: MembersOfBoth): Task<LinkEffect[]> {
    const effects: LinkEffect[] = []
    if (links.length === 0 || CORE_TYPE[objectType] === 'orgUnit' || members.before === members.after) return effects
    const before = this.accountsOf(objectType, members.before)
    yield
    const after = this.accountsOf(objectType, members.after)
    yield
    const isEmpty = countBits(members.after) === 0
    const without = yield* slotsWithoutAccount(objectType, members.after, this.#rows)
    for (const link of links) {
      const pausedBy = plannedPause(link.link, without, after, { rows: this.#rows, dictionary: this.#dictionary })
      const effect = yield* this.#effectOn(link, { before, after }, { isEmpty, pausedBy })
      const { toAdd, toRemove, pausedRemovals, endsPause } = effect
      if (endsPause || toAdd + toRemove + pausedRemovals > 0) effects.push(effect)
    }
    return effects
  }

  /** 0 for an account of no identity. */
  codeOf(account: string): number {
    return this.#dictionary.codeOf(account)
  }

  /** Codes of accounts: a set over the dictionary. */
  accountsOf(objectType: RowObjectType, members: Bitmap): Bitmap {
    const accounts = emptyBitmap(this.#dictionary.size)
    const column = this.#rows.tables.identity.column('directoryObjectId')
    addReferences(column, identitiesBehind(objectType, members, this.#rows), accounts)
    // Identities without an account.
    if (accounts.length > 0) clearBit(accounts, 0)
    return accounts
  }

  /** The accounts that a link is to add to its group, and those that it is to remove. */
  differenceOf(
    { held }: Pick<LinkToPlan, 'held'>,
    accounts: MembersOfBoth,
  ): { readonly added: Bitmap; readonly removed: Bitmap } {
    const added = bitsWithout(accounts.after, accounts.before)
    // The group still has the accounts whose removal is held.
    for (const account of held) clearBit(added, this.#dictionary.codeOf(account))
    return { added, removed: bitsWithout(accounts.before, accounts.after) }
  }

  *#effectOn(
    { link, held, rejected }: LinkToPlan,
    accounts: MembersOfBoth,
    { isEmpty, pausedBy }: { readonly isEmpty: boolean; readonly pausedBy: PausedByDto | null },
  ): Task<LinkEffect> {
    const { added, removed } = this.differenceOf({ held }, accounts)
    const [toAdd, removedCount] = [countBits(added), countBits(removed)]
    const isPaused = pausedBy !== null
    const others = this.#othersHeld(held, accounts.after, removed)
    const due = this.#dueAccounts(removed, removedCount, others)
    const includesRejected = rejected === 'all' || rejected.values().some((account) => due.has(account))
    const state = { isEmpty, userCount: countBits(accounts.before), includesRejected }
    const isHeld = !isPaused && due.size > 0 && this.#isHeld(link, due, state)
    const freed = isPaused || isHeld ? [] : [...others].sort()
    const endsPause = link.removalsDeferred && !isPaused
    return {
      link,
      toAdd,
      toRemove: isPaused ? 0 : removedCount + freed.length,
      freed,
      pausedRemovals: isPaused ? removedCount : 0,
      pausedBy,
      endsPause,
      wouldHold: isHeld && removedCount > 0,
      fingerprint: [
        yield* this.#fingerprints.of(added),
        yield* this.#fingerprints.of(removed),
        ...freed,
        ...(endsPause ? ['resumed'] : []),
      ].join(' '),
    }
  }

  /** The accounts that are held already and remain due, without those that the change removes. */
  #othersHeld(held: ReadonlySet<string>, after: Bitmap, removed: Bitmap): ReadonlySet<string> {
    const isIn = (codes: Bitmap, code: number) => code !== 0 && hasBit(codes, code)
    return new Set(
      [...held].filter((account) => {
        const code = this.#dictionary.codeOf(account)
        return !isIn(after, code) && !isIn(removed, code)
      }),
    )
  }

  /** The removed accounts together with others. */
  #dueAccounts(removed: Bitmap, removedCount: number, others: ReadonlySet<string>) {
    const isRemoved = (account: string) => {
      const code = this.#dictionary.codeOf(account)
      return code !== 0 && hasBit(removed, code)
    }
    return { size: removedCount + others.size, has: (account: string) => others.has(account) || isRemoved(account) }
  }

  /**
   * As an incremental sync and a job decide.
   * @param userCount For a link that was never synced: its group has these.
   */
  #isHeld(
    link: GroupLink,
    due: { readonly size: number; has(account: string): boolean },
    { isEmpty, userCount, includesRejected }: GuardState,
  ): boolean {
    const removals = {
      due,
      recentlyRemoved: removedRecently(link.recentWrites, this.#nowMs),
      window: link.removalWindow,
      userCount: link.userCount ?? userCount,
      includesRejected,
      isEmptyFromStart: isEmpty && !link.hasAdded,
    }
    return removalHold(removals, this.#guard, this.#nowMs) !== null
  }
}
