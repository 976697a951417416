import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import type { ExplainedGroup } from '../criteria/explain.ts'
import { MEMBER_CHANGE_CAUSES } from '../history/member-history.ts'
import { MembershipRequestDto } from '../membership-requests/membership-request.ts'
import { LinkStanding } from './link-standing.ts'

/** The condition of a collection with the results on a row. The API description identifies the schema by its title. */
export const ExplainedCondition = Type.Unsafe<ExplainedGroup>({ type: 'object', title: 'ExplainedCondition' })

export const ExplainedRow = Closed({
  identityId: Nullable(Guid),
  relationshipId: Nullable(Guid),
  orgUnitId: Nullable(Guid),
  holds: Type.Boolean(),
  condition: ExplainedCondition,
})
export type ExplainedRow = Static<typeof ExplainedRow>

/** Why an object is, or is not, a member. */
export const Explanation = Closed({
  collectionId: Guid,
  objectId: Guid,
  verdict: Described(
    OneOf(['Member', 'NotMember', 'JoinsSoon', 'LeavesSoon']),
    '`JoinsSoon` and `LeavesSoon`: the stored members differ from what the condition says now.',
  ),
  isMember: Described(Type.Boolean(), 'Whether the object is among the stored members.'),
  satisfies: Described(
    Nullable(Type.Boolean()),
    'Whether the object satisfies the condition now; null for a joinable collection.',
  ),
  evaluatedAt: Described(
    Nullable(Timestamp),
    'When the stored members were evaluated; null before the first evaluation. For a joinable collection, now.',
  ),
  rowCount: Described(
    Type.Integer(),
    'Number of rows of the object on which the condition is evaluated; 0 for a joinable collection.',
  ),
  rows: Described(
    Type.Array(ExplainedRow),
    'A page of the rows of the object on which the condition is evaluated. Empty for a joinable collection.',
  ),
  request: Described(
    Nullable(MembershipRequestDto),
    'The request that makes the object a member, or else the one that waits; of several, the one that ends last. Null in a ' +
      'criteria collection.',
  ),
  since: Described(
    Nullable(Timestamp),
    'When a member was last added, in a collection of relationships by request for the position of `request`, as far as ' +
      'the history of members is kept; null for an object that is no member.',
  ),
  cause: Described(
    Nullable(OneOf(MEMBER_CHANGE_CAUSES)),
    'Why a member was last added, as in the history of members; null as `since`.',
  ),
  until: Described(
    Nullable(Timestamp),
    'When the membership ends, as `endsAt` of its request; null without an end, and for an object that is no member.',
  ),
  links: Type.Array(LinkStanding),
})
export type Explanation = Static<typeof Explanation>
