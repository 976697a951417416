import type { OperationInput } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { EvaluatedMembers, MembershipChange } from '../domain/collections/membership-store.ts'
import type { AttributedChange } from '../domain/history/member-history.ts'
import type { Versioned } from '../kernel/versioned.ts'
import {
  CHANGE_TYPE,
  type ChangePart,
  changesIn,
  PART_TYPE,
  type StoredChange,
  storedChange,
} from './change-document.ts'
import { OPERATIONS_PER_BATCH_COUNT, type QueryParameters } from './documents.ts'

export const HEAD_ID = 'head'

/**
 * Chunks belong to a generation, and the head names the current one. A change of few chunks writes them together with the
 * head. A change of many chunks writes a new generation first, which becomes visible when the head names it.
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

/** How long a link can follow the changes of its collection one by one. A link that is further behind is compared in full. */
const FOLLOWED_FOR_MS = 24 * 60 * 60 * 1000

/** Average ids per chunk, at most: about 16 KB, so that a single change rewrites little. */
const IDS_PER_CHUNK_COUNT = 400

const HEX_DIGIT_COUNT = 16

/** The writes that store a new membership. */
export type WritePlan = {
  readonly head: MembersHead
  /** Written first; not visible to readers. */
  readonly ahead: OperationInput[]
  /** The parts of a large change: written first as well. */
  readonly parts: OperationInput[]
  /** Written in one transaction; the head is the last operation. */
  readonly withHead: OperationInput[]
  /** The generation whose chunks are then unused; undefined when it stays in use. */
  readonly replaced: string | undefined
}

/** An evaluation to be stored. */
type NewMembers = Pick<EvaluatedMembers, 'ids' | 'definitionKey' | 'evaluatedAtMs'> & {
  readonly digest: string
  /** The difference to the stored members. */
  readonly change: readonly AttributedChange[]
  /** Seconds for which the history keeps the change. */
  readonly historyKeptS: number
}

/**
 * Plans the writes that store an evaluation as the membership.
 * @param newGeneration The name of the generation, if all chunks are written anew, and of the parts of a large change.
 */
export function planWrite(
  partition: string,
  before: Versioned<MembersHead> | undefined,
  { ids, definitionKey, digest, change, historyKeptS, ...evaluation }: NewMembers,
  newGeneration: string,
): WritePlan {
  const count = ids.length
  const former = before?.value
  const prefixLength = former === undefined ? prefixLengthFor(count) : nextPrefixLength(former.prefixLength, count)
  const changedIds = change.flatMap(({ added, removed }) => [...added, ...removed])
  const isChanged = changedIds.length > 0
  const membershipVersion = (former?.membershipVersion ?? 0) + (isChanged || former === undefined ? 1 : 0)
  // Clocks of instances differ. The times of a history rise with its versions.
  const evaluatedAtMs = Math.max(evaluation.evaluatedAtMs, former?.evaluatedAtMs ?? 0)
  const stored = isChanged ? storedChange({ membershipVersion, atMs: evaluatedAtMs }, change, newGeneration) : undefined
  const kept = { membersOf: partition, ttl: historyKeptS }
  const history: OperationInput[] = stored === undefined ? [] : [operationOfChange(stored.change, kept)]
  const touched = chunksOf(changedIds, prefixLength)
  const isPartial =
    (former === undefined || prefixLength === former.prefixLength) &&
    touched.size + history.length < OPERATIONS_PER_BATCH_COUNT / 2
  const generation = isPartial ? (former?.generation ?? newGeneration) : newGeneration
  const chunks = chunksOf(ids, prefixLength)
  const chunkOperation = (prefix: string) => operationOfChunk(partition, generation, prefix, chunks.get(prefix))
  const head = { count, membershipVersion, definitionKey, evaluatedAtMs, generation, prefixLength, digest }
  const last = [...history, operationOfHead(partition, head, before?.version)]
  const parts = (stored?.parts ?? []).map((part) => operationOfPart(part, kept))
  return isPartial
    ? { head, ahead: [], parts, withHead: [...[...touched.keys()].map(chunkOperation), ...last], replaced: undefined }
    : { head, ahead: [...chunks.keys()].map(chunkOperation), parts, withHead: last, replaced: former?.generation }
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

type Kept = { readonly membersOf: string; readonly ttl: number }

/** A collection that was removed while it was evaluated can have a change of the same version already. */
function operationOfChange(change: StoredChange, kept: Kept): OperationInput {
  const resourceBody = { ...change, id: `change:${change.membershipVersion}`, type: CHANGE_TYPE, ...kept }
  return { operationType: 'Upsert', resourceBody }
}

function operationOfPart(part: ChangePart, kept: Kept): OperationInput {
  const resourceBody = { ...part, id: `part:${part.partsOf}:${part.firstIndex}`, type: PART_TYPE, ...kept }
  return { operationType: 'Create', resourceBody }
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

/** Changes after a version that a link may follow. */
export function followedChanges(
  version: number,
  nowMs: number,
): { readonly where: string; readonly parameters: QueryParameters } {
  const where = 'c.type = @type AND c.membershipVersion > @version AND c.atMs > @since'
  return { where, parameters: { type: CHANGE_TYPE, version, since: nowMs - FOLLOWED_FOR_MS } }
}

/**
 * The changes from one version of a membership to the current one, in order. Undefined when a link cannot follow them,
 * because some are too old or too large: then only a full comparison shows the difference.
 * @param found In any order. May include changes after the current version, written concurrently.
 */
export function historySince(
  version: number,
  currentVersion: number,
  found: readonly StoredChange[],
): MembershipChange[] | undefined {
  const changes = found.toSorted((one, other) => one.membershipVersion - other.membershipVersion)
  const isUnbroken = changes.every(({ membershipVersion }, index) => membershipVersion === version + 1 + index)
  const isWhole = isUnbroken && changes.length >= currentVersion - version
  if (!isWhole || changes.some(({ partsOf }) => partsOf !== undefined)) return undefined
  return changes.map((change) => {
    const causes = changesIn(change)
    return { added: causes.flatMap(({ added }) => added), removed: causes.flatMap(({ removed }) => removed) }
  })
}
