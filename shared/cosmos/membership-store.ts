import { createHash, randomUUID } from 'node:crypto'
import type { Container, OperationInput } from '@azure/cosmos'
import { differenceTask, type MembershipHead, type MembershipStore } from '../domain/collections/membership-store.ts'
import { chunk } from '../kernel/chunk.ts'
import { forEachConcurrent } from '../kernel/concurrency.ts'
import { CooperativeScheduler, type Task } from '../kernel/cooperative-scheduler.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { readCurrentDocuments } from './batched-reads.ts'
import { type HistoryOptions, parseChange, SECONDS_PER_DAY } from './change-document.ts'
import { documentParser } from './document-parser.ts'
import {
  catchUp,
  isWriteConflict,
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  readDocument,
  type Stored,
  sqlParameters,
  versionsTogether,
  writeTogether,
} from './documents.ts'
import {
  followedChanges,
  HEAD_ID,
  historySince,
  MembersChunk,
  MembersHead,
  planWrite,
  type WritePlan,
} from './membership-plan.ts'

const parseHead = documentParser<MembersHead>('head of members', MembersHead)
/** Takes 1 µs for a chunk of 400 ids, which takes 90 µs to read as JSON. */
const parseChunk = documentParser<MembersChunk>('chunk of members', MembersChunk)

/** `scheduler` shares the thread between long computations. */
type MembershipStoreOptions = HistoryOptions & { readonly scheduler?: CooperativeScheduler }

/** Container `members`, partition key `/membersOf`, which is `tenantId:collectionId`. */
export function cosmosMembershipStore(
  members: Container,
  { historyDays, nowMs, scheduler = new CooperativeScheduler(() => performance.now()) }: MembershipStoreOptions,
): MembershipStore {
  const readHead = async (partition: string): Promise<Versioned<MembersHead> | undefined> => {
    const document = await readDocument(members, HEAD_ID, partition)
    return document && versionedDocument(document)
  }
  const readChunks = async (partition: string, generation: string, prefixes?: readonly string[]) => {
    const some = prefixes === undefined ? '' : ' AND ARRAY_CONTAINS(@prefixes, c.prefix)'
    const query = `SELECT * FROM c WHERE c.type = 'chunk' AND c.generation = @generation${some}`
    const parameters = [
      { name: '@generation', value: generation },
      ...(prefixes === undefined ? [] : [{ name: '@prefixes', value: [...prefixes] }]),
    ]
    return (await queryAll<object>(members, partition, { query, parameters })).map(parseChunk)
  }
  const readIds = async (partition: string, { generation }: MembersHead) =>
    idsOfChunks(await readChunks(partition, generation))

  return {
    async head(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      const document = (await readCurrentDocuments<MembersHead>(members, partition, [HEAD_ID])).get(HEAD_ID)
      return document && versionedHead(versionedDocument(document))
    },
    async members(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      // A generation that is replaced while its chunks are read is incomplete: then the head has changed as well.
      for (;;) {
        const head = await readHead(partition)
        if (head === undefined) return undefined
        const ids = await readIds(partition, head.value)
        const digest = await scheduler.run(digestTask(ids))
        if (ids.length === head.value.count && digest === head.value.digest) return { head: headOf(head.value), ids }
        const again = await readHead(partition)
        if (again?.version === head.version) throw new Error(`The chunks of ${partition} do not match their head`)
      }
    },
    async membersAmong(tenantId, collectionId, candidates) {
      const partition = partitionOf(tenantId, collectionId)
      const head = (await readHead(partition))?.value
      if (head === undefined) return new Set()
      const prefixes = [...new Set(candidates.map((id) => id.slice(0, head.prefixLength)))]
      const chunks = await readChunks(partition, head.generation, prefixes)
      const wanted = new Set(candidates)
      return new Set(chunks.flatMap(({ ids }) => ids.filter((id) => wanted.has(id))))
    },
    async replace(tenantId, collectionId, previous, evaluation, beforeWrite) {
      const partition = partitionOf(tenantId, collectionId)
      // A first head is created, which fails when there is one.
      const before = previous === undefined ? undefined : await readHead(partition)
      if (before?.version !== previous?.version) throw conflict(partition)
      const digest = await scheduler.run(digestTask(evaluation.ids))
      const isSame = before?.value.digest === digest
      if (before !== undefined && isSame && before.value.definitionKey === evaluation.definitionKey) {
        return { head: versionedHead(before), change: { added: [], removed: [] } }
      }
      await beforeWrite?.()
      const old = before === undefined ? [] : isSame ? evaluation.ids : await readIds(partition, before.value)
      const change = await scheduler.run(differenceTask(old, evaluation.ids))
      const isChanged = change.added.length + change.removed.length > 0
      const attributed = isChanged ? await evaluation.attribute(change) : []
      const stored = { ...evaluation, digest, change: attributed, historyKeptS: historyDays * SECONDS_PER_DAY }
      const plan = planWrite(partition, before, stored, randomUUID())
      const version = await writePlan(members, partition, plan)
      return { head: { value: headOf(plan.head), version }, change }
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const partition = partitionOf(tenantId, collectionId)
      const head = (await readHead(partition))?.value
      if (head === undefined || head.membershipVersion < membershipVersion) return undefined
      const { where, parameters } = followedChanges(membershipVersion, nowMs())
      const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
      const changes = (await queryAll<object>(members, partition, query)).map(parseChange)
      return historySince(membershipVersion, head.membershipVersion, changes)
    },
    async remove(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      await catchUp(members, partition)
      const ids = await queryAll<string>(members, partition, { query: 'SELECT VALUE c.id FROM c' })
      // The head first: readers treat chunks that are missing under a head as an error.
      if (ids.includes(HEAD_ID)) await deleteDocuments(members, partition, [HEAD_ID])
      await deleteDocuments(
        members,
        partition,
        ids.filter((id) => id !== HEAD_ID),
      )
    },
  }
}

