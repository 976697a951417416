import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import {
  differenceTask,
  type MembershipChange,
  type MembershipHead,
  type MembershipStore,
} from '../../domain/collections/membership-store.ts'
import { CooperativeScheduler } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { FEW_READS_COUNT } from '../batched-reads.ts'
import { type HistoryOptions, SECONDS_PER_DAY } from '../change-document.ts'
import { readDocument, type Stored } from '../documents.ts'
import { followedCriteriaChanges } from './followed-changes.ts'
import { headDocuments, headVersions, headVersionsWrittenSince } from './head-versions.ts'
import { HEAD_ID, type MembersHead, membersPartition, parseMembersHead, planWrite } from './membership-plan.ts'
import { deleteMembership, membersConflict, writePlan } from './membership-writes.ts'
import { chunksMismatch, digestTask, StoredMembers } from './stored-members.ts'

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
  const followed = followedCriteriaChanges(members, nowMs)

  /** Caches the head for the evaluation that has read it. */
  function cachedHead(partition: string, document: Stored<object>): Versioned<MembershipHead> {
    const head = versionedDocument(document)
    stored.keepHead(partition, head)
    return versionedHead(head)
  }

  /** @throws Refusal `StaleVersion` when the head has another version. */
  async function headOfVersion(partition: string, version: string): Promise<Versioned<MembersHead>> {
    const head = await readHead(partition)
    if (head?.version !== version) throw membersConflict(partition)
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
    const ofChunks = await from(await stored.storedIds(partition, head))
    return { change: before === undefined ? ofChunks : await from(before), ofChunks }
  }

  async function head(tenantId: string, collectionId: string): Promise<Versioned<MembershipHead> | undefined> {
    const partition = membersPartition(tenantId, collectionId)
    const document = await readDocument<MembersHead>(members, HEAD_ID, partition)
    return document && cachedHead(partition, document)
  }

  return {
    head,
    async heads(tenantId, collectionIds) {
      if (collectionIds.length <= FEW_READS_COUNT) {
        const few = await Promise.all(collectionIds.map(async (id) => [id, await head(tenantId, id)] as const))
        return new Map(few.flatMap(([id, found]) => (found === undefined ? [] : [[id, found]])))
      }
      const documents = await headDocuments(members, tenantId, collectionIds)
      return new Map([...documents].map(([id, document]) => [id, cachedHead(membersPartition(tenantId, id), document)]))
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
      let head = await readHead(partition)
      while (head !== undefined) {
        const found = await stored.idsAmong(partition, head.value, candidates)
        if (head.value.ids !== undefined && found !== undefined) return found
        // Chunks can be missing when their generation was replaced while they were read.
        const again = await readHead(partition)
        if (found !== undefined && again?.value.generation === head.value.generation) return found
        if (again?.version === head.version) throw chunksMismatch(partition)
        head = again
      }
      return new Set()
    },
    async replace(tenantId, collectionId, previous, evaluation, beforeWrite) {
      const partition = membersPartition(tenantId, collectionId)
      // A first head is created, which fails when there is one.
      const kept = previous && stored.headOf(partition, previous.version)
      const before = kept ?? (previous && (await headOfVersion(partition, previous.version)))
      const digest = await scheduler.run(digestTask(evaluation.ids))
      const isSame = before?.value.digest === digest
      const isWritten = isSame && before?.value.chunksCompleteTo === undefined
      const isFenced = before !== undefined && headOf(before.value).epoch > evaluation.unfencedEpoch
      const isCurrent = before?.value.definitionKey === evaluation.definitionKey
      if (before !== undefined && isWritten && isCurrent && isFenced) {
        stored.keep(partition, before.value, evaluation.ids)
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
      stored.keep(partition, plan.head, evaluation.ids)
      stored.keepHead(partition, { value: plan.head, version })
      return { head: { value: headOf(plan.head), version }, change }
    },
    async changesAfter(tenantId, collectionId, membershipVersion) {
      const partition = membersPartition(tenantId, collectionId)
      const head = (await readHead(partition))?.value
      if (head === undefined || head.membershipVersion < membershipVersion) return undefined
      return followed.changesBetween(partition, membershipVersion, head.membershipVersion)
    },
    accountsAfter: (tenantId, collectionId, membershipVersion) =>
      followed.accountsAfter(membersPartition(tenantId, collectionId), membershipVersion),
    async remove(tenantId, collectionId) {
      const partition = membersPartition(tenantId, collectionId)
      stored.drop(partition)
      await deleteMembership(members, partition)
    },
  }
}

function versionedDocument(document: Stored<object>): Versioned<MembersHead> {
  return { value: parseMembersHead(document), version: document._etag }
}

const NO_CHANGE: MembershipChange = { added: [], removed: [] }

function versionedHead({ value, version }: Versioned<MembersHead>): Versioned<MembershipHead> {
  return { value: headOf(value), version }
}

function headOf({ count, membershipVersion, definitionKey, evaluatedAtMs, epoch = 1 }: MembersHead): MembershipHead {
  return { count, membershipVersion, definitionKey, evaluatedAtMs, epoch }
}
