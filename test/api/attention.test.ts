import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { AttentionDto } from '../../shared/domain/insight/attention.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { identity } from '../support/jobs/account-fixture.ts'

after(() => assert.deepEqual(faults, []))

describe('what needs attention', () => {
  it('is counted as far as the roles of the caller go', async () => {
    const fixture = await joinableFixture()
    const [boss, kari] = [await fixture.person(), await fixture.person()]
    const link = async (changes: object) => {
      const ids = {
        id: randomUUID(),
        tenantId: fixture.tenantId,
        collectionId: randomUUID(),
        directoryGroupId: randomUUID(),
      }
      await fixture.deps.linkStore.add({
        ...newLink({ ...ids, directoryGroupDisplayName: null }, fixture.nowMs()),
        ...changes,
      })
    }
    const counts = { count: 1, limit: 0, removedInWindow: 0, groupSize: 2 }
    const at = { createdAt: '2030-06-01T08:00:00.000+00:00', storedAtMs: fixture.nowMs() }
    const heldRemovals = { planId: randomUUID(), reason: 'TooMany', ...counts, ...at }
    const fine = { lastSyncOutcome: 'Succeeded', skippedCount: 0 }
    for (const changes of [
      ...[fine, { ...fine, lastSyncOutcome: 'Failed' }, { ...fine, skippedCount: 2 }, { ...fine, skippedCount: 1 }],
      ...[{ ...fine, heldRemovals }, { ...fine, lastSyncOutcome: 'Failed', state: 'Disabled' }, { skippedCount: null }],
      { ...fine, lastSyncOutcome: 'Failed', lastSyncError: 'The group link is disabled.' },
    ]) {
      await link(changes)
    }
    const choir = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [boss.identityId] }))
    await fixture.submit(kari, choir)
    const club = await fixture.joinable(OPEN)
    await fixture.submit(boss, club, { endsAt: '2030-06-05' })
    await fixture.submit(boss, await fixture.joinable(OPEN), { endsAt: '2030-07-05' })
    const read = async (token: string) =>
      (await fixture.call<AttentionDto>(token, 'GET', '/collections/beta/attention')).data
    const [links, none] = [
      { failedLinks: 1, pausedLinks: 2, heldRemovals: 1 },
      { failedLinks: null, pausedLinks: null, heldRemovals: null },
    ]
    const unread = { lateConnectors: null, unresolvedReferences: null, accountConflicts: null, duplicates: null }
    const nobody = { toDecide: null, ending: null }
    assert.deepEqual(await read(fixture.writer), {
      ...links,
      ...unread,
      ...nobody,
    })
    assert.deepEqual(await read(boss.token), {
      ...none,
      ...unread,
      toDecide: 1,
      ending: 1,
    })
    assert.deepEqual(await read(kari.token), {
      ...none,
      ...unread,
      toDecide: 0,
      ending: 0,
    })
    const all = fixture.caller('user', ['Administrator'])
    assert.deepEqual(await read(all), {
      ...none,
      lateConnectors: 0,
      unresolvedReferences: 0,
      accountConflicts: 0,
      duplicates: 0,
      ...nobody,
    })
  })

  it('counts a membership that ends soon, and no request for one that waits', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person()
    const { data: waiting } = await fixture.submit(kari, await fixture.joinable(await fixture.approvedBySomebody()), {
      endsAt: '2030-06-05',
    })
    assert.equal(waiting.status, 'PendingApproval')
    const ending = async () =>
      (await fixture.call<AttentionDto>(kari.token, 'GET', '/collections/beta/attention')).data.ending
    assert.equal(await ending(), 0)
    await fixture.submit(kari, await fixture.joinable(OPEN), { endsAt: '2030-06-05' })
    assert.equal(await ending(), 1)
  })

  it('counts values of join keys that several identities share', async () => {
    const fixture = await joinableFixture()
    const { connectors } = fixture.service
    const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-06-01T08:00:00.000+00:00' }
    const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
    await connectors.connectors.add(fixture.tenantId, connector)
    const people = ['one', 'two', 'three'].map((name) => identity(name, { nin: name === 'three' ? '2' : '1' }))
    await writeObjects(fixture.tenantId, connector, people, connectors)
    const all = fixture.caller('user', ['Administrator'])
    const { data } = await fixture.call<AttentionDto>(all, 'GET', '/collections/beta/attention')
    assert.equal(data.duplicates, 1)
  })

  it('costs as much as there is to attend to', async () => {
    const fixture = await joinableFixture()
    for (let count = 0; count < 300; count += 1) {
      const ids = {
        id: randomUUID(),
        tenantId: fixture.tenantId,
        collectionId: randomUUID(),
        directoryGroupId: randomUUID(),
      }
      const made = newLink({ ...ids, directoryGroupDisplayName: null }, fixture.nowMs())
      await fixture.deps.linkStore.add({ ...made, lastSyncOutcome: 'Succeeded', skippedCount: count === 0 ? 1 : 0 })
    }
    const before = fixture.cosmos.chargedUnits()
    const { data } = await fixture.call<AttentionDto>(fixture.writer, 'GET', '/collections/beta/attention')
    assert.equal(data.pausedLinks, 1)
    assert.ok(fixture.cosmos.chargedUnits() - before < 100, String(fixture.cosmos.chargedUnits() - before))
  })
})
