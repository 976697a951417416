import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { coreDataServiceOfTests, newTenant, upsert } from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

/** Attributes of 400 KB that no other name gives. */
const values = (name: string) =>
  Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`custom/${name}${index}`, '😀'.repeat(2_000)]))

describe('A person who would have more than 1 MB', () => {
  it('is refused at the item that would make it so; its neighbours are stored, and the person stays', async () => {
    const tenant = await newTenant(service)
    const [hr, school, club] = [
      await tenant.addConnector('HR'),
      await tenant.addConnector('School'),
      await tenant.addConnector('Club'),
    ]
    await hr.batch(upsert('identity', 'h1', { nin: '1', ...values('a') }))
    await school.batch(upsert('identity', 's1', { nin: '1', ...values('b') }))
    const outcomes = await club.batch(
      upsert('identity', 'c0', { nin: '0' }),
      upsert('identity', 'c1', { nin: '1', ...values('c') }),
      upsert('identity', 'c2', { nin: '2' }),
      upsert('identity', 'c3', { nin: '1', displayName: 'Small' }),
    )
    assert.deepEqual(
      outcomes.map(({ status, errors }) => [status, errors?.[0]?.code]),
      [
        [201, undefined],
        [400, 'ObjectTooLarge'],
        [201, undefined],
        [201, undefined],
      ],
    )
    const people = await tenant.all('identities')
    assert.deepEqual(people.map(({ nin }) => nin).sort(), ['0', '1', '2'])
    const person = people.find(({ nin }) => nin === '1')
    assert.deepEqual([person.displayName, 'custom/a0' in person, 'custom/b0' in person], ['Small', true, true])
    assert.ok(!('custom/c0' in person))
  })

  it('does not keep the audit from the others when it was stored by concurrent writes', async () => {
    const tenant = await newTenant(service)
    const connectors = [await tenant.addConnector('A'), await tenant.addConnector('B'), await tenant.addConnector('C')]
    const names = ['a', 'b', 'c']
    for (const [index, connector] of connectors.entries()) {
      await connector.batch(upsert('identity', 'x', { nin: `${index}`, ...values(names[index] ?? '') }))
    }
    const objects = service.database('connectorObjects')
    const { resources } = await objects.items
      .query(
        {
          query: 'SELECT * FROM c WHERE c.objectType = @type',
          parameters: [{ name: '@type', value: 'identity' }],
        },
        { partitionKey: tenant.tenantId },
      )
      .fetchAll()
    const coreObjectId = resources[0].coreObjectId
    for (const resource of resources) await objects.items.upsert({ ...resource, coreObjectId })
    await connectors[0]?.batch(upsert('identity', 'other', { nin: '9' }))
    await tenant.admin('PUT', `/iamcore/beta/sync/connectors/${connectors[0]?.id}`, { bindsAccounts: false })
    await service.audit()
    assert.ok((await tenant.all('identities')).some(({ nin }) => nin === '9'))
  })
})
