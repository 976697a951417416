import assert from 'node:assert/strict'
import { it } from 'node:test'
import { REGISTRATION_ID } from '../../shared/cosmos/tenants/sweep-log.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenants/tenant-store.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const TENANT = '11111111-0000-4000-8000-000000000009'

it('the registration of a tenant is repeated after a failure, and not after a success', async () => {
  const tenants = (await localDatabase())('tenants')
  let [isAway, createdCount] = [true, 0]
  const watched = new Proxy(tenants, {
    get(target, name) {
      if (name === 'items') {
        createdCount += 1
        if (isAway) throw new Error('The database is away')
      }
      return Reflect.get(target, name)
    },
  })
  const store = cosmosTenantStore(watched)
  await assert.rejects(store.register(TENANT), /The database is away/)
  isAway = false
  await store.register(TENANT)
  assert.equal((await tenants.item(REGISTRATION_ID, TENANT).read()).statusCode, 200)
  await store.register(TENANT)
  assert.equal(createdCount, 2)
})
