import { type Static, Type } from 'typebox'
import { type RefusalCode, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
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
export const JoinPolicyDto = Closed({
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

type GateInput = NonNullable<JoinPolicyInput['approvalGates']>[number]

/** Where a policy names something else, for telling what is not there. */
export type PolicyReference = {
  readonly to: 'identity' | 'collection'
  readonly id: string
  readonly pointer: string
  /** The gate, by type and order, or `joinableBy`: the same place in two versions of a policy. */
  readonly place: string
}

export type CheckedPolicy = {
  /** Only to be used when there are no faults. */
  readonly policy: JoinPolicy
  readonly faults: readonly RefusalEntry[]
  readonly references: readonly PolicyReference[]
}

/** All that is wrong with a join policy in itself: decisions, section 7. Pointers lead into the body. */
export function checkJoinPolicy(given: JoinPolicyInput, pointer = '/joinPolicy'): CheckedPolicy {
  const gates = given.approvalGates ?? []
  const collectionIds = given.joinableBy?.collectionIds ?? []
  const gatesPointer = `${pointer}/approvalGates`
  const faults = gates.flatMap((gate, index) => gateFaults(gate, gates.slice(0, index), `${gatesPointer}/${index}`))
  if (given.approvalRequired && gates.length === 0) {
    faults.unshift(refusalEntry('GateRequired', undefined, gatesPointer))
  }
  return {
    policy: {
      approvalRequired: given.approvalRequired,
      approvalGates: gates.map(normalizedGate).sort((one, other) => one.order - other.order),
      joinableBy: { collectionIds: [...new Set(collectionIds)] },
    },
    faults,
    references: policyReferences(given, pointer),
  }
}

/** What a policy names, as given or as kept. */
type NamingPolicy = {
  readonly approvalGates?: readonly NamingGate[] | null
  readonly joinableBy?: { readonly collectionIds?: readonly string[] | null } | null
}
type NamingGate = Pick<ApprovalGate, 'order'> & {
  readonly type: string
  readonly approvers?: readonly string[] | null
}

/** Everything that a policy names, with where it does. */
export function policyReferences(
  { approvalGates, joinableBy }: NamingPolicy,
  pointer = '/joinPolicy',
): PolicyReference[] {
  return [
    ...(approvalGates ?? []).flatMap((gate, index) => gateReferences(gate, `${pointer}/approvalGates/${index}`)),
    ...(joinableBy?.collectionIds ?? []).map((id, index) => ({
      to: 'collection' as const,
      id,
      pointer: `${pointer}/joinableBy/collectionIds/${index}`,
      place: 'joinableBy',
    })),
  ]
}

function gateFaults(gate: GateInput, earlier: readonly GateInput[], pointer: string): RefusalEntry[] {
  const { order, type } = gate
  const faults: RefusalEntry[] = []
  const fault = (code: RefusalCode, message: string, member: keyof GateInput) =>
    void faults.push(refusalEntry(code, message, `${pointer}/${member}`))
  if (order < 1) fault('InvalidGateOrder', `The order of a gate has to be 1 or more, not ${order}`, 'order')
  if (earlier.some((other) => other.order === order)) {
    fault('DuplicateGateOrder', `Two gates have the order ${order}`, 'order')
  }
  if (!isGateType(type)) {
    fault('UnknownGateType', `A gate is of type Identity, Collection or Manager, not ${type}`, 'type')
    return faults
  }
  const approverCount = gate.approvers?.length ?? 0
  if (type === 'Manager') {
    if (earlier.some((other) => other.type === 'Manager')) {
      fault('DuplicateManagerGate', 'There can be one Manager gate only', 'type')
    }
    if (approverCount > 0) fault('ApproversNotAllowed', 'A Manager gate takes no approvers', 'approvers')
  } else if (approverCount === 0) fault('ApproversRequired', `A gate of type ${type} needs approvers`, 'approvers')
  return faults
}

function gateReferences({ order, type, approvers }: NamingGate, pointer: string): PolicyReference[] {
  if (type !== 'Identity' && type !== 'Collection') return []
  const to = type === 'Identity' ? 'identity' : 'collection'
  const place = `${type} ${order}`
  return (approvers ?? []).map((id, index) => ({ to, id, pointer: `${pointer}/approvers/${index}`, place }))
}

function normalizedGate({ order, type, approvers }: GateInput): ApprovalGate {
  return { order, type: isGateType(type) ? type : 'Identity', approvers: [...new Set(approvers ?? [])] }
}
