import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'

/** A join policy as the API returns it. */
export type JoinPolicyWire = JoinableCollectionDto['joinPolicy']
type Gate = JoinPolicyWire['approvalGates'][number]

type NamedId = { readonly id: string; readonly name: string }

/** A gate that is being edited. `key` identifies it while it moves. */
export type EditedGate = {
  readonly key: number
  readonly type: Gate['type']
  readonly approvers: readonly NamedId[]
  /** What the form does not show, of the gate with its type. A gate of another type has none of it. */
  readonly kept: Omit<Gate, 'order' | 'approvers'>
}

/** A policy that is being edited. The order of the gates is their place in the list. */
export type EditedPolicy = {
  readonly isApprovalRequired: boolean
  readonly gates: readonly EditedGate[]
  readonly joinableBy: readonly NamedId[]
  readonly isReasonNeeded: boolean
  /** As it is typed. Empty: no limit. */
  readonly maxDays: string
  /** What the form does not show. */
  readonly kept: Pick<JoinPolicyWire, 'requestDays'>
}

export const NEW_POLICY: EditedPolicy = {
  isApprovalRequired: true,
  gates: [{ key: 0, type: 'Manager', approvers: [], kept: { type: 'Manager' } }],
  joinableBy: [],
  isReasonNeeded: false,
  maxDays: '',
  kept: {},
}

/** A policy to edit. `policyDto` returns the same policy again. */
export function editedPolicy(policy: JoinPolicyWire, names: ReadonlyMap<string, string>): EditedPolicy {
  const { approvalRequired, approvalGates, joinableBy, rejectionNeedsReason = false, maxDays = '', ...kept } = policy
  const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: names.get(id) ?? id }))
  return {
    isApprovalRequired: approvalRequired,
    gates: approvalGates.map(({ order: _, approvers, ...kept }, key) => {
      return { key, type: kept.type, approvers: named(approvers), kept }
    }),
    joinableBy: named(joinableBy.collectionIds),
    isReasonNeeded: rejectionNeedsReason,
    maxDays: String(maxDays),
    kept,
  }
}

/** The policy to save. Without approval the form shows no gates: those that are not complete are left out. */
export function policyDto(policy: EditedPolicy): JoinPolicyWire {
  const { isApprovalRequired, gates, joinableBy, isReasonNeeded, maxDays, kept } = policy
  return {
    approvalRequired: isApprovalRequired,
    approvalGates: gates
      .filter((gate) => isApprovalRequired || isGateComplete(gate))
      .map((gate, index) => ({
        order: index + 1,
        type: gate.type,
        approvers: gate.approvers.map(({ id }) => id),
        ...(gate.kept.type === gate.type ? gate.kept : {}),
      })),
    joinableBy: { collectionIds: joinableBy.map(({ id }) => id) },
    ...(isReasonNeeded ? { rejectionNeedsReason: true } : {}),
    ...(maxDays === '' ? {} : { maxDays: Number(maxDays) }),
    ...kept,
  }
}

/**
 * A policy for what another person has saved meanwhile: with their version of what the form does not show, also of the
 * gates that both have.
 */
export function withTheirHiddenParts(mine: EditedPolicy, theirs: EditedPolicy): EditedPolicy {
  const counterpart = (gate: EditedGate, index: number): EditedGate | undefined => {
    const same = theirs.gates.find((other) => hasSameDeciders(other, gate))
    const there = theirs.gates[index]
    if (same !== undefined || there === undefined) return same
    // The same gate with other approvers.
    const isFree = there.type === gate.type && !mine.gates.some((other) => hasSameDeciders(other, there))
    return isFree ? there : undefined
  }
  const gates = mine.gates.map((gate, index) => ({ ...gate, kept: (counterpart(gate, index) ?? gate).kept }))
  return { ...mine, gates, kept: theirs.kept }
}

function hasSameDeciders(one: EditedGate, other: EditedGate): boolean {
  const ids = ({ approvers }: EditedGate): string =>
    approvers
      .map(({ id }) => id)
      .sort()
      .join()
  return one.type === other.type && ids(one) === ids(other)
}

/** Whether each gate has what its type requires, where approval is required. The API checks the rest. */
export function isPolicyComplete({ isApprovalRequired, gates }: EditedPolicy): boolean {
  return !isApprovalRequired || (gates.length > 0 && gates.every(isGateComplete))
}

function isGateComplete({ type, approvers }: EditedGate): boolean {
  return type === 'Manager' || approvers.length > 0
}
