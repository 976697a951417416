import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { cosmosEvaluationInputs } from '../../shared/cosmos/tenants/evaluation-inputs.ts'
import type { ChangeMark } from '../../shared/domain/tenant-index/core-object-changes.ts'
import { localAccount } from '../support/contract/local-database.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')

const clock = { storeMs: START_MS, ownMs: 7_000_000 }
const pass = (seconds: number) => {
  clock.storeMs += seconds * 1000
  clock.ownMs += seconds * 1000
}
const { container } = await localAccount(() => clock.storeMs)
const changes = cosmosCoreObjectChanges(container('coreObjects'), () => clock.ownMs)

/** Everything was written since this mark. */
const LONG_AGO = { seenUntilS: 0, readFromS: 0, firstSeenS: 0, latest: [] }

const write = (tenantId: string, id: string) =>
  container('coreObjects').items.upsert({ id, tenantId, objectType: 'identity', externalId: id, attributes: {} })

async function writeAll(tenantId: string, ids: readonly string[]): Promise<void> {
  const rest = { tenantId, objectType: 'identity', attributes: {} }
  for (let from = 0; from < ids.length; from += 100) {
    const operations = ids
      .slice(from, from + 100)
      .map((id) => ({ operationType: 'Upsert' as const, resourceBody: { id, externalId: id, ...rest } }))
    await container('coreObjects').items.batch(operations, tenantId)
  }
}

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

  it('tells the writes that a reading has included from those made in the same second', async () => {
    const tenantId = randomUUID()
    const inputs = cosmosEvaluationInputs(container)
    await write(tenantId, 'a')
    pass(600)
    await write(tenantId, 'b')
    const { mark } = await read(tenantId)
    assert.ok(mark !== undefined)
    const coreObjects = changes.includedWrites(mark)
    assert.equal(coreObjects?.versions.length, 1)
    pass(3600)
    assert.equal(await inputs.hasFurtherWrites(tenantId, { coreObjects }), false)
    pass(-3600)
    await write(tenantId, 'b')
    assert.equal(await inputs.hasFurtherWrites(tenantId, { coreObjects }), true)
  })

  it('names no more than five recent writes, and after some time none', async () => {
    const tenantId = randomUUID()
    await writeAll(
      tenantId,
      Array.from({ length: 5 }, (_, index) => `first ${index}`),
    )
    const first = (await read(tenantId)).mark
    assert.equal(first && changes.includedWrites(first)?.versions.length, 5)
    await write(tenantId, 'one more')
    const second = (await read(tenantId, first)).mark
    assert.equal(second && changes.includedWrites(second), undefined)
    pass(20)
    const third = (await read(tenantId, second)).mark
    assert.deepEqual(third && changes.includedWrites(third)?.versions, [])
    await write(tenantId, 'later')
    const fourth = (await read(tenantId, third)).mark
    assert.equal(fourth && changes.includedWrites(fourth)?.versions.length, 1)
  })

  it('reads writes that are made between the pages of a load or a refresh', async () => {
    const tenantId = randomUUID()
    const ids = Array.from({ length: 300 }, (_, index) => `person ${String(index).padStart(4, '0')}`)
    await writeAll(tenantId, ids)
    pass(3_600)
    let mark: ChangeMark | undefined
    for (const reading of ['load', 'refresh']) {
      let pageCount = 0
      for await (const page of changes.since(tenantId, mark === undefined ? undefined : { ...mark, ...LONG_AGO })) {
        mark = page.mark
        pageCount += page.objects.length > 0 ? 1 : 0
        if (pageCount !== 1 || page.objects.length === 0) continue
        // One that the reader has passed changes, and later one that is still to come, which is read with its new time.
        pass(30)
        await write(tenantId, 'person 0007')
        pass(30)
        await write(tenantId, 'person 0270')
      }
      assert.equal(pageCount, 2)
      assert.ok((await read(tenantId, mark)).ids.includes('person 0007'), reading)
    }
  })

  it('reads few objects again after a load', async () => {
    const tenantId = randomUUID()
    await writeAll(
      tenantId,
      Array.from({ length: 2_000 }, (_, index) => `person ${1_000 + index}`),
    )
    pass(3_600)
    await writeAll(
      tenantId,
      Array.from({ length: 500 }, (_, index) => `person ${3_000 + index}`),
    )
    pass(60)
    await write(tenantId, 'person 9999')
    const { mark } = await read(tenantId)
    assert.deepEqual((await read(tenantId, mark)).ids, ['person 9999'])
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
