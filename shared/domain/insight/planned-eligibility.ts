import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import type { CollectionMembers } from '../criteria/collection-members.ts'
import {
  addBits,
  type Bitmap,
  bitsWithout,
  countBits,
  emptyBitmap,
  hasBit,
  setBit,
} from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { SetFingerprints } from '../tenant-index/rows/set-fingerprints.ts'
import { identitiesBehind } from './planned-accounts.ts'
import type { MembersOfBoth, PlannedMembers } from './planned-members.ts'

/** A joinable collection that members of some collections may ask to join. */
export type JoinableToPlan = {
  readonly id: string
  readonly joinableBy: readonly string[]
  /** Its requests that wait at a gate. */
  readonly waiting: readonly { readonly id: string; readonly requesterId: string }[]
}

export type EligibilityEffect = {
  /** People who gain eligibility for at least one collection. */
  readonly becomeEligible: number
  /** Waiting requests whose requester loses eligibility. */
  readonly loseEligibility: number
  /** Equal for equal people and requests. */
  readonly fingerprint: readonly string[]
}

/** Joinable collections with the same `joinableBy` have the same eligible people. */
type Group = {
  readonly ids: readonly string[]
  readonly joinables: JoinableToPlan[]
  identities: MembersOfBoth | undefined
}

/** The effect of changed members on who is eligible to join collections. */
export class PlannedEligibility {
  readonly #rows: RowSnapshot
  readonly #groups = new Map<string, Group>()
  readonly #changed = new Set<string>()

  constructor(rows: RowSnapshot, joinables: readonly JoinableToPlan[]) {
    this.#rows = rows
    for (const joinable of joinables) {
      const ids = [...joinable.joinableBy].sort()
      const group = this.#groups.get(ids.join()) ?? { ids, joinables: [], identities: undefined }
      group.joinables.push(joinable)
      this.#groups.set(ids.join(), group)
    }
  }

  /** Takes the members of a collection that changes. */
  *take(collection: Collection, members: MembersOfBoth): Task<void> {
    const groups = [...this.#groups.values()].filter(({ ids }) => ids.includes(collection.id))
    this.#changed.add(collection.id)
    if (groups.length === 0) return
    const type = objectTypeOf(collection)
    const before = identitiesBehind(type, members.before, this.#rows)
    yield
    const after = identitiesBehind(type, members.after, this.#rows)
    yield
    for (const group of groups) this.#add(group, { before, after })
  }

  /** @param joined The members of joinable collections in any `joinableBy`. */
  *effect(planned: PlannedMembers, joined: ReadonlyMap<string, CollectionMembers>): Task<EligibilityEffect> {
    const people = emptyBitmap(this.#rows.tables.identity.slotCount)
    const fingerprints = new SetFingerprints(this.#rows.tables.identity.ids)
    const fingerprint: string[] = []
    let loseEligibility = 0
    for (const [key, group] of this.#groups) {
      if (group.identities === undefined) continue
      for (const id of group.ids) if (!this.#changed.has(id)) yield* this.#takeUnchanged(group, id, planned, joined)
      const { before, after } = group.identities
      const gained = bitsWithout(after, before)
      const lost = bitsWithout(before, after)
      addBits(people, gained)
      const losing = group.joinables.flatMap(({ waiting }) => waiting.filter((request) => this.#isIn(lost, request)))
      loseEligibility += losing.length
      fingerprint.push(`${key} ${yield* fingerprints.of(gained)} ${losing.map(({ id }) => id).sort()}`)
    }
    return { becomeEligible: countBits(people), loseEligibility, fingerprint: fingerprint.sort() }
  }

  *#takeUnchanged(
    group: Group,
    id: string,
    planned: PlannedMembers,
    joined: ReadonlyMap<string, CollectionMembers>,
  ): Task<void> {
    const members = joined.get(id)
    if (members?.kind === 'joinable') {
      const identities = this.#slotsOf(members.memberships.map(({ identityId }) => identityId))
      this.#add(group, { before: identities, after: identities })
      return
    }
    const collection = planned.collection(id)
    if (collection === undefined) return
    const { before } = yield* planned.membersOf(id)
    const identities = identitiesBehind(objectTypeOf(collection), before, this.#rows)
    this.#add(group, { before: identities, after: identities })
  }

  #add(group: Group, { before, after }: MembersOfBoth): void {
    if (group.identities === undefined) group.identities = { before: before.slice(), after: after.slice() }
    else {
      addBits(group.identities.before, before)
      addBits(group.identities.after, after)
    }
  }

  #slotsOf(identityIds: readonly string[]): Bitmap {
    const { identity } = this.#rows.tables
    const slots = emptyBitmap(identity.slotCount)
    for (const id of identityIds) {
      const slot = identity.ids.codeOf(id)
      if (identity.isLive(slot)) setBit(slots, slot)
    }
    return slots
  }

  #isIn(identities: Bitmap, { requesterId }: { readonly requesterId: string }): boolean {
    return hasBit(identities, this.#rows.tables.identity.ids.codeOf(requesterId))
  }
}
