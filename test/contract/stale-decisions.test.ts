import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { readConnectorObject } from '../../shared/domain/connectors/connector-data.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { user } from '../api/core-data-service.ts'
import { writeDependencies } from './connector-writes.ts'
import { databaseOfInstances, STOPPED } from './instances.ts'

const { cosmos, newInstance } = await databaseOfInstances()

const person = (displayName: string, more: object = {}): ObjectWrite => ({
  operation: 'upsert',
  objectType: 'identity',
  externalId: 'p1',
  data: { displayName, ...more },
})
const removal: ObjectWrite = { operation: 'delete', objectType: 'identity', externalId: 'p1' }

/** A tenant with connectors that write through any instance. Core objects are read from the primary. */
async function newTenant() {
  const tenantId = randomUUID()
  const administrator = user(tenantId, randomUUID(), 'Administrator')
  const addConnector = async (createdAt: string) => {
    const connector = newConnector(
      { name: 'A source', clientId: randomUUID() },
      { id: randomUUID(), createdBy: randomUUID(), createdAt },
    )
    await writeDependencies(newInstance().container).connectors.add(tenantId, connector)
    return connector
  }
  const hr = await addConnector('2030-01-01T00:00:00.000Z')
  return {
    hr,
    addPayroll: () => addConnector('2030-01-02T00:00:00.000Z'),
    async write(through: ReturnType<typeof newInstance>, ...writes: ObjectWrite[]) {
      const outcomes = await writeObjects(tenantId, hr, writes, writeDependencies(through.container))
      return outcomes.map(({ outcome }) => outcome)
    },
    async writeAs(connector: typeof hr, through: ReturnType<typeof newInstance>, ...writes: ObjectWrite[]) {
      await writeObjects(tenantId, connector, writes, writeDependencies(through.container))
    },
    async read(through: ReturnType<typeof newInstance>, externalId: string) {
      const deps = writeDependencies(through.container)
      return (await readConnectorObject(hr.id, 'identity', externalId, administrator, deps)).value
    },
    async people() {
      cosmos.setReplicaLag(undefined)
      const { resources } = await newInstance()
        .container('coreObjects')
        .items.query({ query: 'SELECT * FROM c WHERE c.deleted = false' }, { partitionKey: tenantId })
        .fetchAll()
      return resources.map(({ attributes }) => attributes)
    },
  }
}

describe('An instance that does not see the writes of another instance yet', () => {
  beforeEach(() => cosmos.setReplicaLag(undefined))

  it('does not treat a write as unchanged if it reverts a write of the other instance', async () => {
    const tenant = await newTenant()
    const [one, other] = [newInstance(), newInstance()]
    await tenant.write(one, person('A'))
    cosmos.setReplicaLag(STOPPED)
    assert.deepEqual(await tenant.write(one, person('B')), ['updated'])
    assert.deepEqual(await tenant.write(other, person('A')), ['updated'])
    assert.deepEqual(await tenant.people(), [{ displayName: 'A' }])
  })

  it('deletes an object that the other has just created, and creates one that the other has just deleted', async () => {
    const tenant = await newTenant()
    cosmos.setReplicaLag(STOPPED)
    assert.deepEqual(await tenant.write(newInstance(), person('A')), ['created'])
    assert.deepEqual(await tenant.write(newInstance(), removal), ['deleted'])
    assert.deepEqual(await tenant.write(newInstance(), { ...person('B'), operation: 'create' } as ObjectWrite), [
      'created',
    ])
    assert.deepEqual(await tenant.people(), [{ displayName: 'B' }])
  })

  it('reads an object that the other has just created', async () => {
    const tenant = await newTenant()
    cosmos.setReplicaLag(STOPPED)
    await tenant.write(newInstance(), person('A'))
    assert.equal((await tenant.read(newInstance(), 'p1')).data.displayName, 'A')
  })

  it('merges a person with one that another connector has just created', async () => {
    const tenant = await newTenant()
    const payroll = await tenant.addPayroll()
    cosmos.setReplicaLag(STOPPED)
    await tenant.write(newInstance(), person('A', { nin: '01010112345' }))
    await tenant.writeAs(payroll, newInstance(), person('A of payroll', { nin: '01010112345', firstName: '7' }))
    const people = await tenant.people()
    assert.deepEqual(people, [{ displayName: 'A', nin: '01010112345', firstName: '7' }])
  })

  it('merges a person with one that another connector has just created, before it has read that connector', async () => {
    const tenant = await newTenant()
    const one = newInstance()
    await tenant.write(one, person('A', { nin: '01010112345' }))
    cosmos.setReplicaLag(STOPPED)
    const payroll = await tenant.addPayroll()
    await tenant.writeAs(payroll, newInstance(), person('A of payroll', { nin: '99999999999' }))
    await tenant.write(one, person('A', { nin: '99999999999' }))
    assert.deepEqual(await tenant.people(), [{ displayName: 'A', nin: '99999999999' }])
  })

  it('merges a core object from all current contributions', async () => {
    const tenant = await newTenant()
    const payroll = await tenant.addPayroll()
    const [one, other] = [newInstance(), newInstance()]
    await tenant.write(one, person('A', { nin: '01010112345' }))
    await tenant.writeAs(payroll, one, person('', { nin: '01010112345', firstName: '7' }))
    cosmos.setReplicaLag(STOPPED)
    await tenant.writeAs(payroll, one, person('', { nin: '01010112345', firstName: '8' }))
    await tenant.write(other, person('B', { nin: '01010112345' }))
    assert.deepEqual(await tenant.people(), [{ displayName: 'B', nin: '01010112345', firstName: '8' }])
  })
})
