import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import type { CoreObjectWriter } from '../../../shared/domain/connectors/merge-writes.ts'
import type { Attributes, ObjectType, Reference } from '../../../shared/domain/core/core-object.ts'
import { chunk } from '../../../shared/kernel/chunk.ts'

/** How many there are of each type. */
export type Sizes = Readonly<Record<ObjectType, number>>

const UNITS_BELOW_EACH_COUNT = 8
const OBJECTS_PER_WRITE_COUNT = 2000

/** The id of the object of a number, from 0. */
export const idOf = (type: ObjectType | 'collection' | 'request', index: number): string =>
  derivedId(type, String(index))

const to = (type: ObjectType, index: number): Reference => ({ objectId: idOf(type, index) })

/**
 * Writes a tenant's people, their positions and a tree of units by the store: quicker than by the API. Each unit has
 * the identity of its own number as manager, and the first one lies above all others.
 */
export async function loadSizedObjects(
  tenantId: string,
  sizes: Sizes,
  store: Pick<CoreObjectWriter, 'write'>,
): Promise<void> {
  const load = async (objectType: ObjectType, attributesOf: (index: number) => Attributes) => {
    const indexes = Array.from({ length: sizes[objectType] }, (_, index) => index)
    for (const part of chunk(indexes, OBJECTS_PER_WRITE_COUNT)) {
      const writes = part.map((index) => {
        const id = idOf(objectType, index)
        const object = { id, objectType, externalId: id, attributes: attributesOf(index), contributors: [id] }
        return { object: { ...object, deleted: false }, version: undefined }
      })
      await store.write(tenantId, writes, 1)
    }
  }
  await load('orgUnit', (index) => ({
    displayName: `Unit ${index}`,
    manager: to('identity', index),
    ...(index > 0 ? { parent: to('orgUnit', Math.floor((index - 1) / UNITS_BELOW_EACH_COUNT)) } : {}),
  }))
  await load('identity', (index) => ({
    displayName: `Person ${index}`,
    email: `person${index}@example.org`,
    nin: String(10_000_000_000 + index),
    directoryObjectId: idOf('identity', index),
  }))
  await load('relationship', (index) => ({
    title: `Job ${index % 50}`,
    employeeId: String(index),
    identity: to('identity', index % sizes.identity),
    orgUnit: to('orgUnit', index % sizes.orgUnit),
  }))
}
