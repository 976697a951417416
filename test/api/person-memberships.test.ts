import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import { equals, faults, type JoinableWorld, joinableWorld, OPEN } from '../support/api/joinable-world.ts'
import { randomTenant } from '../support/api/random-collections.ts'

after(() => assert.deepEqual(faults, []))

const memberships = (world: JoinableWorld, identityId: string, token: string = world.writer) =>
  world.call<MembershipDto[]>(token, 'GET', `/collections/beta/memberships?identityId=${identityId}`)

const found = async (world: JoinableWorld, identityId: string) =>
  (await memberships(world, identityId)).data.map(({ collectionId, relationshipId }) => [collectionId, relationshipId])

describe('the memberships of a person', () => {
  it('are those of both kinds, with when and why each began', async () => {
    const world = await joinableWorld()
    const kari = await world.person(['User'], { displayName: 'Kari' })
    const job = await world.position(kari, { title: 'Nurse' })
    await world.position(kari, { title: 'Cook' })
    const named = await world.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const nurses = await world.criteria('Relationship', equals('relationshipTitle', 'Nurse'))
    await world.criteria('Identity', equals('identityDisplayName', 'Ola'))
    const choir = await world.joinable(OPEN)
    assert.deepEqual(await found(world, kari.identityId), [])
    await world.evaluator.evaluate(world.tenantId)
    world.pass(60)
    await world.submit(kari, choir, { endsAt: '2030-07-01' })
    const { status, data } = await memberships(world, kari.identityId)
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
    const world = await joinableWorld()
    const { identityId } = await world.person(['User'], { displayName: 'Kari' })
    const id = await world.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await world.evaluator.evaluate(world.tenantId)
    assert.deepEqual(await found(world, identityId), [[id, null]])
    await world.put('identity', { displayName: 'Ola' }, identityId)
    assert.deepEqual(await found(world, identityId), [[id, null]])
    await world.evaluator.evaluate(world.tenantId)
    assert.deepEqual(await found(world, identityId), [])
    await world.put('identity', { displayName: 'Kari' }, identityId)
    assert.deepEqual(await found(world, identityId), [])
    world.pass(60)
    await world.evaluator.evaluate(world.tenantId)
    const { data } = await memberships(world, identityId)
    assert.deepEqual(
      data.map(({ since, cause }) => [since, cause]),
      [['2030-06-01T08:01:00.000+00:00', 'ObjectChanged']],
    )
  })

  it('have the groups of their collections, as the last syncs have left them', async () => {
    const world = await joinableWorld()
    const kari = await world.person(['User'], { displayName: 'Kari' })
    const id = await world.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await world.evaluator.evaluate(world.tenantId)
    const link = async (changes: object) => {
      const ids = { id: randomUUID(), tenantId: world.tenantId, collectionId: id, directoryGroupId: randomUUID() }
      const made = newLink({ ...ids, directoryGroupDisplayName: 'Staff' }, world.nowMs())
      await world.deps.linkStore.add({ ...made, ...changes })
      return ids.id
    }
    const expected = new Map([
      [await link({ appliedMembershipVersion: 1 }), 'Written'],
      [await link({}), 'Pending'],
      [await link({ appliedMembershipVersion: 1, accountsChangedAtMs: 1 }), 'Pending'],
      [await link({ appliedMembershipVersion: 1, unresolved: [kari.account] }), 'NoAccount'],
      [await link({ appliedMembershipVersion: 1, state: 'Disabled' }), 'LinkDisabled'],
    ])
    const [membership] = (await memberships(world, kari.identityId)).data
    assert.deepEqual(new Map(membership?.links.map(({ linkId, state }) => [linkId, state])), expected)
    assert.ok(membership?.links.every(({ displayName }) => displayName === 'Staff'))
  })

  it('are shown to readers, to the person and to their manager only', async () => {
    const world = await joinableWorld()
    const [boss, other] = [await world.person(), await world.person()]
    const kari = await world.person()
    await world.position(kari, { manager: { objectId: boss.identityId } })
    const status = async (token: string, identityId = kari.identityId) => {
      const { status: code, codes } = await memberships(world, identityId, token)
      return [code, ...codes]
    }
    assert.deepEqual(await status(world.writer), [200])
    assert.deepEqual(await status(kari.token), [200])
    assert.deepEqual(await status(boss.token), [200])
    assert.deepEqual(await status(other.token), [403, 'NotManager'])
    assert.deepEqual(await status(other.token, randomUUID()), [403, 'NotManager'])
    assert.deepEqual(await status(world.writer, randomUUID()), [404, 'IdentityNotFound'])
  })

  it('include those of a collection with an invalid stored condition, which keeps its members', async () => {
    const world = await joinableWorld()
    const { identityId } = await world.person(['User'], { displayName: 'Kari' })
    const id = await world.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const referring = await world.criteria('Identity', equals('memberOfCollection', id))
    await world.evaluator.evaluate(world.tenantId)
    const { resource } = await world.container('collections').item(id, world.tenantId).read()
    const condition = { groupOperator: 'AND', conditions: [{ id: 'x', field: 'x', operator: 'Equals', value: '1' }] }
    const definition = JSON.stringify({ condition })
    await world.container('collections').items.upsert({ ...resource, definition, definitionVersion: 99 })
    assert.deepEqual(
      new Set((await found(world, identityId)).map(([collectionId]) => collectionId)),
      new Set([id, referring]),
    )
    assert.ok(faults.length > 0)
    faults.length = 0
  })

  for (const seed of ['one', 'two', 'three']) {
    it(`agree with the members of every collection of a random tenant, asked again after changes (${seed})`, async () => {
      const world = await joinableWorld()
      const tenant = await randomTenant(world, `memberships ${seed}`)
      const { people, random } = tenant
      const check = async () => {
        const all = await world.call<{ id: string; objectType: string }[]>(world.admin, 'GET', '/collections/beta')
        const ids = all.data.filter(({ objectType }) => objectType !== 'OrgUnit').map(({ id }) => id)
        const expected = new Map(people.map((id) => [id, new Set<string>()]))
        const rows = await world.deps.snapshots.fresh(world.tenantId)
        for (const id of ids) {
          const { data } = await world.call<{ memberIds: unknown[] }>(
            world.admin,
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
          const own = (await found(world, person)).map(([collectionId]) => collectionId as string)
          assert.deepEqual(new Set(own), expected.get(person), person)
        }
      }
      await world.evaluator.evaluate(world.tenantId)
      await check()
      for (let round = 0; round < 3; round += 1) {
        for (const person of people) {
          if (random.percent(40)) {
            await world.put(
              'identity',
              { displayName: random.pick(['Ada', 'Bo', 'Zed']), directoryObjectId: randomUUID() },
              person,
            )
          }
        }
        world.pass(1)
        await world.evaluator.evaluate(world.tenantId)
        await check()
      }
    })
  }
})
