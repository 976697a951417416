import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { Api } from '../api.ts'
import { namesOf } from '../object-names.ts'
import type { JoinPolicyWire } from './edited-policy.ts'

/** The names of the people and collections that a policy names by id. */
export async function readPolicyNames(
  { approvalGates, joinableBy }: JoinPolicyWire,
  api: Api,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const idsOf = (type: 'Identity' | 'Collection') =>
    approvalGates.flatMap((gate) => (gate.type === type ? gate.approvers : []))
  const hasCollections = idsOf('Collection').length + joinableBy.collectionIds.length > 0
  const [people, collections] = await Promise.all([
    namesOf(api, 'Identity', idsOf('Identity'), signal),
    hasCollections ? api.all<CollectionDto>('/collections/beta') : [],
  ])
  return new Map([...people, ...collections.map(({ id, name }) => [id, name] as const)])
}
