import type { OperationInput } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { EvaluatedMembers, MembershipChange } from '../domain/collections/membership-store.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { OPERATIONS_PER_BATCH_COUNT } from './documents.ts'

export const HEAD_ID = 'head'

/**
 * Chunks belong to a generation, and the head names the current one. A change of few chunks rewrites them together with
 * the head. A change of many chunks writes a new generation first, which becomes visible when the head names it.
 */
export const MembersHead = Type.Object({
  count: Type.Integer(),
  membershipVersion: Type.Integer(),
  definitionKey: Type.String(),
  evaluatedAtMs: Type.Number(),
  generation: Type.String(),
  prefixLength: Type.Integer(),
  digest: Type.String(),
})
export type MembersHead = Readonly<Static<typeof MembersHead>>

export const MembersChunk = Type.Object({
  generation: Type.String(),
  prefix: Type.String(),
  ids: Type.Array(Type.String()),
})
export type MembersChunk = Static<typeof MembersChunk>

/** A change of the members of a collection, with the version that it created. */
export const MembersChange = Type.Object({
  membershipVersion: Type.Integer(),
  added: Type.Array(Type.String()),
  removed: Type.Array(Type.String()),
})
export type MembersChange = Readonly<Static<typeof MembersChange>>

/** Seconds for which changes are kept. A link that is further behind is compared in full. */
export const CHANGES_KEPT_S = 24 * 60 * 60

/** Changes with more ids are not kept: a full comparison costs less then. */
const CHANGE_IDS_AT_MOST = 10_000

/** Average ids per chunk, at most: about 16 KB, so that a single change rewrites little. */
const IDS_PER_CHUNK_COUNT = 400

const HEX_DIGIT_COUNT = 16

/** The writes that store a new membership. */
export type WritePlan = {
  /** Written first; not visible to readers. */
  readonly ahead: OperationInput[]
  /** Written in one transaction; the head is the last operation. */
  readonly withHead: OperationInput[]
  /** The generation of chunks that is current once the head is written. */
  readonly generation: string
  /** The generation whose chunks are then unused; undefined when it stays in use. */
  readonly replaced: string | undefined
}

/**
 * Plans the writes that store an evaluation as the membership.
 * @param newGeneration The name of the generation, if all chunks are written anew.
 */
export function planWrite(
  partition: string,
  before: Versioned<MembersHead> | undefined,
  evaluation: EvaluatedMembers,
  change: MembershipChange,
  digest: string,
  newGeneration: string,
): WritePlan {
  const count = evaluation.ids.length
  const former = before?.value
  const prefixLength = former === undefined ? prefixLengthFor(count) : nextPrefixLength(former.prefixLength, count)
  const isChanged = change.added.length + change.removed.length > 0
  const membershipVersion = (former?.membershipVersion ?? 0) + (isChanged || former === undefined ? 1 : 0)
  const history = isChanged ? changeOperations(partition, { ...change, membershipVersion }) : []
  const touched = chunksOf([...change.added, ...change.removed], prefixLength)
  const isPartial =
    former !== undefined &&
    prefixLength === former.prefixLength &&
    touched.size + history.length < OPERATIONS_PER_BATCH_COUNT / 2
  const generation = isPartial ? former.generation : newGeneration
  const chunks = chunksOf(evaluation.ids, prefixLength)
  const chunkOperation = (prefix: string) => operationOfChunk(partition, generation, prefix, chunks.get(prefix))
  const { definitionKey, evaluatedAtMs } = evaluation
  const head = { count, membershipVersion, definitionKey, evaluatedAtMs, generation, prefixLength, digest }
  const last = [...history, operationOfHead(partition, head, before?.version)]
  return isPartial
    ? { ahead: [], withHead: [...[...touched.keys()].map(chunkOperation), ...last], generation, replaced: undefined }
    : { ahead: [...chunks.keys()].map(chunkOperation), withHead: last, generation, replaced: former?.generation }
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
  const chunk: MembersChunk = { generation, prefix, ids }
  return { operationType: 'Upsert', resourceBody: { ...chunk, id, membersOf: partition, type: 'chunk' } }
}

function operationOfHead(partition: string, head: MembersHead, version: string | undefined): OperationInput {
  const resourceBody = { ...head, id: HEAD_ID, membersOf: partition, type: 'head' }
  return version === undefined
    ? { operationType: 'Create', resourceBody }
    : { operationType: 'Replace', id: HEAD_ID, resourceBody, ifMatch: version }
}

function changeOperations(
  partition: string,
  change: MembershipChange & { readonly membershipVersion: number },
): OperationInput[] {
  if (change.added.length + change.removed.length > CHANGE_IDS_AT_MOST) return []
  const { added, removed, membershipVersion } = change
  const id = `change:${membershipVersion}`
  const document = { id, membersOf: partition, type: 'change', membershipVersion, added, removed, ttl: CHANGES_KEPT_S }
  return [{ operationType: 'Upsert', resourceBody: document }]
}

/** Hex digits of an id that select its chunk: none for a small membership, one more for each factor of sixteen. */
function prefixLengthFor(count: number): number {
  let length = 0
  for (let capacity = IDS_PER_CHUNK_COUNT; capacity < count; capacity *= HEX_DIGIT_COUNT) length += 1
  return length
}

/**
 * The prefix length for a membership of `count` ids that now has `current`. It changes only when chunks are more than twice
 * too full or far too empty, so that a count around a boundary does not rewrite all chunks each time.
 */
function nextPrefixLength(current: number, count: number): number {
  const tooFull = prefixLengthFor(count / 2) > current
  const tooEmpty = prefixLengthFor(count * 4) < current
  return tooFull || tooEmpty ? prefixLengthFor(count) : current
}

/** Ids by the prefix of their chunk. Ascending ids stay ascending within each chunk. */
function chunksOf(ids: Iterable<string>, prefixLength: number): Map<string, string[]> {
  const chunks = new Map<string, string[]>()
  for (const id of ids) {
    const prefix = id.slice(0, prefixLength)
    const chunk = chunks.get(prefix)
    if (chunk === undefined) chunks.set(prefix, [id])
    else chunk.push(id)
  }
  return chunks
}

/**
 * The changes from one version of a membership to the current one, in order. Undefined when some are no longer kept: then
 * only a full comparison shows the difference.
 * @param kept In any order. May include changes after the current version, written concurrently.
 */
export function historySince(
  version: number,
  currentVersion: number,
  kept: readonly (MembershipChange & { readonly membershipVersion: number })[],
): MembershipChange[] | undefined {
  const changes = kept.toSorted((one, other) => one.membershipVersion - other.membershipVersion)
  const isUnbroken = changes.every(({ membershipVersion }, index) => membershipVersion === version + 1 + index)
  const isWhole = isUnbroken && changes.length >= currentVersion - version
  return isWhole ? changes.map(({ added, removed }) => ({ added, removed })) : undefined
}
