import { Refusal } from '../../kernel/refusals.ts'
import { toTimestamp } from '../../kernel/timestamp.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import type { JobChangeDto } from './job-changes.ts'
import type { JobStore } from './job-store.ts'
import type { AccountHolders } from './removal-plan.ts'

/**
 * A page of what a job has written, in the order of its writes.
 * @throws Refusal `SyncJobNotFound`.
 */
export async function listJobChanges(
  tenantId: string,
  jobId: string,
  { after, size }: PageRange,
  { jobs, accountHolders }: { readonly jobs: JobStore; readonly accountHolders: AccountHolders },
): Promise<Page<JobChangeDto>> {
  if ((await jobs.find(tenantId, jobId)) === undefined)
    throw new Refusal('SyncJobNotFound', `The sync job ${jobId} does not exist.`)
  const page = await jobs.changes(tenantId, jobId, after, size)
  const accounts = [...new Set(page.items.map(({ account }) => account))]
  const holders = await accountHolders.ofAccounts(tenantId, accounts)
  const items = page.items.map(({ change, account, atMs }): JobChangeDto => {
    const { identityId = null, displayName = null } = holders.get(account) ?? {}
    return { change, directoryObjectId: account, identityId, displayName, at: toTimestamp(atMs) }
  })
  return { ...page, items }
}
