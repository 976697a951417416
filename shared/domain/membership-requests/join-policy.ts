import { type Static, Type } from 'typebox'
import { type RefusalCode, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, OneOf } from '../../kernel/schema.ts'
import type { Collection } from '../collections/collection.ts'

/** The approvers of a gate: listed identities, the members of listed collections, or the manager of the position. */
const GATE_TYPES = ['Identity', 'Collection', 'Manager'] as const
export const GateType = OneOf(GATE_TYPES)
export type GateType = (typeof GATE_TYPES)[number]

function isGateType(text: string): text is GateType {
  return (GATE_TYPES as readonly string[]).includes(text)
}

/** Limits that keep policies readable and decisions fast. No known approval process comes near them. */
const MAX_GATES = 20
const MAX_APPROVERS = 200
const MAX_COLLECTIONS = 200

/** Who decides as well when a gate is not decided in time. */
const FALLBACK_TYPES = ['Identity', 'Collection'] as const

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
        'Extensions wait until the membership ends.',
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
              'Ids of identities or collections, or none, depending on the type of the gate. They must exist. An update may keep deleted approvers that the same gate (by `order` and `type`) already has. At a gate without approvers, requests wait until the policy changes, an administrator adds the requester directly, or the request is cancelled.',
          }),
        ),
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
      fallback: Type.Optional(FallbackDto),
    }),
  ),
  joinableBy: Closed({ collectionIds: Type.Array(Guid) }),
  ...LIMITS,
})

type PolicyLimits = Readonly<Static<Type.TObject<typeof LIMITS>>>

/** These members of a policy, without those that are absent. */
export function limitsOf({ maxDays, requestDays, rejectionNeedsReason }: PolicyLimits): PolicyLimits {
  return {
    ...(maxDays === undefined ? {} : { maxDays }),
    ...(requestDays === undefined ? {} : { requestDays }),
    ...(rejectionNeedsReason === undefined ? {} : { rejectionNeedsReason }),
  }
}

export type ApprovalGate = {
  readonly order: number
  readonly type: GateType
  /** Identity ids, collection ids, or none, depending on the type. */
  readonly approvers: readonly string[]
  readonly fallback?: Fallback
}

/** Decides as well once a request has waited at a gate for so many days, or at once when the gate has nobody. */
export type Fallback = {
  readonly afterDays: number
  readonly type: (typeof FALLBACK_TYPES)[number]
  readonly approvers: readonly string[]
}

export type JoinPolicy = PolicyLimits & {
  readonly approvalRequired: boolean
  readonly approvalGates: readonly ApprovalGate[]
  /** Members of any of these collections may submit requests; every identity when the list is empty. */
  readonly joinableBy: { readonly collectionIds: readonly string[] }
}

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

type GateInput = NonNullable<JoinPolicyInput['approvalGates']>[number]

/** A reference from a policy to an identity or a collection. */
export type PolicyReference = {
  readonly to: 'identity' | 'collection'
  readonly id: string
  readonly pointer: string
  /** The gate, by type and order, or `joinableBy`. Identifies the same place in two versions of a policy. */
  readonly place: string
}

export type CheckedPolicy = {
  /** Valid only when there are no faults. */
  readonly policy: JoinPolicy
  readonly faults: readonly RefusalEntry[]
  readonly references: readonly PolicyReference[]
}

/**
 * Checks a join policy without regard to other objects. Returns all faults at once, with JSON
 * pointers into the body, and the references that the caller must check.
 */
export function checkJoinPolicy(given: JoinPolicyInput, pointer = '/joinPolicy'): CheckedPolicy {
  const gates = given.approvalGates ?? []
  const collectionIds = given.joinableBy?.collectionIds ?? []
  const gatesPointer = `${pointer}/approvalGates`
  const faults = gates.flatMap((gate, index) => gateFaults(gate, gates.slice(0, index), `${gatesPointer}/${index}`))
  if (given.joinableBy?.collectionIds === undefined && Object.keys(given.joinableBy ?? {}).length > 0) {
    const message = 'collectionIds is required unless joinableBy is empty'
    faults.push(refusalEntry('MissingMember', message, `${pointer}/joinableBy/collectionIds`))
  }
  if (given.approvalRequired && gates.length === 0) {
    faults.unshift(refusalEntry('GateRequired', undefined, gatesPointer))
  }
  return {
    policy: {
      approvalRequired: given.approvalRequired,
      approvalGates: gates.map(normalizedGate).sort((one, other) => one.order - other.order),
      joinableBy: { collectionIds: [...new Set(collectionIds)] },
      ...limitsOf(given),
    },
    faults,
    references: policyReferences(given, pointer),
  }
}

