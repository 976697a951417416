import { type RefusalCode, type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { type ApprovalGate, isGateType, type JoinPolicy, type JoinPolicyInput } from './join-policy.ts'

type GivenGate = NonNullable<JoinPolicyInput['approvalGates']>[number]

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
      approvalGates: gates.map(keptGate).sort((one, other) => one.order - other.order),
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

function gateFaults(gate: GivenGate, earlier: readonly GivenGate[], pointer: string): RefusalEntry[] {
  const { order, type } = gate
  const faults: RefusalEntry[] = []
  const fault = (code: RefusalCode, message: string, member: keyof GivenGate) =>
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

function keptGate({ order, type, approvers }: GivenGate): ApprovalGate {
  return { order, type: isGateType(type) ? type : 'Identity', approvers: [...new Set(approvers ?? [])] }
}
