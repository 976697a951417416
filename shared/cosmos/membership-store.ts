import { createHash, randomUUID } from 'node:crypto'
import type { Container, OperationInput } from '@azure/cosmos'
import type {
  Evaluation,
  MembershipChange,
  MembershipHead,
  MembershipStore,
} from '../domain/collections/membership-store.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Versioned } from '../domain/versioned.ts'
import {
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  readDocument,
  type Stored,
  statusOf,
  writeTogether,
} from './documents.ts'
import { chunksOf, difference, nextPrefixLength, prefixLengthFor } from './membership-chunks.ts'

const HEAD_ID = 'head'

/** Seconds for which changes can be asked for. A link that lags more is compared as a whole. */
const CHANGES_KEPT_S = 24 * 60 * 60

/** Ids in one change beyond which it is not kept: comparing as a whole is cheaper then. */
const CHANGE_IDS_AT_MOST = 10_000

/**
 * Chunks belong to a generation, and the head says which one counts. A change of few chunks rewrites these together
 * with the head; one of many writes a new generation first, unseen until the head names it.
 */
type HeadDocument = MembershipHead & {
  readonly id: typeof HEAD_ID
  readonly membersOf: string
  readonly type: 'head'
  readonly generation: string
  readonly prefixLength: number
  readonly digest: string
}
type ChunkDocument = { id: string; membersOf: string; type: 'chunk'; generation: string; prefix: string; ids: string[] }
type ChangeDocument = MembershipChange & {
  id: string
  membersOf: string
  type: 'change'
  membershipVersion: number
  ttl: number
}

/** Container `members`, partition key `/membersOf`, which is `tenantId:collectionId`. */
export function cosmosMembershipStore(members: Container): MembershipStore {
  const readHead = (partition: string) => readDocument<HeadDocument>(members, HEAD_ID, partition)
  const readChunks = async (partition: string, generation: string, prefixes?: readonly string[]) => {
    const some = prefixes === undefined ? '' : ' AND ARRAY_CONTAINS(@prefixes, c.prefix)'
    const query = `SELECT * FROM c WHERE c.type = 'chunk' AND c.generation = @generation${some}`
    const parameters = [
      { name: '@generation', value: generation },
      ...(prefixes === undefined ? [] : [{ name: '@prefixes', value: [...prefixes] }]),
    ]
    return queryAll<ChunkDocument>(members, partition, { query, parameters })
  }
  const readIds = async (partition: string, head: HeadDocument) =>
    (await readChunks(partition, head.generation)).flatMap(({ ids }) => ids).sort()

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
        if (ids.length === head.count && digestOf(ids) === head.digest) return { head: headOf(head), ids }
        const again = await readHead(partition)
        if (again?._etag === head._etag) throw new Error(`The chunks of ${partition} do not match their head`)
      }
    },
    async membersAmong(tenantId, collectionId, candidates) {
      const partition = partitionOf(tenantId, collectionId)
      const head = await readHead(partition)
      if (head === undefined) return new Set()
      const prefixes = [...new Set(candidates.map((id) => id.slice(0, head.prefixLength)))]
      const ids = new Set((await readChunks(partition, head.generation, prefixes)).flatMap((chunk) => chunk.ids))
      return new Set(candidates.filter((id) => ids.has(id)))
    },
    async replace(tenantId, collectionId, previous, evaluation) {
      const partition = partitionOf(tenantId, collectionId)
      const before = await readHead(partition)
      if (before?._etag !== previous?.version) throw stale(partition)
      const digest = digestOf(evaluation.ids)
      if (before !== undefined && before.digest === digest && before.definitionKey === evaluation.definitionKey) {
        return { head: versioned(before), change: { added: [], removed: [] } }
      }
      const old =
        before === undefined || before.digest === digest ? [...evaluation.ids] : await readIds(partition, before)
      const change = difference(before === undefined ? [] : old, evaluation.ids)
      const plan = planWrite(partition, before, evaluation, change, digest)
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
      const changes = await queryAll<ChangeDocument>(members, partition, { query, parameters })
      changes.sort((one, other) => one.membershipVersion - other.membershipVersion)
      const isWhole =
        changes[0] === undefined ? head.membershipVersion === membershipVersion : isUnbroken(changes, membershipVersion)
      return isWhole ? changes.map(({ added, removed }) => ({ added, removed })) : undefined
    },
    async remove(tenantId, collectionId) {
      const partition = partitionOf(tenantId, collectionId)
      await deleteDocuments(
        members,
        partition,
        await queryAll<string>(members, partition, { query: 'SELECT VALUE c.id FROM c' }),
      )
    },
  }
}

