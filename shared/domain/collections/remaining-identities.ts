import { isGuid } from '../../kernel/guid.ts'
import type { DeletedCoreObjects } from '../core/core-object-store.ts'
import { identitiesInCondition, withRenamedIdentities } from '../criteria/named-identities.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

/**
 * A condition from a request with the identities that remain in the place of those that were merged into them. Its
 * sender possibly read it before the merge, after which stored conditions are rewritten once.
 */
export async function withRemainingIdentities(
  tenantId: string,
  input: unknown,
  rows: RowSnapshot,
  deletedObjects: Pick<DeletedCoreObjects, 'ofIds'>,
): Promise<unknown> {
  const isGone = (id: string): boolean => !rows.has('identity', id)
  const named = new Set(identitiesInCondition(input).filter(isGuid).filter(isGone))
  const mergedInto = new Map<string, string>()
  const read = new Set<string>()
  let open = [...named]
  while (open.length > 0) {
    for (const id of open) read.add(id)
    for (const object of await deletedObjects.ofIds(tenantId, open)) {
      if (object.mergedInto !== undefined) mergedInto.set(object.id, object.mergedInto)
    }
    open = [...new Set(mergedInto.values())].filter((id) => !read.has(id) && isGone(id))
  }
  const renamed = new Map<string, string>()
  for (const id of named) {
    let remaining = id
    const seen = new Set([id])
    for (let next = mergedInto.get(id); next !== undefined && !seen.has(next); next = mergedInto.get(next)) {
      seen.add(next)
      remaining = next
    }
    if (!isGone(remaining)) renamed.set(id, remaining)
  }
  return renamed.size === 0 ? input : withRenamedIdentities(input, renamed)
}
