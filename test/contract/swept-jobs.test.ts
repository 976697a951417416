import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cosmosJobStore } from '../../shared/cosmos/jobs/job-store.ts'
import { cosmosDerivedState } from '../../shared/cosmos/tenants/derived-state.ts'
import type { JobFilter } from '../../shared/domain/group-links/job-store.ts'
import type { SweepRecord } from '../../shared/domain/group-links/swept-jobs.ts'
import { newJob, type SyncJob } from '../../shared/domain/group-links/sync-job.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')
const MINUTE_MS = 60_000

const container = await localDatabase()
let nowMs = START_MS
const store = cosmosJobStore(container('jobs'), container('tenants'), () => nowMs)

const recordSweep = async (record: SweepRecord) => (await store.beginSweep(record.tenantId)).record(record)

describe('The jobs of sweeps', () => {
  const linkOf = (skippedCount = 0) => {
    return { linkId: randomUUID(), collectionId: randomUUID(), directoryGroupId: randomUUID(), skippedCount }
  }

  async function allPages(tenantId: string, filter: JobFilter, size: number): Promise<SyncJob[]> {
    const items: SyncJob[] = []
    let after: string | undefined
    do {
      const page = await store.page(tenantId, filter, after, size)
      assert.ok(page.items.length <= size)
      items.push(...page.items)
      after = page.continueAfter
    } while (after !== undefined)
    return items
  }

  it('are found by their ids, in their tenant only', async () => {
    const tenantId = randomUUID()
    const links = [linkOf(), linkOf(7)]
    await recordSweep({ tenantId, startMs: START_MS, endMs: START_MS + 1_500, links })
    const jobs = await allPages(tenantId, {}, 10)
    assert.deepEqual(new Set(jobs.map(({ linkId, skipped }) => `${linkId} ${skipped}`)).size, 2)
    for (const job of jobs) {
      assert.deepEqual((await store.find(tenantId, job.id))?.value, job)
      assert.equal(await store.find(randomUUID(), job.id), undefined)
    }
    assert.equal(await store.find(tenantId, randomUUID()), undefined)
    const [first] = jobs
    const expected = { status: 'Succeeded', attempts: 1, added: 0, removed: 0, error: null, type: 'ScheduledSweep' }
    assert.deepEqual({ ...first, ...expected }, first)
    assert.equal(first?.completedAt, '2030-01-01T00:00:01.500+00:00')
  })

  it('have ids that differ between links and sweeps', async () => {
    const tenantId = randomUUID()
    const links = [linkOf(), linkOf()]
    for (const minute of [0, 60, 120]) {
      const startMs = START_MS + minute * MINUTE_MS
      await recordSweep({ tenantId, startMs, endMs: startMs, links })
    }
    const ids = (await allPages(tenantId, {}, 50)).map(({ id }) => id)
    assert.deepEqual([ids.length, new Set(ids).size], [6, 6])
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('are one record when two sweeps begin in the same minute', async () => {
    const tenantId = randomUUID()
    const links = [linkOf()]
    for (const startMs of [START_MS, START_MS + 30_000]) await recordSweep({ tenantId, startMs, endMs: startMs, links })
    assert.equal((await allPages(tenantId, {}, 10)).length, 1)
  })

  const versionsOfLists = async (tenantId: string): Promise<readonly string[]> => {
    const query = 'SELECT VALUE c._etag FROM c WHERE IS_DEFINED(c.packedLinks)'
    const { resources } = await container('jobs').items.query<string>(query, { partitionKey: tenantId }).fetchAll()
    return resources.toSorted()
  }

  it('name one list of links, which is stored again each day and kept as long as the last of them', async () => {
    const tenantId = randomUUID()
    const links = [linkOf(), linkOf(3)]
    const sweepHours = async (from: number, to: number, some = links) => {
      for (let hour = from; hour < to; hour += 1) {
        const startMs = START_MS + hour * 60 * MINUTE_MS
        await recordSweep({ tenantId, startMs, endMs: startMs, links: some })
      }
      return versionsOfLists(tenantId)
    }
    const first = await sweepHours(0, 24)
    assert.equal(first.length, 1)
    assert.deepEqual(await sweepHours(24, 25, links.toReversed()).then((now) => [now.length, now[0] === first[0]]), [
      1,
      false,
    ])
    assert.equal((await sweepHours(25, 26, links.slice(1))).length, 2)
    const both = await versionsOfLists(tenantId)
    assert.deepEqual(await sweepHours(26, 48), both)
    const query = 'SELECT VALUE c.ttl FROM c WHERE IS_DEFINED(c.packedLinks)'
    const { resources } = await container('jobs').items.query<number>(query, { partitionKey: tenantId }).fetchAll()
    assert.ok(resources.every((ttlS) => ttlS >= (2 + 1) * 24 * 3600))
  })

  it('stay when everything is computed anew after a restore, and their list is stored again', async () => {
    const tenantId = randomUUID()
    const links = [linkOf(), linkOf()]
    await recordSweep({ tenantId, startMs: START_MS, endMs: START_MS, links })
    const before = await allPages(tenantId, {}, 10)
    const versions = await versionsOfLists(tenantId)
    await cosmosDerivedState(container).forget(tenantId, START_MS)
    assert.equal((await store.beginSweep(tenantId)).readUntilS, undefined)
    assert.deepEqual(await allPages(tenantId, {}, 10), before)
    assert.equal(before.length, 2)
    const startMs = START_MS + 60 * MINUTE_MS
    await recordSweep({ tenantId, startMs, endMs: startMs, links })
    assert.notDeepEqual(await versionsOfLists(tenantId), versions)
    assert.equal((await allPages(tenantId, {}, 10)).length, 4)
  })

  it('keep the time of the last look for ends of memberships', async () => {
    const tenantId = randomUUID()
    const lookedAtMs = async () => (await store.beginSweep(tenantId)).deadlinesReadAtMs
    assert.equal(await lookedAtMs(), undefined)
    const sweep = { tenantId, startMs: START_MS, endMs: START_MS, links: [] }
    await recordSweep({ ...sweep, deadlinesReadAtMs: START_MS })
    await recordSweep({ ...sweep, startMs: START_MS + 60 * MINUTE_MS, endMs: START_MS + 60 * MINUTE_MS })
    assert.equal(await lookedAtMs(), START_MS)
  })

  it('tell until when a sweep has read, on the clock of the database, also when it is recorded late', async () => {
    for (const [tookS, recordedAfterS] of [
      [100, 100],
      [100, 400],
    ] as const) {
      const tenantId = randomUUID()
      assert.equal((await store.beginSweep(tenantId)).readUntilS, undefined)
      const beganS = Math.floor(Date.now() / 1000)
      nowMs = START_MS + recordedAfterS * 1000
      await recordSweep({ tenantId, startMs: START_MS, endMs: START_MS + tookS * 1000, links: [] })
      const { readUntilS = 0 } = await store.beginSweep(tenantId)
      nowMs = START_MS
      const beforeS = beganS - readUntilS
      // A client can send a throttled write again for thirty seconds.
      assert.ok(beforeS >= recordedAfterS + 31 && beforeS <= recordedAfterS + 60, `${beforeS} s`)
    }
  })

  it('end after two days', async () => {
    const tenantId = randomUUID()
    const record = { tenantId, startMs: START_MS, endMs: START_MS, links: [linkOf()] }
    await recordSweep(record)
    const [job] = await allPages(tenantId, {}, 10)
    nowMs = START_MS + 48 * 60 * MINUTE_MS
    assert.deepEqual((await store.find(tenantId, job?.id ?? ''))?.value, job)
    nowMs += 1
    assert.deepEqual([await allPages(tenantId, {}, 10), await store.find(tenantId, job?.id ?? '')], [[], undefined])
    nowMs = START_MS
    await recordSweep({ ...record, startMs: START_MS + 49 * 60 * MINUTE_MS })
    assert.equal((await allPages(tenantId, {}, 10)).length, 1)
  })

  it('are those of both sweeps when two end at the same time', async () => {
    const tenantId = randomUUID()
    const begun = [await store.beginSweep(tenantId), await store.beginSweep(tenantId)]
    await Promise.all(
      begun.map((one, index) => {
        const startMs = START_MS + index * MINUTE_MS
        return one.record({ tenantId, startMs, endMs: startMs, links: [linkOf()] })
      }),
    )
    assert.equal((await allPages(tenantId, {}, 10)).length, 2)
    const next = await store.beginSweep(tenantId)
    assert.ok((next.lastSweepMs ?? 0) >= START_MS)
    const links = [linkOf()]
    const startMs = START_MS + 60 * MINUTE_MS
    await next.record({ tenantId, startMs, endMs: startMs, links })
    await next.record({ tenantId, startMs: startMs + 1, endMs: startMs, links })
    assert.equal((await allPages(tenantId, {}, 10)).length, 3)
  })

  it('are listed among stored ones, newest first, each once, in pages of any size and with any filter', async () => {
    const links = [linkOf(), linkOf(), { ...linkOf(), collectionId: '' }].map((link, index, all) => {
      return index === 2 ? { ...link, collectionId: all[0]?.collectionId ?? '' } : link
    })
    const entry = fc.record({
      hour: fc.nat({ max: 6 }),
      isSweep: fc.boolean(),
      linkIndexes: fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1, maxLength: 3 }),
      isQueued: fc.boolean(),
    })
    const options = { size: fc.integer({ min: 1, max: 5 }), entries: fc.array(entry, { maxLength: 10 }) }
    const property = fc.asyncProperty(fc.record(options), async ({ size, entries }) => {
      const tenantId = randomUUID()
      const swept = new Set<number>()
      let storedCount = 0
      let sweptCount = 0
      for (const { hour, isSweep, linkIndexes, isQueued } of entries) {
        const startMs = START_MS + hour * 60 * MINUTE_MS
        const chosen = linkIndexes.flatMap((index) => links[index] ?? [])
        if (isSweep && !swept.has(hour)) {
          swept.add(hour)
          sweptCount += chosen.length
          await recordSweep({ tenantId, startMs, endMs: startMs, links: chosen })
        } else if (!isSweep) {
          for (const { linkId, ...linked } of chosen) {
            const job = newJob({ id: randomUUID(), type: 'ManualSync' }, { id: linkId, tenantId, ...linked }, startMs)
            await store.add({ ...job, status: isQueued ? 'Queued' : 'Succeeded' })
            storedCount += 1
          }
        }
      }
      const all = await allPages(tenantId, {}, 1000)
      assert.equal(all.length, storedCount + sweptCount)
      const keys = all.map(({ createdAt, id }) => `${createdAt} ${id}`)
      assert.deepEqual(keys, keys.toSorted().reverse())
      for (const filter of [
        {},
        { collectionId: links[0]?.collectionId ?? '' },
        { linkId: links[1]?.linkId ?? '' },
        { status: 'Succeeded' },
        { status: 'Queued' },
      ] satisfies JobFilter[]) {
        const matches = (job: SyncJob) =>
          Object.entries(filter).every(([name, value]) => job[name as keyof SyncJob] === value)
        assert.deepEqual(await allPages(tenantId, filter, size), all.filter(matches))
      }
    })
    await fc.assert(property, { numRuns: 25 })
  })
})
