import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { IdentitySource } from '../../shared/domain/connectors/read-sources.ts'
import {
  application,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  to,
  upsert,
  user,
} from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

describe('the sources of an identity', () => {
  it('are the connectors that contribute to it, the oldest first, each with the attributes that are used', async () => {
    const tenant = await newTenant(service)
    const [hr, directory] = [await tenant.addConnector('HR'), await tenant.addConnector('Directory')]
    const account = randomUUID()
    await directory.batch(
      upsert('identity', 'd1', {
        nin: '47',
        displayName: 'Kari N',
        email: 'kari@example.org',
        directoryObjectId: account,
      }),
      upsert('identity', 'd2', { nin: '48', displayName: 'Ola N' }),
    )
    await hr.batch(
      upsert('relationship', 'r1', { title: 'Nurse', identity: to('h1') }),
      upsert('identity', 'h1', {
        nin: '47',
        displayName: 'Kari',
        'custom/shift': 'night',
        primaryRelationship: to('r1'),
      }),
      upsert('identity', 'h2', { nin: '48', directoryObjectId: account, primaryRelationship: to('absent') }),
    )
    const sources = async (externalId: string) => {
      const { id } = await tenant.byExternalId('identities', externalId)
      return (await tenant.admin('GET', `${CORE}/identities/${id}/sources`)).body.data as IdentitySource[]
    }
    assert.deepEqual(await sources('h1'), [
      {
        connectorId: hr.id,
        connectorName: 'HR',
        externalId: 'h1',
        attributes: {
          nin: '47',
          displayName: 'Kari',
          'custom/shift': 'night',
          primaryRelationship: { externalId: 'r1' },
        },
        joinedBy: null,
        used: ['custom/shift', 'displayName', 'nin', 'primaryRelationship'],
      },
      {
        connectorId: directory.id,
        connectorName: 'Directory',
        externalId: 'd1',
        attributes: { nin: '47', displayName: 'Kari N', email: 'kari@example.org', directoryObjectId: account },
        joinedBy: 'nin',
        used: ['directoryObjectId', 'email'],
      },
    ])
    // Another identity holds the account, and the position does not exist.
    assert.deepEqual(
      (await sources('h2')).map(({ externalId, used }) => [externalId, used]),
      [
        ['h2', ['nin']],
        ['d2', ['displayName']],
      ],
    )
    await hr.batch(remove('identity', 'h1'))
    assert.deepEqual(
      (await sources('d1')).map(({ connectorName }) => connectorName),
      ['Directory'],
    )
  })

  it('are shown to readers of all core objects only, of identities that exist', async () => {
    const tenant = await newTenant(service)
    const hr = await tenant.addConnector('HR')
    const account = randomUUID()
    await hr.batch(upsert('identity', 'h1', { displayName: 'Kari', directoryObjectId: account }))
    const { id } = await tenant.byExternalId('identities', 'h1')
    const path = `${CORE}/identities/${id}/sources`
    const operator = application(tenant.tenantId, randomUUID(), 'iam-core.synchronization-configuration.read.all')
    assert.equal((await service.as(operator)('GET', path)).status, 200)
    const self = await service.as(user(tenant.tenantId, account, 'User'))('GET', path)
    assert.deepEqual([self.status, self.body.errors[0].code], [403, 'RoleRequired'])
    const missing = await tenant.admin('GET', `${CORE}/identities/${randomUUID()}/sources`)
    assert.deepEqual([missing.status, missing.body.errors[0].code], [404, 'CoreObjectNotFound'])
    const stranger = (await newTenant(service)).admin
    assert.equal((await stranger('GET', path)).status, 404)
  })
})
