import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import { DirectoryFault } from '../../shared/domain/group-links/directory.ts'
import { requestSync } from '../../shared/domain/group-links/manage-links.ts'
import { syncStateOf } from '../../shared/domain/group-links/sync-state.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { linkFixtureOfTests, notifyOfMembershipChange, syncedLink } from '../support/jobs/link-fixture.ts'

const fixture = await linkFixtureOfTests()

describe('A sync job with directory faults', () => {
  const WRITE = '^/v1.0/groups/[^/]+($|/members/)'
  const survived: [claim: string, fault: FaultDefinition][] = [
    ['a throttled read', { method: 'GET', retryAfterS: 2, times: 2 }],
    ['throttled items', { method: 'PATCH', retryAfterS: 2, times: 3 }],
    ['a throttled batch', { path: 'batch', retryAfterS: 1, times: 1 }],
    ['a concurrency conflict', { method: 'PATCH', status: 409, times: 2 }],
    ['an internal error', { path: WRITE, status: 500, times: 3 }],
    ['an outage', { status: 503, times: 2 }],
    ['a page of HTML', { html: true, times: 2 }],
    ['HTML in place of a batch', { path: 'batch', html: true, status: 200, times: 1 }],
    ['a lost connection', { drop: true, times: 2 }],
    ['slow responses', { delayMs: 40 }],
    ['a connection lost after an addition', { method: 'PATCH', drop: true, applyFirst: true, times: 2 }],
    ['a connection lost after a removal', { method: 'DELETE', drop: true, applyFirst: true, times: 2 }],
    ['a batch whose response was lost', { path: 'batch', drop: true, applyFirst: true, times: 1 }],
    ['additions that took effect and were reported as failed', { method: 'PATCH', applyFirst: true, times: 4 }],
    ['removals that took effect and were reported as failed', { method: 'DELETE', applyFirst: true, times: 5 }],
  ]
  for (const [claim, fault] of survived) {
    it(`handles ${claim} within one run, with exact counts`, async () => {
      const { collectionId, groupId } = await fixture.linked(users(0, 90), users(80, 30))
      fixture.server.setFaults([fault])
      await fixture.drain()
      const [job] = await fixture.jobsOf(collectionId)
      assert.deepEqual(
        { status: job?.status, attempts: job?.attempts, added: job?.added, removed: job?.removed, error: job?.error },
        { status: 'Succeeded', attempts: 1, added: 80, removed: 20, error: null },
      )
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(0, 90)))
    })
  }

  it('waits for the Retry-After of a throttled item', async () => {
    await fixture.linked(users(0, 90))
    fixture.server.setFaults([{ method: 'PATCH', retryAfterS: 7, times: 1 }])
    await fixture.drain()
    assert.ok(fixture.waitsMs.some((waitMs) => waitMs > 6_900 && waitMs <= 7_000))
  })

  it('is retried after the Retry-After of a throttled request', async () => {
    const { collectionId, linkId } = await fixture.linked(users(0, 5))
    fixture.server.setFaults([{ method: 'PATCH', retryAfterS: 100, times: 1 }])
    const startMs = fixture.clock.nowMs()
    await fixture.deliverNext()
    const [waiting] = await fixture.jobsOf(collectionId)
    assert.equal(waiting?.status, 'Queued')
    assert.equal(waiting?.attempts, 1)
    assert.equal(waiting?.error, 'The directory is throttling requests.')
    assert.ok((waiting?.dueAtMs ?? 0) >= startMs + 100_000)
    assert.deepEqual([waiting?.completedAt, (await fixture.link(linkId)).lastSyncOutcome], [null, null])
    assert.equal((await fixture.link(linkId)).lastSyncedAt, null)
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added, job?.error], ['Succeeded', 2, 5, null])
  })

  it('leaves its link Pending until its retry has succeeded', async () => {
    const { collectionId, linkId } = await syncedLink(fixture, users(0, 5))
    await requestSync(TENANT, collectionId, fixture.deps)
    fixture.server.setFaults([{ path: `^/v1.0/groups/`, method: 'GET', status: 403, times: 1 }])
    await fixture.deliverNext()
    const [waiting] = await fixture.jobsOf(collectionId)
    assert.deepEqual([waiting?.status, waiting?.attempts], ['Queued', 1])
    assert.equal(syncStateOf(await fixture.link(linkId)), 'Pending')
    await fixture.drain()
    assert.equal(syncStateOf(await fixture.link(linkId)), 'InSync')
  })

  it('counts writes whose responses were all lost', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 60), users(50, 30))
    // All four attempts of each addition, and in the next run of each removal.
    fixture.server.setFaults([
      { method: 'PATCH', applyFirst: true, times: 12 },
      { method: 'DELETE', path: groupId, applyFirst: true, times: 80 },
    ])
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.added, job?.removed], ['Succeeded', 50, 20])
    assert.ok((job?.attempts ?? 0) > 1)
  })

  it('counts the writes of its last run although no response was received', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 5), users(0, 105))
    // Each run ends with its first step of twenty removals.
    fixture.server.setFaults([{ path: groupId, method: 'DELETE', applyFirst: true }])
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.removed], ['Failed', 4, 80])
    assert.equal((await fixture.membersOf(groupId)).size, 25)
  })

  it('runs four times, after 15, 60 and 240 seconds, and then stays failed', async () => {
    const { collectionId, linkId } = await fixture.linked(users(0, 5), users(3, 4))
    fixture.server.setFaults(['PATCH', 'POST'].map((method) => ({ path: WRITE, method, status: 503 })))
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added, job?.removed], ['Failed', 4, 0, 0])
    assert.match(job?.error ?? '', /returned HTTP 503/)
    const { lastSyncOutcome, lastSyncedAt } = await fixture.link(linkId)
    assert.deepEqual([lastSyncOutcome, lastSyncedAt], ['Failed', job?.completedAt])
    assert.deepEqual(
      fixture.waitsMs.filter((waitMs) => waitMs > 10_000).map((waitMs) => Math.round(waitMs / 1000)),
      [15, 60, 240],
    )
  })

  it('fails at once when the group was deleted, and releases its lease', async () => {
    const { collectionId, groupId, linkId } = await fixture.linked(users(0, 5))
    await fixture.asTester({ method: 'DELETE', path: `/groups/${groupId}` })
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.error], ['Failed', 1, 'The directory group does not exist'])
    assert.equal((await fixture.link(linkId)).lease, null)
  })

  it('that was interrupted in its last run ends as failed, and releases its own lease, not that of another', async () => {
    for (const isOwn of [true, false]) {
      const { collectionId, linkId } = await fixture.linked(users(0, 5))
      const [queued] = await fixture.jobsOf(collectionId)
      const [job, link] = [
        await fixture.deps.jobs.find(TENANT, queued?.id ?? ''),
        await fixture.deps.links.find(TENANT, linkId),
      ]
      assert.ok(job !== undefined && link !== undefined)
      await fixture.deps.jobs.replace({ ...job.value, status: 'Running', attempts: 4 }, job.version)
      const owner = isOwn ? job.value.id : 'another'
      const lease = { owner, expiresAtMs: fixture.clock.nowMs() - 10 * 60_000, token: link.value.lastToken + 1 }
      await fixture.deps.links.replace({ ...link.value, lease, lastToken: lease.token }, link.version)
      await fixture.drain()
      assert.equal((await fixture.job(job.value.id)).status, 'Failed')
      assert.equal((await fixture.link(linkId)).lease?.owner ?? null, isOwn ? null : 'another')
    }
  })

  for (const [when, path, members] of [
    ['before its additions', 'batch', []],
    ['before its removals', 'batch', users(500, 60)],
  ] as const) {
    it(`fails at once when the group is deleted during the run, ${when}`, async () => {
      const accounts = members.length > 0 ? users(0, 0) : users(0, 150)
      const { collectionId, groupId } = await fixture.linked(accounts, members)
      const directory = {
        ...fixture.deps.directory,
        listMembers: async (...args: Parameters<typeof fixture.directory.listMembers>) => {
          const page = await fixture.directory.listMembers(...args)
          await fixture.asTester({ method: 'DELETE', path: `/groups/${groupId}` })
          return page
        },
      }
      await fixture.drain({ ...fixture.deps, directory })
      const [job] = await fixture.jobsOf(collectionId)
      assert.deepEqual(
        [path, job?.status, job?.attempts, job?.error],
        [path, 'Failed', 1, 'The directory group does not exist'],
      )
    })
  }

  it('fails at once when the group has become dynamic', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 5))
    const directory = {
      ...fixture.deps.directory,
      listMembers: async (...args: Parameters<typeof fixture.directory.listMembers>) => {
        const page = await fixture.directory.listMembers(...args)
        const body = { groupTypes: ['DynamicMembership'], membershipRule: 'user.city -eq "Oslo"' }
        const changed = await fixture.asTester({ method: 'PATCH', path: `/groups/${groupId}`, body })
        assert.equal(changed.status, 204)
        return page
      },
    }
    await fixture.drain({ ...fixture.deps, directory })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual(
      [job?.status, job?.attempts, job?.error],
      ['Failed', 1, 'The directory manages the members of this group by a dynamic membership rule'],
    )
  })

  it('retries without a permission, and removes no member meanwhile', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 30), users(100, 5))
    fixture.server.setFaults([
      { path: `^/v1.0/groups/${groupId}($|/members/)`, method: 'PATCH', status: 403 },
      { method: 'POST', path: groupId, status: 403 },
    ])
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added, job?.removed], ['Failed', 4, 0, 0])
    assert.match(job?.error ?? '', /HTTP 403: Insufficient privileges/)
  })

  it('reports accounts that the directory does not know, adds the others and removes no member', async () => {
    const strangers = [user(900_001), user(900_002), user(900_003), user(900_004)]
    const { collectionId, groupId } = await fixture.linked([...users(0, 30), ...strangers], users(50, 3))
    await fixture.drain()
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.attempts, job?.added, job?.removed], ['Succeeded', 1, 30, 0])
    assert.deepEqual([job?.skipped, job?.unresolved.toSorted()], [4, strangers])
    assert.deepEqual(await fixture.membersOf(groupId), new Set([...users(0, 30), ...users(50, 3)]))
  })

  it('removes no member when a page of the members cannot be read', async () => {
    const { collectionId, groupId } = await fixture.linked(users(0, 5), users(0, 1_050))
    let pageCount = 0
    const directory = fixture.directoryOver((send) => (tenantId, call) => {
      if (!call.path.includes('/members?')) return send(tenantId, call)
      pageCount += 1
      return send(tenantId, pageCount === 2 ? { ...call, path: `/groups/${user(0)}/members` } : call)
    })
    await fixture.deliverNext({ ...fixture.deps, directory })
    const [job] = await fixture.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.added, job?.removed], ['Queued', 0, 0])
    assert.equal((await fixture.membersOf(groupId)).size, 1_050)
  })
})

