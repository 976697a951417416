import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { FoundPerson } from '../../shared/domain/insight/find-people.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, faults, type JoinableWorld, joinableWorld } from '../support/api/joinable-world.ts'

after(() => assert.deepEqual(faults, []))

const found = (world: JoinableWorld, token: string, text: string) =>
  world.call<FoundPerson[]>(token, 'GET', `/collections/beta/people?text=${encodeURIComponent(text)}`)

const names = async (world: JoinableWorld, token: string, text: string) =>
  (await found(world, token, text)).data.map(({ displayName }) => displayName)

describe('people found by name or address', () => {
  it('come with title, unit and email, which tell people of one name apart', async () => {
    const world = await joinableWorld()
    const ward = await world.put('orgUnit', { displayName: 'Ward 3' })
    const kari = await world.person(['User'], { displayName: 'Kari Nordmann', email: 'kari@example.com' })
    await world.position(kari, { title: 'Nurse', orgUnit: { objectId: ward } })
    await world.put('identity', { displayName: 'Kari Nordmann', email: 'kari.n@example.com' })
    const { data } = await found(world, world.writer, 'nordMANN')
    const apart = data.map(({ title, orgUnitName, email, hasAccount }) => [title, orgUnitName, email, hasAccount])
    assert.deepEqual(
      new Set(apart.map(String)),
      new Set(['Nurse,Ward 3,kari@example.com,true', ',,kari.n@example.com,false']),
    )
  })

  it('are found by a user who knows the whole name or address only', async () => {
    const world = await joinableWorld()
    const me = await world.person(['User'], { displayName: 'Me' })
    await world.put('identity', { displayName: 'Kari Nordmann', email: 'kari@example.com' })
    assert.deepEqual(await names(world, me.token, 'kari'), [])
    assert.deepEqual(await names(world, me.token, 'Kari nordmann '), ['Kari Nordmann'])
    assert.deepEqual(await names(world, me.token, 'KARI@example.com'), ['Kari Nordmann'])
  })

  it('are not found by a national identity number that the caller may not read', async () => {
    const world = await joinableWorld()
    await world.put('identity', { displayName: 'Kari Nordmann', nin: '01010012345' })
    const administrator = await world.person(['collection_criteria_definition-administrator'])
    assert.deepEqual(await names(world, administrator.token, '01010012345'), [])
    const core = await world.person(['Administrator'])
    assert.deepEqual(await names(world, core.token, '01010012345'), ['Kari Nordmann'])
  })

  it('need a text', async () => {
    const world = await joinableWorld()
    assert.deepEqual((await found(world, world.writer, ' ')).codes, ['InvalidLength'])
    assert.equal((await found(world, world.writer, 'x'.repeat(201))).status, 400)
  })
})

describe('a request', () => {
  it('names the unit, the managers, those who decide now and those who decided before', async () => {
    const world = await joinableWorld()
    const boss = await world.person(['User'], { displayName: 'Boss' })
    const [second, third] = [
      await world.person(['User'], { displayName: 'Zoe' }),
      await world.person(['User'], { displayName: 'Anna' }),
    ]
    const kari = await world.person(['User'], { displayName: 'Kari' })
    const ward = await world.put('orgUnit', { displayName: 'Ward 3' })
    await world.position(kari, {
      title: 'Nurse',
      orgUnit: { objectId: ward },
      manager: { objectId: boss.identityId },
    })
    const policy = {
      approvalRequired: true,
      approvalGates: [
        { order: 1, type: 'Manager' },
        { order: 2, type: 'Identity', approvers: [second.identityId, third.identityId, kari.identityId] },
      ],
    }
    const { data } = await world.submit(kari, await world.joinable(policy))
    const apart = ({ orgUnitName, managerNames, approverNames }: MembershipRequestDto) => [
      orgUnitName,
      managerNames,
      approverNames,
    ]
    assert.deepEqual(apart(data), ['Ward 3', ['Boss'], ['Boss']])
    const approved = await world.act(boss.token, data, 'approve')
    assert.deepEqual(apart(approved.data), ['Ward 3', ['Boss'], ['Anna', 'Zoe']])
    assert.deepEqual(approved.data.actorNames, { [kari.identityId]: 'Kari', [boss.identityId]: 'Boss' })
  })

  it('names nobody where the members of a collection decide', async () => {
    const world = await joinableWorld()
    const kari = await world.person(['User'], { displayName: 'Kari' })
    const approver = await world.person(['User'], { displayName: 'Approver' })
    const team = await world.joinable({ approvalRequired: false })
    await world.submit(approver, team)
    const { data } = await world.submit(
      kari,
      await world.joinable(approvedBy({ type: 'Collection', approvers: [team] })),
    )
    assert.deepEqual([data.currentGate?.approverCount, data.approverNames], [1, []])
  })
})