function isUnbroken(changes: readonly ChangeDocument[], after: number): boolean {
  return changes.every((change, index) => change.membershipVersion === after + 1 + index)
}

type WritePlan = {
  readonly ahead: OperationInput[]
  readonly withHead: OperationInput[]
  readonly generation: string
  readonly replaced: string | undefined
}

/** `ahead` is written first and seen by nobody; `withHead` in one transaction, the head being its last operation. */
function planWrite(
  partition: string,
  before: Stored<HeadDocument> | undefined,
  evaluation: Evaluation,
  change: MembershipChange,
  digest: string,
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
  const generation = isPartial ? before.generation : randomUUID()
  const chunks = chunksOf(evaluation.ids, prefixLength)
  const chunkOperation = (prefix: string): OperationInput => {
    const ids = chunks.get(prefix)
    const id = `chunk:${generation}:${prefix}`
    if (ids === undefined) return { operationType: 'Delete', id }
    const document: ChunkDocument = { id, membersOf: partition, type: 'chunk', generation, prefix, ids }
    return { operationType: 'Upsert', resourceBody: document }
  }
  const { definitionKey, evaluatedAtMs } = evaluation
  const head: HeadDocument = {
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
  const headOperation: OperationInput =
    before === undefined
      ? { operationType: 'Create', resourceBody: head }
      : { operationType: 'Replace', id: HEAD_ID, resourceBody: head, ifMatch: before._etag }
  return isPartial
    ? {
        ahead: [],
        withHead: [...[...touched.keys()].map(chunkOperation), ...history, headOperation],
        generation,
        replaced: undefined,
      }
    : {
        ahead: [...chunks.keys()].map(chunkOperation),
        withHead: [...history, headOperation],
        generation,
        replaced: before?.generation,
      }
}

function changeOperations(partition: string, change: MembershipChange, membershipVersion: number): OperationInput[] {
  if (change.added.length + change.removed.length > CHANGE_IDS_AT_MOST) return []
  const document: ChangeDocument = {
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

/** Bytes of ids in one transaction: Cosmos takes 2 MB. */
const CHUNKS_PER_BATCH_COUNT = 50

async function writePlan(members: Container, partition: string, plan: WritePlan): Promise<void> {
  for (let start = 0; start < plan.ahead.length; start += CHUNKS_PER_BATCH_COUNT) {
    const failed = await writeTogether(members, partition, plan.ahead.slice(start, start + CHUNKS_PER_BATCH_COUNT))
    if (failed !== undefined) throw new Error(`Writing chunks of ${partition} failed with status ${failed.status}`)
  }
  const failed = await writeTogether(members, partition, plan.withHead)
  if (failed !== undefined) {
    if ([404, 409, 412].includes(failed.status)) throw stale(partition)
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
  const head = await readDocument<HeadDocument>(members, HEAD_ID, partition)
  const query =
    "SELECT VALUE c.id FROM c WHERE c.type = 'chunk' AND c.generation != @current AND (c.generation = @replaced OR c._ts < @abandoned)"
  const parameters = [
    { name: '@current', value: generation },
    { name: '@replaced', value: replaced ?? '' },
    { name: '@abandoned', value: (head?._ts ?? 0) - ABANDONED_AFTER_S },
  ]
  await deleteDocuments(members, partition, await queryAll<string>(members, partition, { query, parameters }))
}

/** One by one in a few lanes: another evaluator may be deleting the same ones, which is as good. */
async function deleteDocuments(members: Container, partition: string, ids: readonly string[]): Promise<void> {
  const waiting = [...ids]
  const lane = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      await members
        .item(id, partition)
        .delete()
        .catch((error: unknown) => {
          if (statusOf(error) !== 404) throw error
        })
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

function partitionOf(tenantId: string, collectionId: string): string {
  return `${tenantId}:${collectionId}`
}

function digestOf(ids: readonly string[]): string {
  return createHash('sha256').update(ids.join('\n')).digest('base64')
}

function stale(partition: string): Refusal {
  return new Refusal('StaleVersion', `The members of ${partition} were written meanwhile`)
}

function versionedHead(document: Stored<HeadDocument> | undefined): Versioned<MembershipHead> | undefined {
  return document === undefined ? undefined : versioned(document)
}

function versioned(document: Stored<HeadDocument>): Versioned<MembershipHead> {
  return { value: headOf(document), version: document._etag }
}

function headOf({ count, membershipVersion, definitionKey, evaluatedAtMs }: HeadDocument): MembershipHead {
  return { count, membershipVersion, definitionKey, evaluatedAtMs }
}
