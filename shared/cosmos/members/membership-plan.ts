import type { OperationInput } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { AccountsOfChange, EvaluatedMembers, MembershipChange } from '../../domain/collections/membership-store.ts'
import { positionAmong } from '../../domain/evaluation/members-now.ts'
import type { AttributedChange } from '../../domain/history/member-history.ts'
import { chunk } from '../../kernel/chunk.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { CHANGE_TYPE, type ChangePart, PART_TYPE, type StoredChange, storedChange } from '../change-document.ts'
import { documentParser } from '../document-parser.ts'
import { OPERATIONS_PER_BATCH_COUNT, writeOf } from '../documents.ts'

export const HEAD_ID = 'head'

/** The value of the partition key of container `members` for a collection. */
export function membersPartition(tenantId: string, collectionId: string): string {
  return `${tenantId}:${collectionId}`
}

/**
 * The head contains the ids of a small membership. Those of a larger one are in chunks.
 *
 * Chunks belong to a generation, and the head names the current one. A change is stored with the head in one
 * transaction and becomes visible by that. Chunks that do not fit into this transaction are written in further ones;
 * until then, readers add the change to what the chunks contain. A change that is stored in parts writes a new
 * generation of chunks first, which becomes visible when the head names it.
 */
export const MembersHead = Type.Object({
  count: Type.Integer(),
  membershipVersion: Type.Integer(),
  definitionKey: Type.String(),
  evaluatedAtMs: Type.Number(),
  /** That of the lease of the evaluator that has written the head. Absent in heads of version 0.1. */
  epoch: Type.Optional(Type.Integer()),
  generation: Type.String(),
  prefixLength: Type.Integer(),
  digest: Type.String(),
  /** Ascending; absent when they are in chunks. */
  ids: Type.Optional(Type.Unsafe<readonly string[]>(Type.Array(Type.String()))),
  /**
   * Set while chunks lack changes: all chunks contain the changes up to this version, and some contain later ones. The
   * later changes can be applied to a chunk that has them.
   */
  chunksCompleteTo: Type.Optional(Type.Integer()),
})
export type MembersHead = Readonly<Static<typeof MembersHead>>

export const parseMembersHead = documentParser('head of members', MembersHead)

export const MembersChunk = Type.Object({
  generation: Type.String(),
  prefix: Type.String(),
  ids: Type.Array(Type.String()),
})
export type MembersChunk = Static<typeof MembersChunk>

/**
 * Ids in the head, at most: about 4 KB, because evaluations read the heads of all collections. Twice as many stay there,
 * so that a count around this one does not move them each time.
 */
const IDS_IN_HEAD_COUNT = 100

/** Average ids per chunk, at most: about 16 KB, so that a single change rewrites little. */
const IDS_PER_CHUNK_COUNT = 400

const HEX_DIGIT_COUNT = 16

/** Chunks that are written in one transaction, which Cosmos limits to 2 MB. */
const CHUNKS_PER_TRANSACTION_COUNT = OPERATIONS_PER_BATCH_COUNT / 2 - 2

/** Operations of one transaction that also writes the head. */
type HeadTransaction = { readonly operations: OperationInput[]; readonly head: MembersHead }

/** The writes that store a new membership. */
export type WritePlan = {
  /** Written first; not visible to readers. */
  readonly ahead: OperationInput[]
  /** The parts of a large change: written first as well. */
  readonly parts: OperationInput[]
  /** Written in order, each with the version of the head that the one before has created. */
  readonly transactions: readonly HeadTransaction[]
  /** The head after the last transaction. */
  readonly head: MembersHead
  /** The generation whose chunks are then unused; undefined when it stays in use. */
  readonly replaced: string | undefined
}

/** An evaluation to be stored. */
type NewMembers = Pick<EvaluatedMembers, 'ids' | 'definitionKey' | 'evaluatedAtMs' | 'epoch'> & {
  readonly digest: string
  /** The difference to the stored members. */
  readonly change: readonly AttributedChange[]
  /** The difference to what the chunks contain. Larger than the change after an interrupted write. */
  readonly ofChunks: MembershipChange
  /** Seconds for which the history keeps the change. */
  readonly historyKeptS: number
  readonly accounts: AccountsOfChange | undefined
}

/**
 * Plans the writes that store an evaluation as the membership.
 * @param newGeneration The name of the generation, if all chunks are written anew, and of the parts of a large change.
 */
