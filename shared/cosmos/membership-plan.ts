import type { OperationInput } from '@azure/cosmos'
import type { EvaluatedMembers, MembershipChange } from '../domain/collections/membership-store.ts'
import { OPERATIONS_PER_BATCH_COUNT, type Stored } from './documents.ts'
import { chunksOf, nextPrefixLength, prefixLengthFor } from './membership-chunks.ts'
import {
  type ChunkDocument,
  HEAD_ID,
  type MembersChangeDocument,
  type MembersHeadDocument,
} from './membership-documents.ts'
import { CHANGES_KEPT_S } from './membership-history.ts'

/** Ids in one change beyond which it is not kept: comparing as a whole is cheaper then. */
const CHANGE_IDS_AT_MOST = 10_000

/** What a new membership writes. */
export type WritePlan = {
  readonly ahead: OperationInput[]
  readonly withHead: OperationInput[]
  /** The generation of chunks that counts once the head is written. */
  readonly generation: string
  /** The generation whose chunks nobody reads any more from then on; undefined when all of it stays in use. */
  readonly replaced: string | undefined
}

/**
 * How the evaluation becomes the membership: `ahead` is to be written first and seen by nobody, `withHead` in one
 * transaction, the head being its last operation.
 * @param newGeneration Names the chunks, should all of them be written anew.
 */
export function planWrite(
  partition: string,
  before: Stored<MembersHeadDocument> | undefined,
  evaluation: EvaluatedMembers,
  change: MembershipChange,
  digest: string,
  newGeneration: string,
): WritePlan {
  const count = evaluation.ids.length
  const prefixLength = before === undefined ? prefixLengthFor(count) : nextPrefixLength(before.prefixLength, count)
  const isChanged = change.added.length + change.removed.length > 0
  const membershipVersion = (before?.membershipVersion ?? 0) + (isChanged || before === undefined ? 1 : 0)
  const history = isChanged ? changeOperations(partition, change, membershipVersion) : []
  const touched = chunksOf([...change.added, ...change.removed], prefixLength)
  const isPartial =
    before !== undefined &&
    prefixLength === before.prefixLength &&
    touched.size + history.length < OPERATIONS_PER_BATCH_COUNT / 2
  const generation = isPartial ? before.generation : newGeneration
  const chunks = chunksOf(evaluation.ids, prefixLength)
  const chunkOperation = (prefix: string) => operationOfChunk(partition, generation, prefix, chunks.get(prefix))
  const { definitionKey, evaluatedAtMs } = evaluation
  const head: MembersHeadDocument = {
    id: HEAD_ID,
    membersOf: partition,
    type: 'head',
    count,
    membershipVersion,
    definitionKey,
    evaluatedAtMs,
    generation,
    prefixLength,
    digest,
  }
  const last = [...history, operationOfHead(head, before)]
  return isPartial
    ? { ahead: [], withHead: [...[...touched.keys()].map(chunkOperation), ...last], generation, replaced: undefined }
    : { ahead: [...chunks.keys()].map(chunkOperation), withHead: last, generation, replaced: before?.generation }
}

/** A chunk without ids is deleted. */
function operationOfChunk(
  partition: string,
  generation: string,
  prefix: string,
  ids: string[] | undefined,
): OperationInput {
  const id = `chunk:${generation}:${prefix}`
  if (ids === undefined) return { operationType: 'Delete', id }
  const document: ChunkDocument = { id, membersOf: partition, type: 'chunk', generation, prefix, ids }
  return { operationType: 'Upsert', resourceBody: document }
}

function operationOfHead(head: MembersHeadDocument, before: Stored<MembersHeadDocument> | undefined): OperationInput {
  return before === undefined
    ? { operationType: 'Create', resourceBody: head }
    : { operationType: 'Replace', id: HEAD_ID, resourceBody: head, ifMatch: before._etag }
}

function changeOperations(partition: string, change: MembershipChange, membershipVersion: number): OperationInput[] {
  if (change.added.length + change.removed.length > CHANGE_IDS_AT_MOST) return []
  const document: MembersChangeDocument = {
    id: `change:${membershipVersion}`,
    membersOf: partition,
    type: 'change',
    membershipVersion,
    added: change.added,
    removed: change.removed,
    ttl: CHANGES_KEPT_S,
  }
  return [{ operationType: 'Upsert', resourceBody: document }]
}
