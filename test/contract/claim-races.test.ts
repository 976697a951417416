import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { accountConflicts } from '../../shared/domain/connectors/account-claims.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-dependencies.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { writeDependencies } from '../support/contract/connector-writes.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))

it('An account that two writes take without seeing each other has one holder after the later one', async () => {
  const [tenantId, directoryObjectId] = [randomUUID(), randomUUID()]
  const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
  await deps.connectors.add(tenantId, connector)
  const claim = (externalId: string, nin: string, using: WriteDependencies) => {
    const person: ObjectWrite = {
      ...{ operation: 'upsert', objectType: 'identity', externalId },
      data: { nin, directoryObjectId },
    }
    return writeObjects(tenantId, connector, [person], using)
  }
  let isDue = true
  const write: typeof deps.coreObjects.write = async (...args) => {
    if (isDue) {
      isDue = false
      await claim('first', '1', deps)
    }
    return deps.coreObjects.write(...args)
  }
  await claim('second', '2', { ...deps, coreObjects: { ...deps.coreObjects, write } })
  const people = (await coreObjects.page(tenantId, 'identity', undefined, 10)).items
  const holders = people.filter(({ attributes }) => attributes.directoryObjectId === directoryObjectId)
  assert.deepEqual([people.length, holders.length], [2, 1])
  const claimantIds = people.filter((person) => !holders.includes(person)).map(({ id }) => id)
  assert.deepEqual(await accountConflicts(tenantId, deps.coreObjects), [
    { directoryObjectId, holderId: holders[0]?.id, claimantIds },
  ])
})
