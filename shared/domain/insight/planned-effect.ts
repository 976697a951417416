import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection } from '../collections/collection.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import { CORE_TYPE, type RowObjectType } from '../criteria/collection-members.ts'
import { bitsWithout, countBits } from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import { SetFingerprints } from '../tenant-index/rows/set-fingerprints.ts'
import type { PlanInput } from './plan-input.ts'
import { type LinkEffect, PlannedAccounts } from './planned-accounts.ts'
import { type EligibilityEffect, PlannedEligibility } from './planned-eligibility.ts'
import { type MembersInput, type MembersOfBoth, PlannedMembers } from './planned-members.ts'

type CollectionEffect = {
  readonly collection: Collection
  readonly added: number
  readonly removed: number
  readonly fingerprint: string
}

/**
 * What saving a change does. The members are those of the changed collection; they are valid within the same task only.
 */
export type PlannedEffect = {
  readonly collections: readonly CollectionEffect[]
  readonly links: readonly LinkEffect[]
  readonly eligibility: EligibilityEffect
  readonly members: MembersOfBoth
  readonly planned: PlannedMembers
  readonly membersInput: MembersInput
}

/** When the effect is determined. */
export type PlanTime = { readonly nowMs: number; readonly todayMs: number }

/**
 * The effect of a change on one state of the rows. Uses the code that evaluates, and decides about removals, when it is
 * saved.
 */
export function* effectTask(input: PlanInput, rows: RowSnapshot, { nowMs, todayMs }: PlanTime): Task<PlannedEffect> {
  const { graph, joined, stored, conditions } = input
  const conditionOf = (collection: Collection) => conditions.get(collection)
  const membersInput: MembersInput = { graph, rows, todayMs, conditionOf, joined, stored }
  const planned = new PlannedMembers(membersInput)
  const differences = new Differences(rows)
  const accounts = new PlannedAccounts(rows, input.guard, nowMs)
  const eligibility = new PlannedEligibility(rows, input.joinables)
  const collections: CollectionEffect[] = []
  const links: LinkEffect[] = []
  let changed: MembersOfBoth | undefined
  yield* planned.evaluate(function* (collection, members) {
    changed ??= members
    collections.push({ collection, ...(yield* differences.between(members, objectTypeOf(collection))) })
    if (members.before === members.after) return
    links.push(...(yield* accounts.effectsOn(input.links.get(collection.id) ?? [], objectTypeOf(collection), members)))
    yield* eligibility.take(collection, members)
  })
  if (changed === undefined) throw new Error('The changed collection was not evaluated')
  return {
    collections,
    links,
    eligibility: yield* eligibility.effect(planned, joined),
    members: changed,
    planned,
    membersInput,
  }
}

/** Texts that are equal for equal effects of equal conditions: the exact members, accounts, people and requests. */
export function effectParts({ objectType, definition }: Collection, effect: PlannedEffect): string[] {
  return [
    JSON.stringify({ objectType, definition }),
    ...effect.collections.map(({ collection, fingerprint }) => `collection ${collection.id} ${fingerprint}`).sort(),
    ...effect.links
      .map(({ link, wouldHold, pausedBy, fingerprint }) => {
        const paused = pausedBy === null ? '' : ' paused'
        return `link ${link.id} ${link.directoryGroupId} ${wouldHold} ${fingerprint}${paused}`
      })
      .sort(),
    ...effect.eligibility.fingerprint,
  ]
}

/** Counts and identifies the differences of members. */
class Differences {
  readonly #rows: RowSnapshot
  readonly #fingerprints = new Map<RowObjectType, SetFingerprints>()

  constructor(rows: RowSnapshot) {
    this.#rows = rows
  }

  *between({ before, after }: MembersOfBoth, objectType: RowObjectType): Task<Omit<CollectionEffect, 'collection'>> {
    const fingerprints =
      this.#fingerprints.get(objectType) ?? new SetFingerprints(this.#rows.tables[CORE_TYPE[objectType]].ids)
    this.#fingerprints.set(objectType, fingerprints)
    const [added, removed] = [bitsWithout(after, before), bitsWithout(before, after)]
    const fingerprint = `${yield* fingerprints.of(added)} ${yield* fingerprints.of(removed)}`
    return { added: countBits(added), removed: countBits(removed), fingerprint }
  }
}
