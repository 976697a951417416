import { randomUUID } from 'node:crypto'
import type { Container, OperationInput } from '@azure/cosmos'
import {
  type AccountsOfChange,
  differenceTask,
  type MembershipChange,
  type MembershipHead,
  type MembershipStore,
} from '../domain/collections/membership-store.ts'
import { chunk } from '../kernel/chunk.ts'
import { forEachConcurrent } from '../kernel/concurrency.ts'
import { CooperativeScheduler } from '../kernel/cooperative-scheduler.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { Versioned } from '../kernel/versioned.ts'
import { readCurrentDocuments } from './batched-reads.ts'
import { type HistoryOptions, parseChange, SECONDS_PER_DAY, type StoredChange } from './change-document.ts'
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
import { headVersions, headVersionsWrittenSince } from './head-versions.ts'
import {
  accountsSince,
  followedChanges,
  HEAD_ID,
  historySince,
  isFollowed,
  MembersHead,
  memberChangeId,
  membersPartition,
  operationOfHead,
  planWrite,
  type WritePlan,
} from './membership-plan.ts'
import { chunksMismatch, digestTask, StoredMembers } from './stored-members.ts'

const parseHead = documentParser<MembersHead>('head of members', MembersHead)

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
  const stored = new StoredMembers(members, scheduler)

  /** @throws Refusal `StaleVersion` when the head has another version. */
  async function headOfVersion(partition: string, version: string): Promise<Versioned<MembersHead>> {
    const head = await readHead(partition)
    if (head?.version !== version) throw conflict(partition)
    return head
  }

  /** The difference to the members, and the one to what the chunks contain: different after an interrupted write. */
  async function difference(
    partition: string,
    head: MembersHead | undefined,
    ids: readonly string[],
    isSame: boolean,
  ): Promise<{ change: MembershipChange; ofChunks: MembershipChange }> {
    const from = (before: readonly string[]) => scheduler.run(differenceTask(before, ids))
    if (head === undefined) {
      const change = await from([])
      return { change, ofChunks: change }
    }
    const before = isSame ? ids : await stored.ids(partition, head)
    if (before !== undefined && head.chunksCompleteTo === undefined) {
      const change = await from(before)
      return { change, ofChunks: change }
    }
    const ofChunks = await from(await stored.idsInChunks(partition, head))
    return { change: before === undefined ? ofChunks : await from(before), ofChunks }
  }

  /** The changes after a version that a link may follow, in any order. */
  async function changesOf(partition: string, membershipVersion: number): Promise<StoredChange[]> {
    const { where, parameters } = followedChanges(membershipVersion, nowMs())
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    return (await queryAll<object>(members, partition, query)).map(parseChange)
  }

  /** The accounts from a change up to a version. The usual case is one change. */
  async function accountsFrom(
    partition: string,
    first: StoredChange,
    version: number,
  ): Promise<readonly AccountsOfChange[] | undefined> {
    if (first.accounts === undefined || !isFollowed(first, nowMs())) return undefined
    if (first.membershipVersion === version) return [first.accounts]
    const before = first.membershipVersion - 1
    return accountsSince(before, version, await changesOf(partition, before))
  }

  async function accountsOfVersion(partition: string, version: number): Promise<AccountsOfChange | undefined> {
    const document = await readDocument(members, memberChangeId(version), partition)
    return document && parseChange(document).accounts
  }

  return {
    async head(tenantId, collectionId) {
      const partition = membersPartition(tenantId, collectionId)
      const document = (await readCurrentDocuments<MembersHead>(members, partition, [HEAD_ID])).get(HEAD_ID)
      if (document === undefined) return undefined
      const found = versionedDocument(document)
      stored.keepReadHead(partition, found)
      return versionedHead(found)
    },
    versions: (tenantId, collectionIds) => headVersions(members, tenantId, collectionIds),
    versionsWrittenSince: (tenantId, sinceS) => headVersionsWrittenSince(members, tenantId, sinceS),
    async members(tenantId, collectionId) {
      const partition = membersPartition(tenantId, collectionId)
      // A generation that is replaced while its chunks are read is incomplete: then the head has changed as well.
      for (;;) {
        const head = await readHead(partition)
        if (head === undefined) {
          stored.drop(partition)
          return undefined
        }
        const ids = await stored.ids(partition, head.value)
        if (ids !== undefined) return { head: headOf(head.value), ids }
        const again = await readHead(partition)
        if (again?.version === head.version) throw chunksMismatch(partition)
      }
    },
    async membersAmong(tenantId, collectionId, candidates) {
      const partition = membersPartition(tenantId, collectionId)
      const head = (await readHead(partition))?.value
      if (head === undefined) return new Set()
      return stored.idsAmong(partition, head, candidates)
    },
    async replace(tenantId, collectionId, previous, evaluation, beforeWrite) {
      const partition = membersPartition(tenantId, collectionId)
      // A first head is created, which fails when there is one.
      const read = previous && stored.takeReadHead(partition, previous.version)
      const kept = previous && stored.keptHead(partition, previous.version)
      const before = read ?? kept ?? (previous && (await headOfVersion(partition, previous.version)))
      const digest = await scheduler.run(digestTask(evaluation.ids))
      const isSame = before?.value.digest === digest
      const isWritten = isSame && before?.value.chunksCompleteTo === undefined
      if (before !== undefined && isWritten && before.value.definitionKey === evaluation.definitionKey) {
        // No write shows whether others have changed the members.
        if (before === kept) await headOfVersion(partition, before.version)
        stored.keep(partition, before.value, evaluation.ids, before.version)
        return { head: versionedHead(before), change: NO_CHANGE }
      }
      await beforeWrite?.()
      const { change, ofChunks } = await difference(partition, before?.value, evaluation.ids, isSame)
      const isChanged = change.added.length + change.removed.length > 0
      const attributed = isChanged ? await evaluation.attribute(change) : []
      const accounts = isChanged ? await evaluation.accountsOf?.(change) : undefined
      const historyKeptS = historyDays * SECONDS_PER_DAY
      const plan = planWrite(
        partition,
        before,
        { ...evaluation, digest, change: attributed, ofChunks, historyKeptS, accounts },
        randomUUID(),
      )
      const version = await writePlan(members, partition, plan, before?.version)
      stored.keep(partition, plan.head, evaluation.ids, version)
      return { head: { value: headOf(plan.head), version }, change }
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const partition = membersPartition(tenantId, collectionId)
      const head = (await readHead(partition))?.value
      if (head === undefined || head.membershipVersion < membershipVersion) return undefined
      return historySince(membershipVersion, head.membershipVersion, await changesOf(partition, membershipVersion))
    },
    async accountsAfter(tenantId, collectionId, membershipVersion) {
      const partition = membersPartition(tenantId, collectionId)
      const nextId = memberChangeId(membershipVersion + 1)
      const found = await readCurrentDocuments<object>(members, partition, [HEAD_ID, nextId])
      const [headDocument, next] = [found.get(HEAD_ID), found.get(nextId)]
      if (headDocument === undefined) return undefined
      const { definitionKey, membershipVersion: version } = parseHead(headDocument)
      if (next === undefined && version !== membershipVersion) return undefined
      const changes = next === undefined ? [] : await accountsFrom(partition, parseChange(next), version)
      if (changes === undefined) return undefined
      const last = changes.at(-1) ?? (await accountsOfVersion(partition, version))
      return last && { changes, last, definitionKey }
    },
    async remove(tenantId, collectionId) {
      const partition = membersPartition(tenantId, collectionId)
      stored.drop(partition)
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

const NO_CHANGE: MembershipChange = { added: [], removed: [] }

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
 * @param version The version of the head; undefined when there is none.
 * @returns The new version of the head.
 * @throws Refusal `StaleVersion` when the head was written since the plan was made.
 */
async function writePlan(
  members: Container,
  partition: string,
  plan: WritePlan,
  version: string | undefined,
): Promise<string> {
  const ahead = [...chunk(plan.ahead, CHUNKS_PER_BATCH_COUNT), ...chunk(plan.parts, PARTS_PER_BATCH_COUNT)]
  for (const some of ahead) {
    const failed = await writeTogether(members, partition, some)
    if (failed !== undefined) throw new Error(`Writing ahead of the head of ${partition} failed: ${failed.status}`)
  }
  let current = version
  for (const { operations, head } of plan.transactions) {
    const withHead = [...operations, operationOfHead(partition, head, current)]
    const outcome = await versionsTogether(members, partition, withHead)
    if ('status' in outcome) {
      if (isWriteConflict(outcome.status)) throw conflict(partition)
      throw new Error(`Writing the head of ${partition} failed with status ${outcome.status}`)
    }
    current = outcome.versions.at(-1)
  }
  if (current === undefined) throw new Error(`Writing the head of ${partition} returned no version`)
  if (plan.ahead.length > 0 || plan.replaced !== undefined) await deleteUnusedGenerations(members, partition, plan)
  return current
}

/**
 * A generation that the head does not name and that is older (seconds) was abandoned in a crash; no process is writing
 * it.
 */
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
