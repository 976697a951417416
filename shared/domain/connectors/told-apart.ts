import { chunk } from '../../kernel/chunk.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { areOtherPeople } from './join-keys.ts'

/** A query with the ids of thousands of positions that change hands would be too long. */
const IDS_PER_READ_COUNT = 1000

/**
 * Returns whether two identities among these are certainly two people. They are not while a join key leaves open whether
 * they are one, as between a person's former and new external ids until the former one is deleted, or while only one of
 * them has live data: the other may have become part of it a moment ago.
 */
export async function toldApart(
  tenantId: string,
  coreObjectIds: readonly string[],
  objects: Pick<ConnectorObjectStore, 'ofCoreObjects'>,
): Promise<(left: string, right: string) => boolean> {
  const live: ConnectorObject[] = []
  for (const ids of chunk([...new Set(coreObjectIds)], IDS_PER_READ_COUNT)) {
    const found = (await objects.ofCoreObjects(tenantId, ids)).map(({ value }) => value)
    live.push(...found.filter(({ deletedAtMs }) => deletedAtMs === undefined))
  }
  const byCoreObject = Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
  return (left, right) => {
    const [first = [], second = []] = [byCoreObject.get(left), byCoreObject.get(right)]
    if ((first.length === 0) !== (second.length === 0)) return false
    return first.every((one) => second.every((other) => areApart(one, other)))
  }
}

function areApart(left: ConnectorObject, right: ConnectorObject): boolean {
  const conflicts = new Set(left.conflictKeys)
  return areOtherPeople(left, right) || conflicts.isDisjointFrom(new Set(right.conflictKeys))
}
