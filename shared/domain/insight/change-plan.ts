import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import { PROOF_CODES, PROOF_CODES_TEXT } from '../collections/condition-warnings.ts'
import { PausedByDto } from '../group-links/removal-pause.ts'

const Count = Type.Integer({ minimum: 0 })

const PlannedCollection = Closed({
  collectionId: Described(Nullable(Guid), 'Null for a collection that does not exist yet.'),
  name: Type.String(),
  added: Described(Count, 'Number of members that the collection gains.'),
  removed: Described(Count, 'Number of members that the collection loses.'),
})

const PlannedLink = Closed({
  linkId: Guid,
  directoryGroupId: Guid,
  toAdd: Described(Count, 'Number of accounts that become due to be added to the group.'),
  toRemove: Described(
    Count,
    'Number of accounts that become due to be removed from the group, those included whose removal is held now and ' +
      'that the removal guard would no longer hold; 0 while members without an account pause the removals of the link: ' +
      'see `pausedRemovals`. Accounts of the warning `RemovalsResumed` are not counted.',
  ),
  pausedRemovals: Described(
    Count,
    'Number of accounts that stay in the group because members without an account pause the removals of the link.',
  ),
  pausedBy: Described(
    Nullable(PausedByDto),
    'The members that would pause the removals; null when `pausedRemovals` is 0.',
  ),
  wouldHold: Described(
    Type.Boolean(),
    'Whether the removal guard would hold these removals, with the removals of the last 24 hours and those held now. ' +
      'Accounts of the warning `RemovalsResumed` are not counted.',
  ),
})

/** What a plan warns of. The API description says when each applies. */
const WARNING_CODES = [
  'MatchesNobody',
  'MatchesEverybody',
  'ValueNotInData',
  'SameAs',
  'WouldHold',
  'RemovalsPaused',
  'RemovalsResumed',
  ...PROOF_CODES,
] as const

const PlanWarning = Closed({
  code: Described(
    OneOf(WARNING_CODES),
    '`MatchesNobody`, `MatchesEverybody`: the condition matches no object, or every object of the type. ' +
      '`ValueNotInData`: no object has this value of an `Equals` or `In`. `SameAs`: another criteria collection of the ' +
      'same type would have the same members; at most 20 are listed. `WouldHold`: the removal guard would hold removals. ' +
      '`RemovalsPaused`: a link would keep accounts in its group because some members have no account; the message names ' +
      'up to 20 of them. `RemovalsResumed`: no member would pause the removals of a link any more, and the accounts that ' +
      'have stayed in its group meanwhile would be removed too; only the sync shows how many they are. ' +
      PROOF_CODES_TEXT,
  ),
  message: Type.String(),
  target: Described(
    Type.String(),
    'The id of the other collection for `SameAs`, otherwise a JSON pointer into the condition; empty for all of it.',
  ),
})
export type PlanWarning = Static<typeof PlanWarning>

const EquivalentCollection = Closed({ collectionId: Guid, name: Type.String() })

/** What saving a criteria collection would do. */
export const ChangePlan = Closed({
  planId: Described(
    Type.String(),
    'Opaque. Identifies the new condition and its exact effect. Valid for this collection, on all instances.',
  ),
  expiresAt: Described(Timestamp, 'When the plan can no longer be specified in `If-Plan`: after an hour.'),
  collections: Described(
    Type.Array(PlannedCollection),
    'This collection, then those that refer to it, directly or not, and whose members change.',
  ),
  links: Described(
    Type.Array(PlannedLink),
    'The enabled links of these collections whose groups change, or would change without paused removals, and those of ' +
      'the warning `RemovalsResumed`.',
  ),
  requests: Closed({
    becomeEligible: Described(Count, 'Number of people who become eligible to join at least one collection.'),
    loseEligibility: Described(Count, 'Number of waiting requests whose requester is no longer eligible.'),
  }),
  warnings: Type.Array(PlanWarning),
  equivalentTo: Described(
    Type.Array(EquivalentCollection),
    'Other criteria collections of the same type whose conditions certainly mean the same for all data, although they ' +
      'may be written differently; at most 20. Others can mean the same too: the list has those that read the same ' +
      'attributes and have up to 12 different leaves together with this one, or whose different parts have up to 12, or ' +
      'that differ only in the order and nesting of their groups.',
  ),
})
export type ChangePlan = Static<typeof ChangePlan>

/** The value of `If-Plan`. */
type PlanOwner = { readonly tenantId: string; readonly collectionId: string }

/** A plan as its id names it. `effect` is equal for equal effects. */
type PlannedOutcome = { readonly effect: string; readonly expiresAtMs: number }

/** Ids of plans. They contain what they name, so that every instance can read them and nothing is stored. */
export interface PlanIds {
  issue(owner: PlanOwner, outcome: PlannedOutcome): Promise<string>
  /** Undefined for any text that was not issued for this owner. */
  read(owner: PlanOwner, planId: string): Promise<PlannedOutcome | undefined>
}
