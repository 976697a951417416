import { createHash, randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { differenceTask, type MembershipHead, type MembershipStore } from '../domain/collections/membership-store.ts'
import { forEachConcurrent } from '../kernel/concurrency.ts'
import { CooperativeScheduler, type Task } from '../kernel/cooperative-scheduler.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { isWriteConflict, queryAll, readDocument, type Stored, statusOf, writeTogether } from './documents.ts'
import {
  type ChunkDocument,
  HEAD_ID,
  historySince,
  type MembersChangeDocument,
  type MembersHeadDocument,
  planWrite,
  type WritePlan,
} from './membership-plan.ts'

/**
 * Container `members`, partition key `/membersOf`, which is `tenantId:collectionId`.
 * @param slices what work on very many ids takes turns by.
 */
export function cosmosMembershipStore(
  members: Container,
  scheduler = new CooperativeScheduler(() => performance.now()),
): MembershipStore {
  const readHead = (partition: string) => readDocument<MembersHeadDocument>(members, HEAD_ID, partition)
  const readChunks = async (partition: string, generation: string, prefixes?: readonly string[]) => {
    const some = prefixes === undefined ? '' : ' AND ARRAY_CONTAINS(@prefixes, c.prefix)'
    const query = `SELECT * FROM c WHERE c.type = 'chunk' AND c.generation = @generation${some}`
    const parameters = [
      { name: '@generation', value: generation },
      ...(prefixes === undefined ? [] : [{ name: '@prefixes', value: [...prefixes] }]),
    ]
    return queryAll<ChunkDocument>(members, partition, { query, parameters })
  }
  const readIds = async (partition: string, head: MembersHeadDocument) =>
    idsOfChunks(await readChunks(partition, head.generation))

  return {
    async head(tenantId, collectionId) {
      return versionedHead(await readHead(partitionOf(tenantId, collectionId)))
    },
    async members(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      // A generation that is replaced while its chunks are read comes out short: the head tells, and is asked again.
      for (;;) {
        const head = await readHead(partition)
        if (head === undefined) return undefined
        const ids = await readIds(partition, head)
        const digest = await scheduler.run(digestTask(ids))
        if (ids.length === head.count && digest === head.digest) return { head: headOf(head), ids }
        const again = await readHead(partition)
        if (again?._etag === head._etag) throw new Error(`The chunks of ${partition} do not match their head`)
      }
    },
    async membersAmong(tenantId, collectionId, candidates) {
      const partition = partitionOf(tenantId, collectionId)
      const head = await readHead(partition)
      if (head === undefined) return new Set()
      const prefixes = [...new Set(candidates.map((id) => id.slice(0, head.prefixLength)))]
      const chunks = await readChunks(partition, head.generation, prefixes)
      const wanted = new Set(candidates)
      return new Set(chunks.flatMap(({ ids }) => ids.filter((id) => wanted.has(id))))
    },
    async replace(tenantId, collectionId, previous, evaluation, beforeWrite) {
      const partition = partitionOf(tenantId, collectionId)
      const before = await readHead(partition)
      if (before?._etag !== previous?.version) throw stale(partition)
      const digest = await scheduler.run(digestTask(evaluation.ids))
      if (before !== undefined && before.digest === digest && before.definitionKey === evaluation.definitionKey) {
        return { head: versioned(before), change: { added: [], removed: [] } }
      }
      await beforeWrite?.()
      const old =
        before === undefined || before.digest === digest ? [...evaluation.ids] : await readIds(partition, before)
      const change = await scheduler.run(differenceTask(before === undefined ? [] : old, evaluation.ids))
      const plan = planWrite(partition, before, evaluation, change, digest, randomUUID())
      await writePlan(members, partition, plan)
      const after = await readHead(partition)
      if (after === undefined) throw stale(partition)
      return { head: versioned(after), change }
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const partition = partitionOf(tenantId, collectionId)
      const head = await readHead(partition)
      if (head === undefined || head.membershipVersion < membershipVersion) return undefined
      const query = "SELECT * FROM c WHERE c.type = 'change' AND c.membershipVersion > @version"
      const parameters = [{ name: '@version', value: membershipVersion }]
      const changes = await queryAll<MembersChangeDocument>(members, partition, { query, parameters })
      return historySince(membershipVersion, head.membershipVersion, changes)
    },
    async remove(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      const ids = await queryAll<string>(members, partition, { query: 'SELECT VALUE c.id FROM c' })
      // The head first: chunks that are missing under a head are a fault to whoever reads meanwhile.
      if (ids.includes(HEAD_ID)) await deleteDocuments(members, partition, [HEAD_ID])
      await deleteDocuments(
        members,
        partition,
        ids.filter((id) => id !== HEAD_ID),
      )
    },
  }
}

function partitionOf(tenantId: string, collectionId: string): string {
  return `${tenantId}:${collectionId}`
}

/** Ascending, as the ids of each chunk are, and all of a chunk before those of the next. */
function idsOfChunks(chunks: readonly ChunkDocument[]): string[] {
  return chunks.toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1)).flatMap(({ ids }) => ids)
}

