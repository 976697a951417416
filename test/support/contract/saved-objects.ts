import type { Container, JSONObject } from '@azure/cosmos'
import { municipality } from '../../../infra/local/demo/municipality.ts'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { OPERATIONS_PER_BATCH_COUNT, writeTogether } from '../../../shared/cosmos/documents.ts'
import {
  type Attributes,
  type AttributeValue,
  attributeDefinition,
  type ObjectType,
} from '../../../shared/domain/core/core-object.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import type { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { RowBlockReader, rowBlocks } from '../../../shared/domain/tenant-index/saved/row-blocks.ts'
import { savedOrders } from '../../../shared/domain/tenant-index/saved/saved-order.ts'
import { chunk } from '../../../shared/kernel/chunk.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'

/** The shortest time for which deleted objects are kept. */
const DAY_S = 86_400

/** Objects as one text each, in the order of their ids. The order of attributes and lists does not matter. */
export function contentOf(objects: readonly Omit<SnapshotObject, 'deleted'>[]): string[] {
  return objects
    .map(({ id, objectType, externalId, attributes }) => textOf(id, objectType, externalId, attributes))
    .sort()
}

const textOf = (id: string, objectType: string, externalId: string, attributes: Attributes): string =>
  JSON.stringify([
    id,
    objectType,
    externalId,
    Object.entries(attributes)
      .map(([name, value]) => [name, sorted(value)])
      .sort(),
  ])

const sorted = (value: AttributeValue): unknown =>
  Array.isArray(value) ? value.map((element) => JSON.stringify(element)).sort() : value

/** The live objects of rows. */
export function objectsIn(rows: RowSnapshot): SnapshotObject[] {
  const reader = new RowBlockReader()
  return [...rowBlocks(rows, runToCompletion(savedOrders(rows)))].flatMap((block) =>
    runToCompletion(reader.objectsIn(runToCompletion(block))),
  )
}

/** The core objects of the people, units and positions of the demo. */
export function municipalityObjects(identityCount: number): SnapshotObject[] {
  const { identities, orgUnits, relationships } = municipality({ tenantNumber: 1, identityCount, seed: 'saved rows' })
  return [...orgUnits, ...identities, ...relationships].map(({ objectType, externalId, data }) => ({
    id: derivedId(objectType, externalId),
    objectType,
    externalId,
    attributes: Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, coreValue(attributeDefinition(objectType, name)?.to, value)]),
    ),
    deleted: false,
  }))
}

/** References to external ids as references to core objects. */
function coreValue(to: ObjectType | undefined, value: unknown): AttributeValue {
  if (to === undefined) return value as AttributeValue
  const reference = ({ externalId }: { externalId: string }) => ({ objectId: derivedId(to, externalId) })
  return Array.isArray(value) ? value.map(reference) : reference(value as { externalId: string })
}

/** Writes core objects as they are. Deleted ones are kept for `keptDays`. */
export async function writeObjects(
  coreObjects: Container,
  tenantId: string,
  objects: readonly SnapshotObject[],
  keptDays = 1,
): Promise<void> {
  for (const batch of chunk(objects, OPERATIONS_PER_BATCH_COUNT)) {
    const operations = batch.map((object) => ({
      operationType: 'Upsert' as const,
      resourceBody: {
        ...object,
        tenantId,
        ...(object.deleted ? { ttl: keptDays * DAY_S } : {}),
      } as unknown as JSONObject,
    }))
    const failure = await writeTogether(coreObjects, tenantId, operations)
    if (failure !== undefined) throw new Error(`Writing core objects failed: ${failure.status}`)
  }
}
