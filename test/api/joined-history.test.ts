import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { HistoryEntry, ObjectHistoryEntry } from '../../shared/domain/insight/list-history.ts'
import { approvedBy, equals, faults, joinableFixture, OPEN, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
afterEach(() => assert.deepEqual(faults.splice(0), []))

const JOINABLE = '/collections-joinable/beta'

const historyOf = async (id: string): Promise<HistoryEntry[]> =>
  (await fixture.call<HistoryEntry[]>(fixture.admin, 'GET', `/collections/beta/${id}/history`)).data

const why = ({ objectId, change, cause, actorId }: HistoryEntry) => [objectId, change, cause, actorId]

/** The newest entries, and the request of each. */
async function newest(collectionId: string, count: number): Promise<(string | null)[][]> {
  const entries = await historyOf(collectionId)
  assert.ok(entries.every(({ requestId }) => requestId !== null))
  return entries.slice(0, count).map(why)
}

const members = (collectionId: string, method: string, people: readonly Person[], token = fixture.admin) =>
  fixture.call(token, method, `${JOINABLE}/${collectionId}/results/members`, {
    coreIdentityIds: people.map(({ identityId }) => identityId),
  })

describe('The history of a joinable collection', () => {
  it('names the last approver of a request, and who left', async () => {
    const [approver, ann] = [await fixture.person(), await fixture.person()]
    const id = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await fixture.submit(ann, id)
    await fixture.act(approver.token, request, 'approve')
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'Request', approver.identityId]])
    await fixture.act(ann.token, request, 'leave')
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Removed', 'Request', ann.identityId]])
    assert.deepEqual(new Set((await historyOf(id)).map(({ requestId }) => requestId)), new Set([request.id]))
  })

  it('names the subject of a request without a gate, also on behalf', async () => {
    const [manager, ann] = [await fixture.person(), await fixture.person()]
    const position = await fixture.position(ann, { manager: { objectId: manager.identityId } })
    const id = await fixture.joinable(OPEN, { objectType: 'Relationship' })
    const body = { requesterId: ann.identityId, relationshipId: position }
    await fixture.call(manager.token, 'POST', `${fixture.requests}/${id}/submit-on-behalf`, body)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'Request', ann.identityId]])
    assert.deepEqual(
      (await historyOf(id)).map(({ relationshipId }) => relationshipId),
      [position],
    )
  })

  it('names who added and removed members directly, also where a request waited', async () => {
    const [boss, ann, bo] = [
      await fixture.person(['collection_criteria_definition-administrator']),
      await fixture.person(),
      await fixture.person(),
    ]
    const id = await fixture.joinable(await fixture.approvedBySomebody())
    await fixture.submit(ann, id)
    await members(id, 'POST', [ann, bo], boss.token)
    assert.deepEqual(
      new Set((await newest(id, 2)).map(String)),
      new Set([
        [ann.identityId, 'Added', 'Direct', boss.identityId].join(),
        [bo.identityId, 'Added', 'Direct', boss.identityId].join(),
      ]),
    )
    await members(id, 'DELETE', [ann])
    const [[objectId, change, cause, actorId] = []] = await newest(id, 1)
    assert.deepEqual([objectId, change, cause], [ann.identityId, 'Removed', 'Direct'])
    assert.notEqual(actorId, boss.identityId)
  })

  it('tells deleted, restored and merged people apart, and a changed policy', async () => {
    const [ann, bo, cy] = [await fixture.person(), await fixture.person(), await fixture.person()]
    const id = await fixture.joinable(OPEN)
    await members(id, 'POST', [ann, bo])
    await fixture.remove('identity', ann.identityId, { ttl: 3600 })
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Removed', 'ObjectDeleted', 'system']])
    await fixture.put('identity', { displayName: 'Ann' }, ann.identityId)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'ObjectChanged', 'system']])
    await fixture.remove('identity', bo.identityId, { mergedInto: cy.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.deepEqual(await newest(id, 2), [
      [cy.identityId, 'Added', 'Merged', 'system'],
      [bo.identityId, 'Removed', 'Merged', 'system'],
    ])
    const waiting = await fixture.joinable(await fixture.approvedBySomebody())
    await fixture.submit(cy, waiting)
    const boss = await fixture.person(['collection_criteria_definition-administrator'])
    const open = { objectType: 'Identity', joinPolicy: OPEN }
    await fixture.call(boss.token, 'PUT', `${JOINABLE}/${waiting}`, open)
    assert.deepEqual(await newest(waiting, 1), [[cy.identityId, 'Added', 'DefinitionChanged', boss.identityId]])
  })

  it('gives the members at each earlier time', async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => fixture.person()))
    const positions = await Promise.all(people.map((person) => fixture.position(person)))
    const id = await fixture.joinable(OPEN, { objectType: 'Relationship' })
    const seen: { readonly at: string; readonly memberIds: unknown }[] = []
    const see = async () => {
      seen.push({ at: new Date(fixture.nowMs()).toISOString(), memberIds: await fixture.results(id) })
      fixture.pass(60)
    }
    await see()
    const [ann, bo, cy, dee] = people as [Person, Person, Person, Person]
    for (const group of [[ann, bo], [cy]]) {
      await members(id, 'POST', group)
      await see()
    }
    await members(id, 'DELETE', [ann])
    await see()
    await fixture.put('relationship', { identity: { objectId: dee.identityId } }, positions[1])
    await fixture.remove('identity', cy.identityId, { mergedInto: ann.identityId })
    await fixture.put('relationship', { identity: { objectId: ann.identityId } }, positions[2])
    await fixture.evaluator.evaluate(fixture.tenantId)
    await see()
    assert.equal(new Set(seen.map(({ memberIds }) => JSON.stringify(memberIds))).size, 5)
    for (const { at, memberIds } of seen) {
      const path = `/collections/beta/${id}/results?asOf=${at}`
      const { data } = await fixture.call<{ memberIds: unknown }>(fixture.admin, 'GET', path)
      assert.deepEqual(data.memberIds, memberIds)
    }
  })
})

