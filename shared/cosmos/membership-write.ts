import type { Container } from '@azure/cosmos'
import { forEachConcurrent } from '../kernel/concurrency.ts'
import { Refusal } from '../kernel/refusals.ts'
import { isWriteConflict, queryAll, readDocument, statusOf, writeTogether } from './documents.ts'
import { HEAD_ID, type MembersHeadDocument } from './membership-documents.ts'
import type { WritePlan } from './membership-plan.ts'

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