export function planWrite(
  partition: string,
  before: Versioned<MembersHead> | undefined,
  { ids, definitionKey, epoch, digest, change, ofChunks, historyKeptS, accounts, ...evaluation }: NewMembers,
  newGeneration: string,
): WritePlan {
  const count = ids.length
  const former = before?.value
  const prefixLength = former === undefined ? prefixLengthFor(count) : nextPrefixLength(former.prefixLength, count)
  const isChanged = change.length > 0
  const membershipVersion = (former?.membershipVersion ?? 0) + (isChanged || former === undefined ? 1 : 0)
  // Clocks of instances differ. The times of a history rise with its versions.
  const evaluatedAtMs = Math.max(evaluation.evaluatedAtMs, former?.evaluatedAtMs ?? 0)
  const version = { membershipVersion, atMs: evaluatedAtMs, ...withAccounts(accounts) }
  const stored = isChanged ? storedChange(version, change, newGeneration, former === undefined) : undefined
  const kept = { membersOf: partition, ttl: historyKeptS }
  const history: OperationInput[] = stored === undefined ? [] : [operationOfChange(stored.change, kept)]
  const parts = (stored?.parts ?? []).map((part) => operationOfPart(part, kept))
  const isWithoutChunks = former === undefined || former.ids !== undefined
  const isInPlace = !isWithoutChunks && former.prefixLength === prefixLength && parts.length === 0
  const generation = isInPlace ? former.generation : newGeneration
  const chunkOperations = (prefixes: Iterable<string>) =>
    [...prefixes].map((prefix) => operationOfChunk(partition, generation, prefix, chunkOf(ids, prefix)))
  const shape = { generation, prefixLength, digest }
  const head: MembersHead = { count, membershipVersion, definitionKey, evaluatedAtMs, epoch, ...shape }
  const replaced = isWithoutChunks ? undefined : former.generation
  if (isForHead(former, count)) {
    const withIds = { ...head, generation: newGeneration, ids }
    return { ahead: [], parts, transactions: [{ operations: history, head: withIds }], head: withIds, replaced }
  }
  if (!isInPlace) {
    const all = chunkOperations(prefixesOf(ids, prefixLength))
    // A small first membership needs one transaction.
    const isTogether = former === undefined && all.length <= CHUNKS_PER_TRANSACTION_COUNT
    const transactions = [{ operations: isTogether ? [...all, ...history] : history, head }]
    return { ahead: isTogether ? [] : all, parts, transactions, head, replaced }
  }
  const touched = chunkOperations(prefixesOf([...ofChunks.added, ...ofChunks.removed], prefixLength))
  const chunksCompleteTo = former.chunksCompleteTo ?? former.membershipVersion
  return {
    ahead: [],
    parts,
    transactions: inTransactions(touched, history, head, chunksCompleteTo),
    head,
    replaced: undefined,
  }
}

function isForHead(former: MembersHead | undefined, count: number): boolean {
  return count <= (former?.ids === undefined ? IDS_IN_HEAD_COUNT : 2 * IDS_IN_HEAD_COUNT)
}

function withAccounts(accounts: AccountsOfChange | undefined): Pick<StoredChange, 'accounts'> {
  if (accounts === undefined) return {}
  const { withoutAccountIds: ids = [], ...others } = accounts
  const withoutAccount = ids.length === 0 ? {} : { withoutAccountIds: [...ids] }
  return { accounts: { ...others, ...withoutAccount, added: [...accounts.added], removed: [...accounts.removed] } }
}

/** The first transaction stores the change. The head of the last one shows that the chunks are complete. */
function inTransactions(
  chunks: readonly OperationInput[],
  history: readonly OperationInput[],
  head: MembersHead,
  chunksCompleteTo: number,
): HeadTransaction[] {
  const groups = chunks.length === 0 ? [[]] : chunk(chunks, CHUNKS_PER_TRANSACTION_COUNT)
  return groups.map((group, index) => ({
    operations: index === 0 ? [...group, ...history] : [...group],
    head: index < groups.length - 1 ? { ...head, chunksCompleteTo } : head,
  }))
}

/** A chunk without ids is deleted. */
function operationOfChunk(partition: string, generation: string, prefix: string, ids: string[]): OperationInput {
  const id = `chunk:${generation}:${prefix}`
  if (ids.length === 0) return { operationType: 'Delete', id }
  const document: MembersChunk = { generation, prefix, ids }
  return { operationType: 'Upsert', resourceBody: { ...document, id, membersOf: partition, type: 'chunk' } }
}

/** @param version The version of the head that is replaced; undefined when there is none. */
export function operationOfHead(partition: string, head: MembersHead, version: string | undefined): OperationInput {
  return writeOf({ ...head, id: HEAD_ID, membersOf: partition, type: 'head' }, version)
}

export function memberChangeId(membershipVersion: number): string {
  return `change:${membershipVersion}`
}

type Kept = { readonly membersOf: string; readonly ttl: number }

/** A collection that was removed while it was evaluated can have a change of the same version already. */
function operationOfChange(change: StoredChange, kept: Kept): OperationInput {
  const resourceBody = { ...change, id: memberChangeId(change.membershipVersion), type: CHANGE_TYPE, ...kept }
  return { operationType: 'Upsert', resourceBody }
}

function operationOfPart(part: ChangePart, kept: Kept): OperationInput {
  const resourceBody = { ...part, id: `part:${part.partsOf}:${part.firstIndex}`, type: PART_TYPE, ...kept }
  return { operationType: 'Create', resourceBody }
}

/** Hex digits of an id that select its chunk: none for a single chunk, one more for each factor of sixteen. */
function prefixLengthFor(count: number): number {
  let length = 0
  for (let capacity = IDS_PER_CHUNK_COUNT; capacity < count; capacity *= HEX_DIGIT_COUNT) length += 1
  return length
}

/**
 * The prefix length for a membership of `count` ids that now has `current`. It changes only when chunks are more than
 * twice too full or far too empty, so that a count around a boundary does not rewrite all chunks each time.
 */
function nextPrefixLength(current: number, count: number): number {
  const tooFull = prefixLengthFor(count / 2) > current
  const tooEmpty = prefixLengthFor(count * 4) < current
  return tooFull || tooEmpty ? prefixLengthFor(count) : current
}

/** The prefixes of the chunks that contain these ids. */
function prefixesOf(ids: readonly string[], prefixLength: number): ReadonlySet<string> {
  return new Set(ids.map((id) => id.slice(0, prefixLength)))
}

/** Greater than every character of an id. */
const LAST_CHARACTER = '~'

/** The ids of a chunk. @param ids ascending. */
function chunkOf(ids: readonly string[], prefix: string): string[] {
  return ids.slice(positionAmong(ids, prefix), positionAmong(ids, `${prefix}${LAST_CHARACTER}`))
}
