import { chunk } from '../../kernel/chunk.ts'
import type { StoredConnectorObject } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { areOtherPeople, isKeyOfOnePerson } from './join-keys.ts'

/** A query with the ids of thousands of positions that change hands would be too long. */
const IDS_PER_READ_COUNT = 1000

/**
 * HR systems delete a person's former record within days of the new one, or of the handover of the positions to it. Two
 * records that both stay as they are for longer, as the position does, are those of colleagues who share an address.
 */
const FORMER_RECORD_STAYS_MS = 7 * 24 * 60 * 60 * 1000

/**
 * A position can change each week for other reasons than its handover. Two records that stay as they are for this long
 * are those of colleagues even so.
 */
const RECORDS_ALONE_STAY_MS = 4 * FORMER_RECORD_STAYS_MS

type ToldApartDependencies = {
  readonly objects: Pick<ConnectorObjectStore, 'ofCoreObjects'>
  nowMs(): number
}

/**
 * Returns whether two identities among these are certainly two people. They are not while a join key leaves open whether
 * they are one, as between a person's former and new external ids until the former one is deleted; or while only one of
 * them has live data: the other may have become part of it a moment ago. A shared address leaves it open for a week after
 * the last change of the two and of the position that one of them has from the other, and for four weeks at most after
 * that of the two.
 * @param coreObjectIds Those of the identities and of the positions.
 */
export async function toldApart(
  tenantId: string,
  coreObjectIds: readonly string[],
  { objects, nowMs }: ToldApartDependencies,
): Promise<(left: string, right: string, positionId: string) => boolean> {
  const live: StoredConnectorObject[] = []
  for (const ids of chunk([...new Set(coreObjectIds)], IDS_PER_READ_COUNT)) {
    const found = (await objects.ofCoreObjects(tenantId, ids)).map(({ value }) => value)
    live.push(...found.filter(({ deletedAtMs }) => deletedAtMs === undefined))
  }
  const byCoreObject = Map.groupBy(live, ({ coreObjectId }) => coreObjectId)
  const staysMs = ({ lastUpdatedS }: StoredConnectorObject) => nowMs() - lastUpdatedS * 1000
  return (left, right, positionId) => {
    const [first = [], second = []] = [byCoreObject.get(left), byCoreObject.get(right)]
    if ((first.length === 0) !== (second.length === 0)) return false
    const positionStaysMs = Math.min(...(byCoreObject.get(positionId) ?? []).map(staysMs))
    const areSettled = (one: StoredConnectorObject, other: StoredConnectorObject) => {
      const bothStayMs = Math.min(staysMs(one), staysMs(other))
      return Math.min(bothStayMs, positionStaysMs) >= FORMER_RECORD_STAYS_MS || bothStayMs >= RECORDS_ALONE_STAY_MS
    }
    return first.every((one) => second.every((other) => areApart(one, other, areSettled(one, other))))
  }
}

/** @param areSettled Whether the two records, and the position, have been the same for long enough. */
function areApart(left: StoredConnectorObject, right: StoredConnectorObject, areSettled: boolean): boolean {
  if (areOtherPeople(left, right)) return true
  const shared = new Set(left.conflictKeys).intersection(new Set(right.conflictKeys))
  if (shared.size === 0) return true
  return areSettled && ![...shared].some(isKeyOfOnePerson)
}
