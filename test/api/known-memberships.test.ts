import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import { equals, faults, type JoinableFixture, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { localAccount } from '../support/contract/local-database.ts'
import { conformingDispatcher } from '../support/http/conformity.ts'

after(() => assert.deepEqual(faults, []))

const found = async (fixture: JoinableFixture, identityId: string) => {
  const path = `/collections/beta/memberships?identityId=${identityId}`
  const { data } = await fixture.call<MembershipDto[]>(fixture.writer, 'GET', path)
  return data.map(({ collectionId, relationshipId }) => [collectionId, relationshipId]).sort()
}

describe('The memberships of a person who was asked for before', () => {
  it('have a position that was handed to the person, which the collection has had all the time', async () => {
    const fixture = await joinableFixture()
    const [kari, ola] = [await fixture.person(), await fixture.person()]
    const [own, handed] = [await fixture.position(kari), await fixture.position(ola)]
    const nurses = await fixture.criteria('Relationship', equals('relationshipTitle', 'Nurse'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [[nurses, own]])
    await fixture.put('relationship', { identity: { objectId: kari.identityId }, title: 'Nurse' }, handed)
    const expected = [own, handed].sort().map((relationshipId) => [nurses, relationshipId])
    assert.deepEqual(await found(fixture, kari.identityId), expected)
    assert.deepEqual(await found(fixture, ola.identityId), [])
  })

  it('follow a change that the clock of the database puts before the last answer', async () => {
    const behind = (nowMs: () => number = Date.now) => localAccount(() => nowMs() - 240_000)
    const fixture = await joinableFixture(conformingDispatcher, undefined, behind as typeof localAccount)
    const kari = await fixture.person(['User'], { displayName: 'Kari' })
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [[id, null]])
    fixture.pass(60)
    await fixture.put('identity', { displayName: 'Ola', directoryObjectId: kari.account }, kari.identityId)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [])
  })

  it('have a collection that another person of the same org unit brings about by joining', async () => {
    const fixture = await joinableFixture()
    const [kari, ola] = [await fixture.person(), await fixture.person()]
    const ward = await fixture.put('orgUnit', { displayName: 'Ward 3' })
    for (const holder of [kari, ola]) await fixture.position(holder, { orgUnit: { objectId: ward } })
    const choir = await fixture.joinable(OPEN)
    const units = await fixture.criteria('OrgUnit', equals('memberOfCollection', choir))
    const people = await fixture.criteria('Identity', equals('memberOfCollection', units))
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [])
    await fixture.submit(ola, choir)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await found(fixture, kari.identityId), [[people, null]])
  })
})
