import { type Directory, DirectoryFault } from '../group-links/directory.ts'
import type { JobRecord } from '../group-links/sync-job.ts'
import { allMembers } from './group-members.ts'
import { reconciledByRead } from './write-journal.ts'

/**
 * The counts of a job that fails for good. What it began and got no answer for is looked up in the group a last time;
 * where the group cannot be read either, it stays uncounted: nobody can tell.
 */
export async function finalCounts(
  { tenantId, directoryGroupId, added, removed, journal: unconfirmed }: JobRecord,
  directory: Directory,
): Promise<Pick<JobRecord, 'added' | 'removed'>> {
  if (unconfirmed.added.length + unconfirmed.removed.length === 0) return { added, removed }
  try {
    const { users } = await allMembers(tenantId, directoryGroupId, directory)
    const seen = reconciledByRead(unconfirmed, users)
    return { added: added + seen.added.length, removed: removed + seen.removed.length }
  } catch (error) {
    if (!(error instanceof DirectoryFault)) throw error
    return { added, removed }
  }
}