/** Ids digested between two pauses. */
const IDS_PER_STEP_COUNT = 8192

/** Of the ids in lines. */
function* digestTask(ids: readonly string[]): Task<string> {
  const digest = createHash('sha256')
  for (let from = 0; from < ids.length; from += IDS_PER_STEP_COUNT) {
    if (from > 0) digest.update('\n')
    digest.update(ids.slice(from, from + IDS_PER_STEP_COUNT).join('\n'))
    yield
  }
  return digest.digest('base64')
}

function stale(partition: string): Refusal {
  return new Refusal('StaleVersion', `The members of ${partition} were written meanwhile`)
}

function versionedHead(document: Stored<MembersHeadDocument> | undefined): Versioned<MembershipHead> | undefined {
  return document === undefined ? undefined : versioned(document)
}

function versioned(document: Stored<MembersHeadDocument>): Versioned<MembershipHead> {
  return { value: headOf(document), version: document._etag }
}

function headOf({ count, membershipVersion, definitionKey, evaluatedAtMs }: MembersHeadDocument): MembershipHead {
  return { count, membershipVersion, definitionKey, evaluatedAtMs }
}

/** Chunks in one transaction, of which Cosmos takes 2 MB. */
const CHUNKS_PER_BATCH_COUNT = 50

/** @throws Refusal `StaleVersion` when someone else has written the head since the plan was made. */
export async function writePlan(members: Container, partition: string, plan: WritePlan): Promise<void> {
  for (let start = 0; start < plan.ahead.length; start += CHUNKS_PER_BATCH_COUNT) {
    const failed = await writeTogether(members, partition, plan.ahead.slice(start, start + CHUNKS_PER_BATCH_COUNT))
    if (failed !== undefined) throw new Error(`Writing chunks of ${partition} failed with status ${failed.status}`)
  }
  const failed = await writeTogether(members, partition, plan.withHead)
  if (failed !== undefined) {
    if (isWriteConflict(failed.status)) {
      throw new Refusal('StaleVersion', `The members of ${partition} were written meanwhile`)
    }
    throw new Error(`Writing the head of ${partition} failed with status ${failed.status}`)
  }
  if (plan.ahead.length > 0 || plan.replaced !== undefined) await sweepGenerations(members, partition, plan)
}

/** Seconds after which a generation that no head names was left behind by a crash, not being written right now. */
const ABANDONED_AFTER_S = 60 * 60

/** Removes the chunks of the generation just replaced, and what crashes have left behind. */
async function sweepGenerations(
  members: Container,
  partition: string,
  { generation, replaced }: WritePlan,
): Promise<void> {
  const head = await readDocument<MembersHeadDocument>(members, HEAD_ID, partition)
  const query =
    "SELECT VALUE c.id FROM c WHERE c.type = 'chunk' AND c.generation != @current AND (c.generation = @replaced OR c._ts < @abandoned)"
  const parameters = [
    { name: '@current', value: generation },
    { name: '@replaced', value: replaced ?? '' },
    { name: '@abandoned', value: (head?._ts ?? 0) - ABANDONED_AFTER_S },
  ]
  await deleteDocuments(members, partition, await queryAll<string>(members, partition, { query, parameters }))
}

/** Deletions under way at once. */
const DELETIONS_AT_ONCE_COUNT = 8

/** One by one in a few lanes. What someone else deletes at the same moment is as good. */
export async function deleteDocuments(members: Container, partition: string, ids: readonly string[]): Promise<void> {
  await forEachConcurrent(ids, DELETIONS_AT_ONCE_COUNT, async (id) => {
    await members
      .item(id, partition)
      .delete()
      .catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error
      })
  })
}
