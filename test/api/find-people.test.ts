import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { FoundPerson } from '../../shared/domain/insight/find-people.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, faults, type JoinableFixture, joinableFixture } from '../support/api/joinable-fixture.ts'

after(() => assert.deepEqual(faults, []))

const found = (fixture: JoinableFixture, token: string, text: string) =>
  fixture.call<FoundPerson[]>(token, 'GET', `/collections/beta/people?text=${encodeURIComponent(text)}`)

const names = async (fixture: JoinableFixture, token: string, text: string) =>
  (await found(fixture, token, text)).data.map(({ displayName }) => displayName)

describe('people found by name or address', () => {
  it('come with title, unit and email, which tell people of one name apart', async () => {
    const fixture = await joinableFixture()
    const ward = await fixture.put('orgUnit', { displayName: 'Ward 3' })
    const kari = await fixture.person(['User'], { displayName: 'Kari Nordmann', email: 'kari@example.com' })
    await fixture.position(kari, { title: 'Nurse', orgUnit: { objectId: ward } })
    await fixture.put('identity', { displayName: 'Kari Nordmann', email: 'kari.n@example.com' })
    const { data } = await found(fixture, fixture.writer, 'nordMANN')
    const apart = data.map(({ title, orgUnitName, email, hasAccount }) => [title, orgUnitName, email, hasAccount])
    assert.deepEqual(
      new Set(apart.map(String)),
      new Set(['Nurse,Ward 3,kari@example.com,true', ',,kari.n@example.com,false']),
    )
  })

  it('are found by a user who knows the whole name or address only', async () => {
    const fixture = await joinableFixture()
    const me = await fixture.person(['User'], { displayName: 'Me' })
    await fixture.put('identity', { displayName: 'Kari Nordmann', email: 'kari@example.com' })
    assert.deepEqual(await names(fixture, me.token, 'kari'), [])
    assert.deepEqual(await names(fixture, me.token, 'Kari nordmann '), ['Kari Nordmann'])
    assert.deepEqual(await names(fixture, me.token, 'KARI@example.com'), ['Kari Nordmann'])
  })

  it('are not found by a national identity number that the caller may not read', async () => {
    const fixture = await joinableFixture()
    await fixture.put('identity', { displayName: 'Kari Nordmann', nin: '01010012345' })
    const administrator = await fixture.person(['collection_criteria_definition-administrator'])
    assert.deepEqual(await names(fixture, administrator.token, '01010012345'), [])
    const core = await fixture.person(['Administrator'])
    assert.deepEqual(await names(fixture, core.token, '01010012345'), ['Kari Nordmann'])
  })

  it('need a text', async () => {
    const fixture = await joinableFixture()
    assert.deepEqual((await found(fixture, fixture.writer, ' ')).codes, ['InvalidLength'])
    assert.equal((await found(fixture, fixture.writer, 'x'.repeat(201))).status, 400)
  })
})

describe('a request', () => {
  it('names the unit, the managers, those who decide now and those who decided before', async () => {
    const fixture = await joinableFixture()
    const boss = await fixture.person(['User'], { displayName: 'Boss' })
    const [second, third] = [
      await fixture.person(['User'], { displayName: 'Zoe' }),
      await fixture.person(['User'], { displayName: 'Anna' }),
    ]
    const kari = await fixture.person(['User'], { displayName: 'Kari' })
    const ward = await fixture.put('orgUnit', { displayName: 'Ward 3' })
    await fixture.position(kari, {
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
    const { data } = await fixture.submit(kari, await fixture.joinable(policy))
    const apart = ({ orgUnitName, managerNames, approverNames }: MembershipRequestDto) => [
      orgUnitName,
      managerNames,
      approverNames,
    ]
    assert.deepEqual(apart(data), ['Ward 3', ['Boss'], ['Boss']])
    const approved = await fixture.act(boss.token, data, 'approve')
    assert.deepEqual(apart(approved.data), ['Ward 3', ['Boss'], ['Anna', 'Zoe']])
    assert.deepEqual(approved.data.actorNames, { [kari.identityId]: 'Kari', [boss.identityId]: 'Boss' })
  })

  it('names nobody where the members of a collection decide', async () => {
    const fixture = await joinableFixture()
    const kari = await fixture.person(['User'], { displayName: 'Kari' })
    const approver = await fixture.person(['User'], { displayName: 'Approver' })
    const team = await fixture.joinable({ approvalRequired: false })
    await fixture.submit(approver, team)
    const { data } = await fixture.submit(
      kari,
      await fixture.joinable(approvedBy({ type: 'Collection', approvers: [team] })),
    )
    assert.deepEqual([data.currentGate?.approverCount, data.approverNames], [1, []])
  })
})
