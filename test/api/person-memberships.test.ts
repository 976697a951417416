import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import { equals, faults, type JoinableFixture, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { randomTenant } from '../support/api/random-collections.ts'

after(() => assert.deepEqual(faults, []))

const memberships = (fixture: JoinableFixture, identityId: string, token: string = fixture.writer) =>
  fixture.call<MembershipDto[]>(token, 'GET', `/collections/beta/memberships?identityId=${identityId}`)

const found = async (fixture: JoinableFixture, identityId: string) =>
  (await memberships(fixture, identityId)).data.map(({ collectionId, relationshipId }) => [
    collectionId,
    relationshipId,
  ])

describe('the memberships of a person', () => {
  it('are those of both kinds, with when and why each began', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person(['User'], { displayName: 'Kari' })
    const job = await fixture.position(kari, { title: 'Nurse' })
    await fixture.position(kari, { title: 'Cook' })
    const named = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const nurses = await fixture.criteria('Relationship', equals('relationshipTitle', 'Nurse'))
    await fixture.criteria('Identity', equals('identityDisplayName', 'Ola'))
    const choir = await fixture.joinable(OPEN)
    assert.deepEqual(await found(fixture, kari.identityId), [])
    await fixture.evaluator.evaluate(fixture.tenantId)
    fixture.pass(60)
    await fixture.submit(kari, choir, { endsAt: '2030-07-01' })
    const { status, data } = await memberships(fixture, kari.identityId)
    assert.equal(status, 200)
    const early = '2030-06-01T08:00:00.000+00:00'
    const byId = new Map(data.map((each) => [each.collectionId, each]))
    assert.equal(data.length, 3)
    assert.equal(data[0]?.collectionId, choir)
    const { actorId, ...first } = byId.get(named) ?? {}
    assert.equal(typeof actorId, 'string')
    assert.deepEqual(first, {
      ...{ collectionId: named, collectionName: 'Staff', objectType: 'Identity', relationshipId: null },
      ...{ since: early, cause: 'DefinitionChanged', endsAt: null, links: [] },
    })
    assert.equal(byId.get(nurses)?.relationshipId, job)
    const joined = byId.get(choir)
    assert.deepEqual(
      [joined?.since, joined?.cause, joined?.actorId, joined?.endsAt],
      ['2030-06-01T08:01:00.000+00:00', 'Request', kari.identityId, '2030-07-01T00:00:00.000+00:00'],
    )
  })

  it('follow what is stored: until the next evaluation a person who joins or leaves is as before', async () => {
    const fixture = await joinableFixture()
    const { identityId } = await fixture.person(['User'], { displayName: 'Kari' })
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, identityId), [[id, null]])
    await fixture.put('identity', { displayName: 'Ola' }, identityId)
    assert.deepEqual(await found(fixture, identityId), [[id, null]])
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, identityId), [])
    await fixture.put('identity', { displayName: 'Kari' }, identityId)
    assert.deepEqual(await found(fixture, identityId), [])
    fixture.pass(60)
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { data } = await memberships(fixture, identityId)
    assert.deepEqual(
      data.map(({ since, cause }) => [since, cause]),
      [['2030-06-01T08:01:00.000+00:00', 'ObjectChanged']],
    )
  })

  it('have the groups of their collections, as the last syncs have left them', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person(['User'], { displayName: 'Kari' })
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const link = async (changes: object) => {
      const ids = { id: randomUUID(), tenantId: fixture.tenantId, collectionId: id, directoryGroupId: randomUUID() }
      const made = newLink({ ...ids, directoryGroupDisplayName: 'Staff' }, fixture.nowMs())
      await fixture.deps.linkStore.add({ ...made, ...changes })
      return ids.id
    }
    const expected = new Map([
      [await link({ appliedMembershipVersion: 1 }), 'Written'],
      [await link({}), 'Pending'],
      [await link({ appliedMembershipVersion: 1, accountsChangedAtMs: 1 }), 'Pending'],
      [await link({ appliedMembershipVersion: 1, unresolved: [kari.account] }), 'NoAccount'],
      [await link({ appliedMembershipVersion: 1, state: 'Disabled' }), 'LinkDisabled'],
    ])
    const [membership] = (await memberships(fixture, kari.identityId)).data
    assert.deepEqual(new Map(membership?.links.map(({ linkId, state }) => [linkId, state])), expected)
    assert.ok(membership?.links.every(({ displayName }) => displayName === 'Staff'))
  })

  it('of an Identity collection keep when and why they began, and their groups, when their position is deleted', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person()
    const job = await fixture.position(kari)
    const choir = await fixture.joinable(OPEN)
    const ids = { id: randomUUID(), tenantId: fixture.tenantId, collectionId: choir, directoryGroupId: randomUUID() }
    const link = newLink({ ...ids, directoryGroupDisplayName: null }, fixture.nowMs())
    await fixture.deps.linkStore.add({ ...link, appliedMembershipVersion: 0 })
    await fixture.submit(kari, choir)
    const shown = async () => {
      const [membership] = (await memberships(fixture, kari.identityId)).data
      const { relationshipId, since, cause, actorId, links } = membership ?? {}
      return [relationshipId, since, cause, actorId, links?.map(({ state }) => state)]
    }
    const began = ['2030-06-01T08:00:00.000+00:00', 'Request', kari.identityId, ['Pending']]
    assert.deepEqual(await shown(), [job, ...began])
    fixture.pass(60)
    await fixture.remove('relationship', job)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await shown(), [null, ...began])
  })

  it('of a Relationship collection began with the membership for the same position', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person()
    const jobs = [await fixture.position(kari), await fixture.position(kari, { title: 'Cook' })]
    const choir = await fixture.joinable(OPEN, { objectType: 'Relationship' })
    for (const relationshipId of jobs) {
      await fixture.submit(kari, choir, { relationshipId })
      fixture.pass(60)
    }
    const { data } = await memberships(fixture, kari.identityId)
    assert.deepEqual(
      new Map(data.map(({ relationshipId, since }) => [relationshipId, since])),
      new Map([
        [jobs[0], '2030-06-01T08:00:00.000+00:00'],
        [jobs[1], '2030-06-01T08:01:00.000+00:00'],
      ]),
    )
  })

  it('are shown to readers, to the person and to their manager only', async () => {
    const fixture = await joinableFixture()
    const [boss, other] = [await fixture.person(), await fixture.person()]
    const kari = await fixture.person()
    await fixture.position(kari, { manager: { objectId: boss.identityId } })
    const status = async (token: string, identityId = kari.identityId) => {
      const { status: code, codes } = await memberships(fixture, identityId, token)
      return [code, ...codes]
    }
    assert.deepEqual(await status(fixture.writer), [200])
    assert.deepEqual(await status(kari.token), [200])
    assert.deepEqual(await status(boss.token), [200])
    assert.deepEqual(await status(other.token), [403, 'NotManager'])
    assert.deepEqual(await status(other.token, randomUUID()), [403, 'NotManager'])
    assert.deepEqual(await status(fixture.writer, randomUUID()), [404, 'IdentityNotFound'])
  })

  it('include those that a colleague brings about who has joined, through conditions of units', async () => {
    const fixture = await joinableFixture()
    const ward = await fixture.put('orgUnit', { displayName: 'Ward' })
    const [ola, kari] = [await fixture.person(), await fixture.person()]
    for (const who of [ola, kari]) await fixture.position(who, { orgUnit: { objectId: ward } })
    const choir = await fixture.joinable(OPEN)
    await fixture.submit(ola, choir)
    const singers = await fixture.criteria('Identity', equals('memberOfCollection', choir))
    const units = await fixture.criteria('OrgUnit', equals('memberOfCollection', singers))
    const colleagues = await fixture.criteria('Identity', equals('memberOfCollection', units))
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [[colleagues, null]])
    const ofOla = (await found(fixture, ola.identityId)).map(([collectionId]) => collectionId)
    assert.deepEqual(ofOla.sort(), [choir, singers, colleagues].sort())
  })

  it('include those of a collection with an invalid stored condition, which keeps its members', async () => {
    const fixture = await joinableFixture()
    const { identityId } = await fixture.person(['User'], { displayName: 'Kari' })
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const referring = await fixture.criteria('Identity', equals('memberOfCollection', id))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { resource } = await fixture.container('collections').item(id, fixture.tenantId).read()
    const condition = { groupOperator: 'AND', conditions: [{ id: 'x', field: 'x', operator: 'Equals', value: '1' }] }
    const definition = JSON.stringify({ condition })
    await fixture.container('collections').items.upsert({ ...resource, definition, definitionVersion: 99 })
    assert.deepEqual(
      new Set((await found(fixture, identityId)).map(([collectionId]) => collectionId)),
      new Set([id, referring]),
    )
    assert.ok(faults.length > 0)
    faults.length = 0
  })

  for (const seed of ['one', 'two', 'three']) {
    it(`agree with the members of every collection of a random tenant, asked again after changes (${seed})`, async () => {
      const fixture = await joinableFixture()
      const tenant = await randomTenant(fixture, `memberships ${seed}`)
      const { people, random } = tenant
      const check = async () => {
        const all = await fixture.call<{ id: string; objectType: string }[]>(fixture.admin, 'GET', '/collections/beta')
        const ids = all.data.filter(({ objectType }) => objectType !== 'OrgUnit').map(({ id }) => id)
        const expected = new Map(people.map((id) => [id, new Set<string>()]))
        const rows = await fixture.deps.snapshots.fresh(fixture.tenantId)
        for (const id of ids) {
          const { data } = await fixture.call<{ memberIds: unknown[] }>(
            fixture.admin,
            'GET',
            `/collections/beta/${id}/results`,
          )
          for (const member of data.memberIds) {
            const objectId = typeof member === 'string' ? member : (member as { objectId: string }).objectId
            expected.get(rows.holderOf(objectId) ?? objectId)?.add(id)
          }
        }
        for (const person of people) {
          if (!rows.has('identity', person)) continue
          const own = (await found(fixture, person)).map(([collectionId]) => collectionId as string)
          assert.deepEqual(new Set(own), expected.get(person), person)
        }
      }
      await fixture.evaluator.evaluate(fixture.tenantId)
      await check()
      for (let round = 0; round < 3; round += 1) {
        for (const person of people) {
          if (random.percent(40)) {
            await fixture.put(
              'identity',
              { displayName: random.pick(['Ada', 'Bo', 'Zed']), directoryObjectId: randomUUID() },
              person,
            )
          }
        }
        fixture.pass(1)
        await fixture.evaluator.evaluate(fixture.tenantId)
        await check()
      }
    })
  }
})
