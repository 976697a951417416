import { type Static, Type } from 'typebox'
import { Closed, Nullable } from '../../kernel/schema.ts'
import {
  type Collection,
  CollectionDto,
  CollectionObjectType,
  Description,
  Metadata,
  Name,
  toCollectionDto,
} from '../collections/collection.ts'
import { JoinPolicyInput, JoinPolicyRecord, policyOf } from './join-policy.ts'

export const NewJoinableCollection = Type.Object({
  objectType: CollectionObjectType,
  name: Name,
  joinPolicy: JoinPolicyInput,
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type NewJoinableCollection = Static<typeof NewJoinableCollection>

/** What is left out keeps its value: decisions, section 10. */
export const JoinableCollectionUpdate = Type.Object({
  objectType: CollectionObjectType,
  name: Type.Optional(Name),
  joinPolicy: Type.Optional(JoinPolicyInput),
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type JoinableCollectionUpdate = Static<typeof JoinableCollectionUpdate>

export const JoinableCollectionRecord = Closed({ ...CollectionDto.properties, joinPolicy: JoinPolicyRecord })
export type JoinableCollectionRecord = Static<typeof JoinableCollectionRecord>

/** The record under the prefix of joinable collections: with the join policy. */
export function joinableCollectionRecord(collection: Collection): JoinableCollectionRecord {
  const { approvalRequired, approvalGates, joinableBy } = policyOf(collection)
  return {
    ...toCollectionDto(collection),
    joinPolicy: {
      approvalRequired,
      approvalGates: approvalGates.map((gate) => ({ ...gate, approvers: [...gate.approvers] })),
      joinableBy: { collectionIds: [...joinableBy.collectionIds] },
    },
  }
}