/** The parts of a policy that hold references, as sent or as stored. */
type NamingPolicy = {
  readonly approvalGates?: readonly NamingGate[]
  readonly joinableBy?: { readonly collectionIds?: readonly string[] }
}
type NamingGate = Pick<ApprovalGate, 'order'> & {
  readonly type: string
  readonly approvers?: readonly string[]
  readonly fallback?: { readonly type: string; readonly approvers?: readonly string[] }
}

/** Returns all references of a policy, with JSON pointers. */
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
  if (order < 1) fault('InvalidGateOrder', `The order of a gate must be 1 or greater, not ${order}`, 'order')
  if (earlier.some((other) => other.order === order)) {
    fault('DuplicateGateOrder', `More than one gate has the order ${order}`, 'order')
  }
  if (!isGateType(type)) {
    fault('UnknownGateType', `The type of a gate must be Identity, Collection or Manager, not ${type}`, 'type')
    return faults
  }
  const approverCount = gate.approvers?.length ?? 0
  if (type === 'Manager') {
    if (earlier.some((other) => other.type === 'Manager')) {
      fault('DuplicateManagerGate', 'A policy can have only one Manager gate', 'type')
    }
    if (approverCount > 0) fault('ApproversNotAllowed', 'A Manager gate cannot have approvers', 'approvers')
  } else if (approverCount === 0) fault('ApproversRequired', `A gate of type ${type} must have approvers`, 'approvers')
  return gate.fallback === undefined ? faults : [...faults, ...fallbackFaults(gate.fallback, `${pointer}/fallback`)]
}

function fallbackFaults({ type, approvers = [] }: NonNullable<GateInput['fallback']>, pointer: string): RefusalEntry[] {
  if (!isFallbackType(type)) {
    const message = `The type of a fallback must be Identity or Collection, not ${type}`
    return [refusalEntry('UnknownGateType', message, `${pointer}/type`)]
  }
  if (approvers.length > 0) return []
  return [refusalEntry('ApproversRequired', 'A fallback must have approvers', `${pointer}/approvers`)]
}

function isFallbackType(text: string): text is Fallback['type'] {
  return (FALLBACK_TYPES as readonly string[]).includes(text)
}

function gateReferences({ order, fallback, ...gate }: NamingGate, pointer: string): PolicyReference[] {
  const ofGate = namedReferences(gate, `${gate.type} ${order}`, pointer)
  if (fallback === undefined) return ofGate
  return [...ofGate, ...namedReferences(fallback, `fallback ${fallback.type} ${order}`, `${pointer}/fallback`)]
}

function namedReferences(
  { type, approvers }: Omit<NamingGate, 'order'>,
  place: string,
  pointer: string,
): PolicyReference[] {
  if (type !== 'Identity' && type !== 'Collection') return []
  const to = type === 'Identity' ? 'identity' : 'collection'
  return (approvers ?? []).map((id, index) => ({ to, id, pointer: `${pointer}/approvers/${index}`, place }))
}

function normalizedGate({ order, type, approvers, fallback }: GateInput): ApprovalGate {
  const gate: ApprovalGate = {
    order,
    type: isGateType(type) ? type : 'Identity',
    approvers: [...new Set(approvers ?? [])],
  }
  return fallback === undefined ? gate : { ...gate, fallback: normalizedFallback(fallback) }
}

function normalizedFallback({ afterDays, type, approvers }: NonNullable<GateInput['fallback']>): Fallback {
  return {
    afterDays,
    type: isFallbackType(type) ? type : 'Identity',
    approvers: [...new Set(approvers ?? [])],
  }
}