function versionedDocument(document: Stored<object>): Versioned<MembersHead> {
  return { value: parseHead(document), version: document._etag }
}

function partitionOf(tenantId: string, collectionId: string): string {
  return `${tenantId}:${collectionId}`
}

/** Ascending: chunks in the order of their prefixes, each ascending in itself. */
function idsOfChunks(chunks: readonly MembersChunk[]): string[] {
  return chunks.toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1)).flatMap(({ ids }) => ids)
}

/** Ids digested in one step of the task. */
const IDS_PER_STEP_COUNT = 8192

/** The digest of the ids, one per line. */
function* digestTask(ids: readonly string[]): Task<string> {
  const digest = createHash('sha256')
  for (let from = 0; from < ids.length; from += IDS_PER_STEP_COUNT) {
    if (from > 0) digest.update('\n')
    digest.update(ids.slice(from, from + IDS_PER_STEP_COUNT).join('\n'))
    yield
  }
  return digest.digest('base64')
}

function conflict(partition: string): Refusal {
  return new Refusal('StaleVersion', `The members of ${partition} were written concurrently`)
}

function versionedHead({ value, version }: Versioned<MembersHead>): Versioned<MembershipHead> {
  return { value: headOf(value), version }
}

function headOf({ count, membershipVersion, definitionKey, evaluatedAtMs }: MembersHead): MembershipHead {
  return { count, membershipVersion, definitionKey, evaluatedAtMs }
}

/** Chunks per transaction, which Cosmos limits to 2 MB. */
const CHUNKS_PER_BATCH_COUNT = 50

/** Parts of a large change per transaction: a part is four times as large as a chunk. */
const PARTS_PER_BATCH_COUNT = 12

/**
 * @returns The version of the head.
 * @throws Refusal `StaleVersion` when the head was written since the plan was made.
 */
async function writePlan(members: Container, partition: string, plan: WritePlan): Promise<string> {
  const ahead = [...chunk(plan.ahead, CHUNKS_PER_BATCH_COUNT), ...chunk(plan.parts, PARTS_PER_BATCH_COUNT)]
  for (const some of ahead) {
    const failed = await writeTogether(members, partition, some)
    if (failed !== undefined) throw new Error(`Writing ahead of the head of ${partition} failed: ${failed.status}`)
  }
  const outcome = await versionsTogether(members, partition, plan.withHead)
  if ('status' in outcome) {
    if (isWriteConflict(outcome.status)) throw conflict(partition)
    throw new Error(`Writing the head of ${partition} failed with status ${outcome.status}`)
  }
  const version = outcome.versions.at(-1)
  if (version === undefined) throw new Error(`Writing the head of ${partition} returned no version`)
  if (plan.ahead.length > 0 || plan.replaced !== undefined) await deleteUnusedGenerations(members, partition, plan)
  return version
}

/** A generation that the head does not name and that is older (seconds) was abandoned in a crash; no process is writing it. */
const ABANDONED_AFTER_S = 60 * 60

/** Deletes the chunks of the generation just replaced, and abandoned ones. */
async function deleteUnusedGenerations(
  members: Container,
  partition: string,
  { head: { generation }, replaced }: WritePlan,
): Promise<void> {
  const document = await readDocument(members, HEAD_ID, partition)
  const query =
    "SELECT VALUE c.id FROM c WHERE c.type = 'chunk' AND c.generation != @current AND (c.generation = @replaced OR c._ts < @abandoned)"
  const parameters = [
    { name: '@current', value: generation },
    { name: '@replaced', value: replaced ?? '' },
    { name: '@abandoned', value: (document?._ts ?? 0) - ABANDONED_AFTER_S },
  ]
  await deleteDocuments(members, partition, await queryAll<string>(members, partition, { query, parameters }))
}

/** Concurrent transactions of deletions. */
const DELETIONS_AT_ONCE_COUNT = 4

/** Ignores documents that are deleted already. */
async function deleteDocuments(members: Container, partition: string, ids: readonly string[]): Promise<void> {
  await forEachConcurrent(chunk(ids, OPERATIONS_PER_BATCH_COUNT), DELETIONS_AT_ONCE_COUNT, async (some) => {
    const deletions = some.map((id): OperationInput => ({ operationType: 'Delete', id }))
    const failed = await writeTogether(members, partition, deletions)
    if (failed === undefined) return
    if (failed.status !== 404) throw new Error(`Deleting documents of ${partition} failed with ${failed.status}`)
    await deleteDocuments(members, partition, some.toSpliced(failed.index, 1))
  })
}
