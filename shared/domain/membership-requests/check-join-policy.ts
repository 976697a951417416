import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import {
  type ApprovalGate,
  FALLBACK_TYPES,
  type Fallback,
  GATE_TYPES,
  type GateType,
  type JoinPolicy,
  type JoinPolicyInput,
  limitsOf,
} from './join-policy.ts'

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
export function checkJoinPolicy(input: JoinPolicyInput): CheckedPolicy {
  const gates = input.approvalGates ?? []
  const collectionIds = input.joinableBy?.collectionIds ?? []
  const faults = gates.flatMap((gate, index) => gateFaults(gate, gates.slice(0, index), `${GATES}/${index}`))
  if (input.joinableBy?.collectionIds === undefined && Object.keys(input.joinableBy ?? {}).length > 0) {
    const message = 'collectionIds is required unless joinableBy is empty'
    faults.push(refusalEntry('MissingMember', message, COLLECTION_IDS))
  }
  if (input.approvalRequired && gates.length === 0) {
    faults.unshift(refusalEntry('GateRequired', undefined, GATES))
  }
  return {
    policy: {
      approvalRequired: input.approvalRequired,
      approvalGates: gates.map(normalizedGate).sort((left, right) => left.order - right.order),
      joinableBy: { collectionIds: [...new Set(collectionIds)] },
      ...limitsOf(input),
    },
    faults,
    references: policyReferences(input),
  }
}

/** JSON pointers into the body of a collection. */
const [GATES, COLLECTION_IDS] = ['/joinPolicy/approvalGates', '/joinPolicy/joinableBy/collectionIds']

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
export function policyReferences({ approvalGates, joinableBy }: NamingPolicy): PolicyReference[] {
  return [
    ...(approvalGates ?? []).flatMap((gate, index) => gateReferences(gate, `${GATES}/${index}`)),
    ...(joinableBy?.collectionIds ?? []).map((id, index) => ({
      to: 'collection' as const,
      id,
      pointer: `${COLLECTION_IDS}/${index}`,
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

function normalizedGate({ order, type, approvers, reminderDays, fallback }: GateInput): ApprovalGate {
  const gate: ApprovalGate = {
    order,
    type: isGateType(type) ? type : 'Identity',
    approvers: [...new Set(approvers ?? [])],
    ...(reminderDays === undefined ? {} : { reminderDays }),
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

function isGateType(text: string): text is GateType {
  return (GATE_TYPES as readonly string[]).includes(text)
}
