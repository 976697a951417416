import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Api } from '../api.ts'
import type { PickedItem } from '../components/item-picker.tsx'
import { namesOf } from '../object-names.ts'

/** A join policy as the API returns it. */
export type JoinPolicyWire = JoinableCollectionDto['joinPolicy']
type Gate = JoinPolicyWire['approvalGates'][number]

/** A gate that is being edited. `key` identifies it while it moves. */
export type EditedGate = {
  readonly key: number
  readonly type: Gate['type']
  readonly approvers: readonly PickedItem[]
}

/** A policy that is being edited. The order of the gates is their place in the list. */
export type EditedPolicy = {
  readonly isApprovalRequired: boolean
  readonly gates: readonly EditedGate[]
  readonly joinableBy: readonly PickedItem[]
}

export const NEW_POLICY: EditedPolicy = {
  isApprovalRequired: true,
  gates: [{ key: 0, type: 'Manager', approvers: [] }],
  joinableBy: [],
}

/** The names of the people and collections that a policy names by id. */
export async function readPolicyNames(
  { approvalGates, joinableBy }: JoinPolicyWire,
  api: Api,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (type: Gate['type']) => approvalGates.flatMap((gate) => (gate.type === type ? gate.approvers : []))
  const hasCollections = idsOf('Collection').length + joinableBy.collectionIds.length > 0
  const [people, collections] = await Promise.all([
    namesOf(api, 'Identity', idsOf('Identity'), signal),
    hasCollections ? api.all<CollectionDto>('/collections/beta') : [],
  ])
  return new Map([...people, ...collections.map(({ id, name }) => [id, name] as const)])
}

export function editedPolicy(policy: JoinPolicyWire, names: ReadonlyMap<string, string>): EditedPolicy {
  const named = (ids: readonly string[]) => ids.map((id) => ({ id, name: names.get(id) ?? id }))
  return {
    isApprovalRequired: policy.approvalRequired,
    gates: policy.approvalGates.map(({ type, approvers }, key) => ({ key, type, approvers: named(approvers) })),
    joinableBy: named(policy.joinableBy.collectionIds),
  }
}

export function policyDto({ isApprovalRequired, gates, joinableBy }: EditedPolicy): JoinPolicyWire {
  return {
    approvalRequired: isApprovalRequired,
    approvalGates: gates.map(({ type, approvers }, index) => ({
      order: index + 1,
      type,
      approvers: approvers.map(({ id }) => id),
    })),
    joinableBy: { collectionIds: joinableBy.map(({ id }) => id) },
  }
}

/** Whether each gate has what its type requires. The API checks the rest. */
export function isPolicyComplete({ isApprovalRequired, gates }: EditedPolicy): boolean {
  const areComplete = gates.every(({ type, approvers }) => type === 'Manager' || approvers.length > 0)
  return areComplete && (!isApprovalRequired || gates.length > 0)
}
