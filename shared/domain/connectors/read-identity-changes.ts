import { Refusal } from '../../kernel/refusals.ts'
import { type Page, type PageRange, pageFrom } from '../../kernel/versioned.ts'
import type { IdentityChange } from './identity-change.ts'
import type { CoreObjectWriter } from './merge-writes.ts'

/**
 * A page of the changes of what an identity consists of, the newest first. Also of a deleted identity, while it can be
 * restored.
 * @throws Refusal `CoreObjectNotFound`.
 */
export async function readIdentityChanges(
  tenantId: string,
  identityId: string,
  { after, size }: PageRange,
  { coreObjects }: { readonly coreObjects: Pick<CoreObjectWriter, 'mergedOfIds'> },
): Promise<Page<IdentityChange>> {
  const [found] = await coreObjects.mergedOfIds(tenantId, [identityId])
  if (found?.value.objectType !== 'identity') {
    throw new Refusal('CoreObjectNotFound', `There is no identity ${identityId}`, 'id')
  }
  return pageOf(found.value.changes ?? [], after, size)
}

/** Positions count the changes of one time, so that they stay valid when changes are added or the oldest are dropped. */
function pageOf(oldestFirst: readonly IdentityChange[], after: string | undefined, size: number): Page<IdentityChange> {
  const counts = new Map<string, number>()
  const placed = oldestFirst.map((change) => {
    const count = (counts.get(change.at) ?? 0) + 1
    counts.set(change.at, count)
    return { change, position: `${change.at} ${count}` }
  })
  placed.reverse()
  const last = placed.findIndex(({ position }) => position === after)
  // Where the position was dropped, so were all that are older.
  const rest = after === undefined ? placed : last === -1 ? [] : placed.slice(last + 1)
  const page = pageFrom(rest, size, ({ position }) => position)
  return { ...page, items: page.items.map(({ change }) => change) }
}
