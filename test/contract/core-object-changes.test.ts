import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import type { ChangeMark } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { localAccount } from './local-database.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')

const clock = { storeMs: START_MS, ownMs: 7_000_000 }
const pass = (seconds: number) => {
  clock.storeMs += seconds * 1000
  clock.ownMs += seconds * 1000
}
const { container } = await localAccount(() => clock.storeMs)
const changes = cosmosCoreObjectChanges(container('coreObjects'), () => clock.ownMs)

const write = (tenantId: string, id: string) =>
  container('coreObjects').items.upsert({ id, tenantId, objectType: 'identity', externalId: id, attributes: {} })

async function read(tenantId: string, since?: ChangeMark) {
  const ids: string[] = []
  let mark = since
  for await (const page of changes.since(tenantId, since)) {
    ids.push(...page.objects.map(({ id }) => id))
    mark = page.mark
  }
  return { ids: ids.sort(), mark }
}

describe('CoreObjectChanges on the local database', () => {
  it('returns all objects, then those written since, and again those written shortly before', async () => {
    const tenantId = randomUUID()
    await write(tenantId, 'a')
    pass(10)
    await write(tenantId, 'b')
    const first = await read(tenantId)
    assert.deepEqual(first.ids, ['a', 'b'])
    await write(tenantId, 'c')
    assert.deepEqual((await read(tenantId, first.mark)).ids, ['b', 'c'])
  })

  it('does not return a burst of writes again after some time', async () => {
    const tenantId = randomUUID()
    for (const id of ['a', 'b', 'c']) await write(tenantId, id)
    let { mark } = await read(tenantId)
    pass(10)
    mark = (await read(tenantId, mark)).mark
    pass(10)
    const second = await read(tenantId, mark)
    assert.deepEqual(second.ids, ['a', 'b', 'c'])
    assert.deepEqual((await read(tenantId, second.mark)).ids, [])
  })

  it('misses no write between reads, even when it becomes visible late', async () => {
    const tenantId = randomUUID()
    await write(tenantId, 'first')
    let { mark } = await read(tenantId)
    const told = new Set<string>()
    for (let round = 0; round < 20; round += 1) {
      pass(round)
      mark = (await read(tenantId, mark)).mark
      // A write that got its time now, and is seen first by a look some seconds later.
      const writtenAtMs = clock.storeMs
      pass(4)
      mark = (await read(tenantId, mark)).mark
      clock.storeMs = writtenAtMs
      await write(tenantId, `late ${round}`)
      clock.storeMs = writtenAtMs + 4000
      const next = await read(tenantId, mark)
      mark = next.mark
      for (const id of next.ids) told.add(id)
      assert.ok(told.has(`late ${round}`), `round ${round}`)
    }
  })

  it('does not depend on the clock of the process', async () => {
    const tenantId = randomUUID()
    clock.ownMs = 5
    await write(tenantId, 'a')
    const { mark } = await read(tenantId)
    pass(100)
    await write(tenantId, 'b')
    assert.deepEqual((await read(tenantId, mark)).ids.includes('b'), true)
  })
})
