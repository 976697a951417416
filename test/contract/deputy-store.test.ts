import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { cosmosDeputyStore } from '../../shared/cosmos/requests/deputy-store.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const store = cosmosDeputyStore((await localDatabase())('requests'), () => NOW_MS)

it('A deputy is not replaced or removed by who has read a former one', async () => {
  const [tenantId, identityId, deputyId, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const deputy = { tenantId, identityId, deputyId, fromMs: NOW_MS, untilMs: NOW_MS + 60_000 }
  await store.save(deputy)
  const { version } = (await store.find(tenantId, identityId)) ?? assert.fail()
  await store.save({ ...deputy, deputyId: other })
  await assert.rejects(store.save(deputy, version), { code: 'StaleVersion' })
  await store.remove(tenantId, identityId, version)
  const now = await store.find(tenantId, identityId)
  assert.equal(now?.value.deputyId, other)
  await store.remove(tenantId, identityId, now?.version)
  assert.equal(await store.find(tenantId, identityId), undefined)
})
