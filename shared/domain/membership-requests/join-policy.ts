import { type Static, Type } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import type { Collection } from '../collections/collection.ts'

/** Who decides at a gate: named identities, the members of collections, or the manager of the position. */
const GATE_TYPES = ['Identity', 'Collection', 'Manager'] as const
export const GateType = OneOf(GATE_TYPES)
export type GateType = (typeof GATE_TYPES)[number]

/** Whether a word names a type of gate. */
export function isGateType(text: string): text is GateType {
  return (GATE_TYPES as readonly string[]).includes(text)
}

/** More than any approval has; they keep a policy readable and a decision cheap. */
const GATES_AT_MOST = 20
const APPROVERS_AT_MOST = 200
const COLLECTIONS_AT_MOST = 200

/** A join policy as callers give it. What no schema says of it is checked by `checkJoinPolicy`, all at once. */
export const JoinPolicyInput = Type.Object({
  approvalRequired: Type.Boolean(),
  approvalGates: Type.Optional(
    Nullable(
      Type.Array(
        Type.Object({
          order: Type.Integer(),
          type: Type.String({ maxLength: 50 }),
          approvers: Type.Optional(
            Nullable(
              Type.Array(Guid, {
                maxItems: APPROVERS_AT_MOST,
                description:
                  'Identities, collections or none, by the type of the gate. They have to exist; on a change, those that the same gate (by `order` and `type`) has already may stay when they were deleted since. A gate with nobody left to decide holds requests until the policy changes, an administrator adds the person, or the request is cancelled.',
              }),
            ),
          ),
        }),
        { maxItems: GATES_AT_MOST },
      ),
    ),
  ),
  joinableBy: Type.Optional(
    Nullable(
      Type.Object({
        collectionIds: Type.Optional(Nullable(Type.Array(Guid, { maxItems: COLLECTIONS_AT_MOST }))),
      }),
    ),
  ),
})
export type JoinPolicyInput = Static<typeof JoinPolicyInput>

/** A join policy as it is kept and answered: gates in ascending order, nothing left out. */
export const JoinPolicyRecord = Closed({
  approvalRequired: Type.Boolean(),
  approvalGates: Type.Array(
    Closed({
      order: Type.Integer(),
      type: GateType,
      approvers: Described(
        Type.Array(Guid),
        'As given. Whoever was deleted since stays named here, and decides nothing.',
      ),
    }),
  ),
  joinableBy: Closed({ collectionIds: Type.Array(Guid) }),
})

export type ApprovalGate = {
  readonly order: number
  readonly type: GateType
  /** Identity ids, collection ids, or none: by the type. */
  readonly approvers: readonly string[]
}

export type JoinPolicy = {
  readonly approvalRequired: boolean
  readonly approvalGates: readonly ApprovalGate[]
  /** Members of one of these may ask; everyone with an identity when there are none. */
  readonly joinableBy: { readonly collectionIds: readonly string[] }
}

/** The policy of a joinable collection. It was checked when it was stored. */
export function policyOf(collection: Collection): JoinPolicy {
  return collection.definition as JoinPolicy
}

/** The gates that a request passes, in their order: none where no approval is required, whatever gates are kept. */
export function gatesOf({ approvalRequired, approvalGates }: JoinPolicy): readonly ApprovalGate[] {
  return approvalRequired ? approvalGates : []
}

/** The collections whose members decide at one of the gates. */
export function approverCollections(gates: readonly ApprovalGate[]): string[] {
  return [...new Set(gates.flatMap(({ type, approvers }) => (type === 'Collection' ? approvers : [])))]
}
