import { type Directory, DirectoryFault } from '../group-links/directory.ts'

/** Who is directly in a group: users, and what is none. */
export type GroupMembers = { readonly users: ReadonlySet<string>; readonly others: ReadonlySet<string> }

/**
 * All members of a group, read to the last page: part of a membership must never be taken for the whole.
 * @throws DirectoryFault, and whatever `beforeEach` throws, which is called before every page.
 */
export async function allMembers(
  tenantId: string,
  groupId: string,
  directory: Directory,
  beforeEach: () => Promise<void> = async () => undefined,
): Promise<GroupMembers> {
  const users = new Set<string>()
  const others = new Set<string>()
  const seen = new Set<string | undefined>()
  let continueAfter: string | undefined
  do {
    await beforeEach()
    if (seen.has(continueAfter)) throw new DirectoryFault('unavailable', "The directory's pages lead in a circle")
    seen.add(continueAfter)
    const page = await directory.listMembers(tenantId, groupId, continueAfter)
    for (const user of page.users) users.add(user)
    for (const other of page.others) others.add(other)
    continueAfter = page.continueAfter
  } while (continueAfter !== undefined)
  return { users, others }
}