describe('The history of an object', () => {
  it('comes from collections of both kinds, in pages, the newest first', async () => {
    const ann = await fixture.person(['User'], { displayName: 'Ann of all' })
    const joinable = await fixture.joinable(OPEN)
    const criteria = await fixture.criteria('Identity', equals('identityDisplayName', 'Ann of all'))
    const path = `/collections/beta/history?objectId=${ann.identityId}`
    assert.deepEqual((await fixture.call(fixture.admin, 'GET', path)).data, [])
    fixture.pass(1)
    await fixture.evaluator.evaluate(fixture.tenantId)
    fixture.pass(1)
    await members(joinable, 'POST', [ann])
    fixture.pass(1)
    await members(joinable, 'DELETE', [ann])
    fixture.pass(1)
    await fixture.put('identity', { displayName: 'Bo' }, ann.identityId)
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { data } = await fixture.call<ObjectHistoryEntry[]>(fixture.admin, 'GET', path)
    assert.deepEqual(
      data.map(({ collectionId, change }) => [collectionId, change]),
      [
        [criteria, 'Removed'],
        [joinable, 'Removed'],
        [joinable, 'Added'],
        [criteria, 'Added'],
      ],
    )
    const first = await fixture.call<ObjectHistoryEntry[]>(fixture.admin, 'GET', `${path}&pageSize=3`)
    const next = await fixture.call<ObjectHistoryEntry[]>(
      fixture.admin,
      'GET',
      `${path}&nextCursor=${first.nextCursor}`,
    )
    assert.deepEqual([...first.data, ...next.data], data)
    assert.equal(next.nextCursor, undefined)
    assert.deepEqual((await fixture.call(fixture.admin, 'GET', '/collections/beta/history')).codes, ['MissingMember'])
  })
})
