import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, OneOf } from '../../kernel/schema.ts'
import type { Collection } from '../collections/collection.ts'

/** The approvers of a gate: listed identities, the members of listed collections, or the manager of the position. */
export const GATE_TYPES = ['Identity', 'Collection', 'Manager'] as const
export const GateType = OneOf(GATE_TYPES)
export type GateType = (typeof GATE_TYPES)[number]

/** Limits that keep policies readable and decisions fast. No known approval process comes near them. */
const MAX_GATES = 20
const MAX_APPROVERS = 200
const MAX_COLLECTIONS = 200

/** Who decides as well when a gate is not decided in time. */
export const FALLBACK_TYPES = ['Identity', 'Collection'] as const

const AfterDays = Type.Integer({ minimum: 1, maximum: 365 })

const FallbackInput = Type.Object(
  {
    afterDays: AfterDays,
    type: Type.String({ maxLength: 50 }),
    approvers: Type.Optional(Type.Array(Guid, { maxItems: MAX_APPROVERS })),
  },
  {
    description:
      'Who decides as well when a request has waited at the gate for `afterDays`, or at once when the gate has no approver ' +
      'other than the requester. `type` is `Identity` or `Collection`. `approvers` are as those of a gate, and required.',
  },
)
const ReminderDays = Type.Integer({
  minimum: 1,
  maximum: 365,
  description:
    'Days after which a request that waits at the gate is reminded of, and again each time after as many days: an event ' +
    '`request.reminder`, and mails to the approvers and their deputies. Absent: no reminders.',
})
const FallbackDto = Closed({ afterDays: AfterDays, type: OneOf(FALLBACK_TYPES), approvers: Type.Array(Guid) })

/** The limits of time, and what a rejection needs. Absent: no limit, and no reason. */
const LIMITS = {
  maxDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 3650,
      description:
        'Days for which a membership lasts at most, counted from its grant or from the call that extends it. Absent: no ' +
        'limit. A change affects no membership that exists.',
    }),
  ),
  requestDays: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      description:
        'Days after which a request that is not decided is cancelled by `system` with the note `Expired`. Absent: no limit. ' +
        'Extensions wait until the membership ends, which they put off for up to 14 days.',
    }),
  ),
  rejectionNeedsReason: Type.Optional(
    Type.Boolean({ description: 'Whether a rejection must have `notes`. Absent: false.' }),
  ),
}

/** A join policy as callers send it. `checkJoinPolicy` checks the rules that the schema cannot express. */
export const JoinPolicyInput = Type.Object({
  approvalRequired: Type.Boolean(),
  approvalGates: Type.Optional(
    Type.Array(
      Type.Object({
        order: Type.Integer(),
        type: Type.String({ maxLength: 50 }),
        approvers: Type.Optional(
          Type.Array(Guid, {
            maxItems: MAX_APPROVERS,
            description:
              'Ids of identities or collections, or none, depending on the type of the gate. They must exist. An update may keep deleted approvers that the same gate (by `order` and `type`) already has. At a gate without approvers, requests wait until there is an approver (a fallback does at once; else a new manager, a new member of the approver collection, or a changed policy), an administrator adds the requester directly, or the request is cancelled.',
          }),
        ),
        reminderDays: Type.Optional(ReminderDays),
        fallback: Type.Optional(FallbackInput),
      }),
      { maxItems: MAX_GATES },
    ),
  ),
  joinableBy: Type.Optional(
    Type.Object({
      collectionIds: Type.Optional(
        Type.Array(Guid, {
          maxItems: MAX_COLLECTIONS,
          description:
            'Everybody is eligible when the list or `joinableBy` is empty. Required beside any other member.',
        }),
      ),
    }),
  ),
  ...LIMITS,
})
export type JoinPolicyInput = Static<typeof JoinPolicyInput>

/** A join policy as the API returns it: gates in ascending order, all members present. */
export const JoinPolicyDto = Closed({
  approvalRequired: Type.Boolean(),
  approvalGates: Type.Array(
    Closed({
      order: Type.Integer(),
      type: GateType,
      approvers: Described(
        Type.Array(Guid),
        'As sent. An approver that was deleted later stays in the list without effect.',
      ),
      reminderDays: Type.Optional(ReminderDays),
      fallback: Type.Optional(FallbackDto),
    }),
  ),
  joinableBy: Closed({ collectionIds: Type.Array(Guid) }),
  ...LIMITS,
})
export type JoinPolicyDto = Static<typeof JoinPolicyDto>

type PolicyLimits = Readonly<Static<Type.TObject<typeof LIMITS>>>

/** These members of a policy, without those that are absent. */
export function limitsOf({ maxDays, requestDays, rejectionNeedsReason }: PolicyLimits): PolicyLimits {
  return {
    ...(maxDays === undefined ? {} : { maxDays }),
    ...(requestDays === undefined ? {} : { requestDays }),
    ...(rejectionNeedsReason === undefined ? {} : { rejectionNeedsReason }),
  }
}

/** A join policy as it is stored: that which the API returns. */
export type JoinPolicy = DeepReadonly<JoinPolicyDto>
export type ApprovalGate = JoinPolicy['approvalGates'][number]
/** Decides as well once a request has waited at a gate for `afterDays`, or at once when the gate has no approver. */
export type Fallback = NonNullable<ApprovalGate['fallback']>

type DeepReadonly<Value> = Value extends object ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> } : Value

/** A policy in force. `version` increases with each change. */
export type AppliedPolicy = JoinPolicy & { readonly version: number }

/** Returns the policy of a joinable collection. It was checked before it was stored. */
export function policyOf({ definition, definitionVersion }: Collection): AppliedPolicy {
  return { ...(definition as JoinPolicy), version: definitionVersion }
}

/**
 * Returns the gates that a request passes, in order: none when no approval is required, even if the policy has gates.
 */
export function gatesOf({ approvalRequired, approvalGates }: JoinPolicy): readonly ApprovalGate[] {
  return approvalRequired ? approvalGates : []
}

/** Returns the collections whose members are approvers at one of the gates, or its fallback. */
export function approverCollections(gates: readonly ApprovalGate[]): string[] {
  const named = gates.flatMap((gate) => [gate, gate.fallback ?? []].flat())
  return [...new Set(named.flatMap(({ type, approvers }) => (type === 'Collection' ? approvers : [])))]
}
