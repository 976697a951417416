import type { Container } from '@azure/cosmos'
import { chunk } from '../../kernel/chunk.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { Refusal } from '../../kernel/refusals.ts'
import {
  deleteTogether,
  isWriteConflict,
  OPERATIONS_PER_BATCH_COUNT,
  queryAll,
  readDocument,
  versionsTogether,
  writeTogether,
} from '../documents.ts'
import { HEAD_ID, operationOfHead, type WritePlan } from './membership-plan.ts'

/** Chunks per transaction, which Cosmos limits to 2 MB. */
const CHUNKS_PER_BATCH_COUNT = 50

/** Parts of a large change per transaction: a part is four times as large as a chunk. */
const PARTS_PER_BATCH_COUNT = 12

/**
 * @param version The version of the head; undefined when there is none.
 * @returns The new version of the head.
 * @throws Refusal `StaleVersion` when the head was written since the plan was made.
 */
export async function writePlan(
  members: Container,
  partition: string,
  plan: WritePlan,
  version: string | undefined,
): Promise<string> {
  const ahead = [...chunk(plan.ahead, CHUNKS_PER_BATCH_COUNT), ...chunk(plan.parts, PARTS_PER_BATCH_COUNT)]
  for (const operations of ahead) {
    const failed = await writeTogether(members, partition, operations)
    if (failed !== undefined) throw new Error(`Writing ahead of the head of ${partition} failed: ${failed.status}`)
  }
  let current = version
  for (const { operations, head } of plan.transactions) {
    const withHead = [...operations, operationOfHead(partition, head, current)]
    const outcome = await versionsTogether(members, partition, withHead)
    if ('status' in outcome) {
      if (isWriteConflict(outcome.status)) throw membersConflict(partition)
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

/** Deletes everything that is stored about the members of a collection, their changes included. */
export async function deleteMembership(members: Container, partition: string): Promise<void> {
  const ids = await queryAll<string>(members, partition, { query: 'SELECT VALUE c.id FROM c' })
  // The head first: readers treat chunks that are missing under a head as an error.
  if (ids.includes(HEAD_ID)) await deleteDocuments(members, partition, [HEAD_ID])
  await deleteDocuments(
    members,
    partition,
    ids.filter((id) => id !== HEAD_ID),
  )
}

/** Concurrent transactions of deletions. */
const DELETIONS_AT_ONCE_COUNT = 4

/** Ignores documents that are deleted already. */
async function deleteDocuments(members: Container, partition: string, ids: readonly string[]): Promise<void> {
  await forEachConcurrent(chunk(ids, OPERATIONS_PER_BATCH_COUNT), DELETIONS_AT_ONCE_COUNT, (batch) =>
    deleteTogether(members, partition, batch),
  )
}

/** The head has another version than the one that was read. */
export function membersConflict(partition: string): Refusal {
  return new Refusal('StaleVersion', `The members of ${partition} were written concurrently`)
}