describe('Removals whose retry finds no token', () => {
  /** A worker that obtains no token for the first retry of a removal. */
  function withoutToken() {
    let removalCount = 0
    const directory = fixture.directoryOver((send) => async (tenantId, call) => {
      if (/"DELETE"/.test(JSON.stringify(call)) && ++removalCount === 2)
        throw new DirectoryFault('unavailable', 'The directory returned no token.')
      return send(tenantId, call)
    })
    return { ...fixture.deps, directory }
  }

  for (const [claim, start] of [
    ['a job', (collectionId: string) => requestSync(TENANT, collectionId, fixture.deps)],
    ['a single change', (collectionId: string) => notifyOfMembershipChange(fixture, collectionId)],
  ] as const) {
    it(`are each counted once by the removal guard, of ${claim}`, async () => {
      const { collectionId, groupId, linkId } = await syncedLink(fixture, users(0, 100))
      fixture.collections.change(collectionId, users(20, 80))
      fixture.server.setFaults([{ method: 'DELETE', path: user(0), status: 503, times: 1 }])
      await start(collectionId)
      await fixture.drain(withoutToken())
      assert.deepEqual(await fixture.membersOf(groupId), new Set(users(20, 80)))
      const { entries, open } = (await fixture.link(linkId)).removalWindow
      assert.deepEqual([entries.reduce((sum, { count }) => sum + count, 0), open], [20, null])
    })
  }
})
