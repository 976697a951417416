import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OPEN } from '../api/joinable-world.ts'
import { eventWorld, receiver } from './event-world.ts'

describe('Events after a restore of the database', () => {
  it('tell of changes whose versions come a second time, and of none twice under another id', async () => {
    const world = await eventWorld()
    const hook = await receiver()
    await world.subscribe(hook.url, ['member.*'])
    const collectionId = await world.joinable(OPEN)
    const [one, two, three] = [await world.person(), await world.person(), await world.person()]
    await world.submit(one, collectionId)
    const requests = world.container('requests')
    const restored = await documents()
    world.pass(60)
    await world.submit(two, collectionId)
    await world.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId])
    // The requests are as they were before the second one; what was published is not.
    for (const { id } of await documents()) await requests.item(id, world.tenantId).delete()
    for (const document of restored) await requests.items.upsert(document)
    world.pass(60)
    await world.submit(three, collectionId)
    await world.drain()
    assert.deepEqual(told(), [one.identityId, two.identityId, three.identityId])
    const ids = hook.events().map(({ id }) => id)
    assert.equal(new Set(ids).size, 3)

    function told(): string[] {
      return hook.events().map(({ data }) => data.objectId)
    }

    async function documents(): Promise<{ id: string }[]> {
      const query = 'SELECT * FROM c'
      return (await requests.items.query<{ id: string }>(query, { partitionKey: world.tenantId }).fetchAll()).resources
    }
  })
})

describe('A receiver that does not answer', () => {
  it('delays no other, and ends the invocation after a second', async () => {
    const world = await eventWorld()
    const silent = await receiver(() => new Promise(() => undefined))
    const fast = await receiver()
    for (let count = 0; count < 5; count += 1) await world.subscribe(silent.url, ['collection.*'])
    await world.subscribe(fast.url, ['collection.*'])
    await world.joinable(OPEN)
    const startMs = performance.now()
    // One invocation after the other: those before the fast receiver's cannot wait for an answer.
    await world.drain()
    const durationMs = performance.now() - startMs
    assert.equal(fast.delivered.length, 1)
    assert.ok(durationMs < 7_000, `${durationMs} ms`)
    assert.equal(silent.delivered.length, 5)
    silent.close()
  })
})
