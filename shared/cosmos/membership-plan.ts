import type { OperationInput } from '@azure/cosmos'
import type { EvaluatedMembers, MembershipChange, MembershipHead } from '../domain/collections/membership-store.ts'
import { OPERATIONS_PER_BATCH_COUNT, type Stored } from './documents.ts'

export const HEAD_ID = 'head'

/**
 * Chunks belong to a generation, and the head says which one counts. A change of few chunks rewrites these together
 * with the head; one of many writes a new generation first, unseen until the head names it.
 */
export type MembersHeadDocument = MembershipHead & {
  readonly id: typeof HEAD_ID
  readonly membersOf: string
  readonly type: 'head'
  readonly generation: string
  readonly prefixLength: number
  readonly digest: string
}
export type ChunkDocument = {
  id: string
  membersOf: string
  type: 'chunk'
  generation: string
  prefix: string
  ids: string[]
}
export type MembersChangeDocument = MembershipChange & {
  id: string
  membersOf: string
  type: 'change'
  membershipVersion: number
  ttl: number
}

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

/** Ids that one chunk holds on average, at most: about 16 KB, so that one change rewrites little. */
const IDS_PER_CHUNK_COUNT = 400

const HEX_DIGIT_COUNT = 16

/** Digits of an id that name its chunk: none for a small membership, one more for each factor of sixteen. */
export function prefixLengthFor(count: number): number {
  let length = 0
  for (let capacity = IDS_PER_CHUNK_COUNT; capacity < count; capacity *= HEX_DIGIT_COUNT) length += 1
  return length
}

/**
 * The prefix length that a membership of `count` ids should have when it has `current` now: it stays as long as
 * chunks are neither more than twice too full nor, by far, too empty, lest a count at a boundary rewrite all each time.
 */
export function nextPrefixLength(current: number, count: number): number {
  const tooFull = prefixLengthFor(count / 2) > current
  const tooEmpty = prefixLengthFor(count * 4) < current
  return tooFull || tooEmpty ? prefixLengthFor(count) : current
}

/** Ids by their chunk's prefix. Ids in ascending order stay so within each chunk. */
export function chunksOf(ids: Iterable<string>, prefixLength: number): Map<string, string[]> {
  const chunks = new Map<string, string[]>()
  for (const id of ids) {
    const prefix = id.slice(0, prefixLength)
    const chunk = chunks.get(prefix)
    if (chunk === undefined) chunks.set(prefix, [id])
    else chunk.push(id)
  }
  return chunks
}

/** Seconds for which changes can be asked for. A link that lags more is compared as a whole. */
export const CHANGES_KEPT_S = 24 * 60 * 60

/** A change of the members of a collection as it is kept, with the version that it made. */
type KeptChange = MembershipChange & { readonly membershipVersion: number }

/**
 * The changes from one version of a membership to the current one, in order. Undefined when some are kept no more, so
 * that only a whole comparison tells.
 * @param kept in any order; may reach beyond the current version, when somebody has written meanwhile.
 */
export function historySince(
  version: number,
  currentVersion: number,
  kept: readonly KeptChange[],
): MembershipChange[] | undefined {
  const changes = kept.toSorted((one, other) => one.membershipVersion - other.membershipVersion)
  const isUnbroken = changes.every(({ membershipVersion }, index) => membershipVersion === version + 1 + index)
  const isWhole = isUnbroken && changes.length >= currentVersion - version
  return isWhole ? changes.map(({ added, removed }) => ({ added, removed })) : undefined
}
