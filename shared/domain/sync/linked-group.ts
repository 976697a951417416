import type { Directory, DirectoryGroup } from '../group-links/directory.ts'

/** After this time, all reads of the directory include a group that existed when it was linked. */
const NEW_LINK_MS = 10 * 60_000

/** Delays before further reads of the group of a new link. */
const REREAD_DELAYS_MS = [2_000, 5_000, 15_000]

/**
 * Reads the group of a link. Reads of the directory lag: a group that is not found shortly after it was linked is read
 * again.
 * @param beforeReread Called before each further read.
 * @returns Undefined when the group does not exist. @throws DirectoryFault, and the errors of `beforeReread`.
 */
export async function readLinkedGroup(
  link: { readonly tenantId: string; readonly directoryGroupId: string; readonly createdAt: string },
  beforeReread: () => Promise<void>,
  { directory, nowMs, sleep }: { directory: Directory; nowMs(): number; sleep(delayMs: number): Promise<void> },
): Promise<DirectoryGroup | undefined> {
  const isNew = nowMs() - Date.parse(link.createdAt) < NEW_LINK_MS
  for (const delayMs of isNew ? REREAD_DELAYS_MS : []) {
    const group = await directory.readGroup(link.tenantId, link.directoryGroupId)
    if (group !== undefined) return group
    await sleep(delayMs)
    await beforeReread()
  }
  return directory.readGroup(link.tenantId, link.directoryGroupId)
}
