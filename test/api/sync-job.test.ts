import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { linkApiOfTests, UNKNOWN_ID } from '../support/api/link-api.ts'
import { users } from '../support/jobs/link-directory.ts'

const api = await linkApiOfTests()

describe('Requesting syncs and reading their jobs', () => {
  it('returns the queued ManualSync to concurrent requests, and queues another once it has run', async () => {
    const collectionId = api.collections.make(users(0, 3))
    await api.create(collectionId, await api.newGroup())
    await api.drain()
    const asked = await Promise.all([1, 2, 3, 4].map(() => api.call('POST', `/group-links/${collectionId}/sync`)))
    const jobIds = new Set(asked.map(({ body }) => (body.data as { jobId: string }).jobId))
    assert.equal(jobIds.size, 1)
    await api.drain()
    const next = (await api.call('POST', `/group-links/${collectionId}/sync`)).body.data as { jobId: string }
    assert.ok(!jobIds.has(next.jobId))
    assert.deepEqual((await api.jobsOf(collectionId)).map(({ type }) => type).sort(), [
      'LinkCreated',
      'ManualSync',
      'ManualSync',
    ])
  })

  it('lists ten jobs, or up to fifty by limit, newest first', async () => {
    const collectionId = api.collections.make(users(0, 1))
    await api.create(collectionId, await api.newGroup())
    await api.drain()
    for (let count = 0; count < 11; count += 1) {
      await api.clock.sleep(5)
      await api.call('POST', `/group-links/${collectionId}/sync`)
      await api.drain()
    }
    const list = async (query: string) =>
      (await api.call('GET', `/sync-jobs?collectionId=${collectionId}${query}`)).body.data as { createdAt: string }[]
    assert.equal((await list('')).length, 10)
    assert.equal((await list('&limit=3')).length, 3)
    const all = (await list('&limit=50')).map(({ createdAt }) => createdAt)
    assert.equal(all.length, 12)
    assert.deepEqual(all, all.toSorted().reverse())
    for (const limit of ['0', '51', 'ten', '1.5', '']) {
      const reply = await api.call('GET', `/sync-jobs?collectionId=${collectionId}&limit=${limit}`)
      assert.equal(reply.status, 400, `limit=${limit}`)
      assert.equal(reply.body.errors[0]?.target, 'limit')
    }
    assert.deepEqual((await api.call('GET', `/sync-jobs?collectionId=${UNKNOWN_ID}`)).body.data, [])
  })
})
