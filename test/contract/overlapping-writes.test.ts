import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { writeDependencies } from '../support/contract/connector-writes.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)

async function newPlace() {
  const tenantId = randomUUID()
  const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
  await deps.connectors.add(tenantId, connector)
  return {
    write: (write: ObjectWrite, using = deps) => writeObjects(tenantId, connector, [write], using),
    orgUnits: async () =>
      (await cosmosCoreObjectStore(database('coreObjects')).page(tenantId, 'orgUnit', undefined, 9)).items,
  }
}

/** The stores, with contributions that change after the merge has read them. */
function changedDuring(change: () => Promise<unknown>): typeof deps {
  let hasChanged = false
  return {
    ...deps,
    objects: {
      ...deps.objects,
      async ofCoreObjects(tenantId, coreObjectIds) {
        const found = await deps.objects.ofCoreObjects(tenantId, coreObjectIds)
        if (coreObjectIds.length === 0 || hasChanged) return found
        hasChanged = true
        await change()
        return found
      },
    },
  }
}

/** The stores, with a core object that is merged by another call before the first write. */
function changedBeforeWrite(change: () => Promise<unknown>): typeof deps {
  let hasChanged = false
  const { coreObjects } = deps
  const write: typeof coreObjects.write = async (...writes) => {
    if (!hasChanged) {
      hasChanged = true
      await change()
    }
    return coreObjects.write(...writes)
  }
  return { ...deps, coreObjects: { ...coreObjects, write } }
}

const unit = (displayName: string): ObjectWrite => ({
  operation: 'upsert',
  objectType: 'orgUnit',
  externalId: 'o1',
  data: { displayName },
})

it('a contribution that is deleted during the merge leaves no core object', async () => {
  const { write, orgUnits } = await newPlace()
  const deletion = () => write({ operation: 'delete', objectType: 'orgUnit', externalId: 'o1' })
  await write(unit('first'), changedDuring(deletion))
  assert.deepEqual(await orgUnits(), [])
})

it('the later of two writes determines the core object, whichever merges last', async () => {
  const { write, orgUnits } = await newPlace()
  await write(unit('first'))
  await write(
    unit('second'),
    changedDuring(() => write(unit('third'))),
  )
  assert.deepEqual(
    (await orgUnits()).map(({ attributes }) => attributes.displayName),
    ['third'],
  )
})

it('a write that takes back another one determines the core object, also when it finds it unchanged', async () => {
  const { write, orgUnits } = await newPlace()
  await write(unit('first'))
  await write(
    unit('second'),
    changedBeforeWrite(() => write(unit('first'))),
  )
  assert.deepEqual(
    (await orgUnits()).map(({ attributes }) => attributes.displayName),
    ['first'],
  )
})

it('an object that was deleted and restored is referred to again, also when the deletion is merged last', async () => {
  const { write, orgUnits } = await newPlace()
  const child: ObjectWrite = {
    ...unit('child'),
    externalId: 'o2',
    data: { parent: { externalId: 'o1' } },
  } as ObjectWrite
  await write(unit('parent'))
  await write(child)
  const deletion: ObjectWrite = { operation: 'delete', objectType: 'orgUnit', externalId: 'o1' }
  await write(
    deletion,
    changedBeforeWrite(() => write(unit('parent'))),
  )
  const found = await orgUnits()
  const parentId = found.find(({ externalId }) => externalId === 'o1')?.id
  assert.deepEqual(found.find(({ externalId }) => externalId === 'o2')?.attributes.parent, { objectId: parentId })
})
