import { chunk } from '../../kernel/chunk.ts'
import type { ConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { areOtherPeople } from './join-keys.ts'

/** A query with the ids of thousands of positions that change hands would be too long. */
const IDS_PER_READ_COUNT = 1000

/**
 * HR systems delete a person's former record within days of the new one. Two records that are live for longer are those
 * of colleagues who share an address.
 */
const FORMER_RECORD_STAYS_MS = 7 * 24 * 60 * 60 * 1000

type ToldApartDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'ofCoreObjects'>
  nowMs(): number
}

/**
 * Returns whether two identities among these are certainly two people. They are not while a join key leaves open whether
 * they are one, as between a person's former and new external ids until the former one is deleted, for a week at most;
 * or while only one of them has live data: the other may have become part of it a moment ago.
 */
export async function toldApart(
  tenantId: string,
  coreObjectIds: readonly string[],
  { objects, nowMs }: ToldApartDependencies,
): Promise<(left: string, right: string) => boolean> {
  const live: ConnectorObject[] = []
  for (const ids of chunk([...new Set(coreObjectIds)], IDS_PER_READ_COUNT)) {
    const found = (await objects.ofCoreObjects(tenantId, ids)).map(({ value }) => value)
    live.push(...found.filter(({ deletedAtMs }) => deletedAtMs === undefined))
  }
  const youngSinceMs = nowMs() - FORMER_RECORD_STAYS_MS
  const byCoreObject = Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
  return (left, right) => {
    const [first = [], second = []] = [byCoreObject.get(left), byCoreObject.get(right)]
    if ((first.length === 0) !== (second.length === 0)) return false
    return first.every((one) => second.every((other) => areApart(one, other, youngSinceMs)))
  }
}

function areApart(left: ConnectorObject, right: ConnectorObject, youngSinceMs: number): boolean {
  if (areOtherPeople(left, right)) return true
  const isOneYoung = [left, right].some(({ createdAtMs = 0 }) => createdAtMs > youngSinceMs)
  return !isOneYoung || new Set(left.conflictKeys).isDisjointFrom(new Set(right.conflictKeys))
}
