import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { HistoryEntry, ObjectHistoryEntry } from '../../shared/domain/insight/list-history.ts'
import { approvedBy, equals, faults, joinableWorld, OPEN, type Person } from '../support/api/joinable-world.ts'

const world = await joinableWorld()
afterEach(() => assert.deepEqual(faults.splice(0), []))

const JOINABLE = '/collections-joinable/beta'

const historyOf = async (id: string): Promise<HistoryEntry[]> =>
  (await world.call<HistoryEntry[]>(world.admin, 'GET', `/collections/beta/${id}/history`)).data

const why = ({ objectId, change, cause, actorId }: HistoryEntry) => [objectId, change, cause, actorId]

/** The newest entries, and the request of each. */
async function newest(collectionId: string, count: number): Promise<(string | null)[][]> {
  const entries = await historyOf(collectionId)
  assert.ok(entries.every(({ requestId }) => requestId !== null))
  return entries.slice(0, count).map(why)
}

const members = (collectionId: string, method: string, people: readonly Person[], token = world.admin) =>
  world.call(token, method, `${JOINABLE}/${collectionId}/results/members`, {
    coreIdentityIds: people.map(({ identityId }) => identityId),
  })

describe('The history of a joinable collection', () => {
  it('names the last approver of a request, and who left', async () => {
    const [approver, ann] = [await world.person(), await world.person()]
    const id = await world.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await world.submit(ann, id)
    await world.act(approver.token, request, 'approve')
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'Request', approver.identityId]])
    await world.act(ann.token, request, 'leave')
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Removed', 'Request', ann.identityId]])
    assert.deepEqual(new Set((await historyOf(id)).map(({ requestId }) => requestId)), new Set([request.id]))
  })

  it('names the subject of a request without a gate, also on behalf', async () => {
    const [manager, ann] = [await world.person(), await world.person()]
    const position = await world.position(ann, { manager: { objectId: manager.identityId } })
    const id = await world.joinable(OPEN, { objectType: 'Relationship' })
    const body = { requesterId: ann.identityId, relationshipId: position }
    await world.call(manager.token, 'POST', `${world.requests}/${id}/submit-on-behalf`, body)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'Request', ann.identityId]])
    assert.deepEqual(
      (await historyOf(id)).map(({ relationshipId }) => relationshipId),
      [position],
    )
  })

  it('names who added and removed members directly, also where a request waited', async () => {
    const [boss, ann, bo] = [
      await world.person(['collection_criteria_definition-administrator']),
      await world.person(),
      await world.person(),
    ]
    const id = await world.joinable(await world.approvedBySomebody())
    await world.submit(ann, id)
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
    const [ann, bo, cy] = [await world.person(), await world.person(), await world.person()]
    const id = await world.joinable(OPEN)
    await members(id, 'POST', [ann, bo])
    await world.remove('identity', ann.identityId, { ttl: 3600 })
    await world.evaluator.evaluate(world.tenantId)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Removed', 'ObjectDeleted', 'system']])
    await world.put('identity', { displayName: 'Ann' }, ann.identityId)
    await world.evaluator.evaluate(world.tenantId)
    assert.deepEqual(await newest(id, 1), [[ann.identityId, 'Added', 'ObjectChanged', 'system']])
    await world.remove('identity', bo.identityId, { mergedInto: cy.identityId })
    await world.evaluator.evaluate(world.tenantId)
    assert.deepEqual(await newest(id, 2), [
      [cy.identityId, 'Added', 'Merged', 'system'],
      [bo.identityId, 'Removed', 'Merged', 'system'],
    ])
    const waiting = await world.joinable(await world.approvedBySomebody())
    await world.submit(cy, waiting)
    const boss = await world.person(['collection_criteria_definition-administrator'])
    const open = { objectType: 'Identity', joinPolicy: OPEN }
    await world.call(boss.token, 'PUT', `${JOINABLE}/${waiting}`, open)
    assert.deepEqual(await newest(waiting, 1), [[cy.identityId, 'Added', 'DefinitionChanged', boss.identityId]])
  })

  it('gives the members at each earlier time', async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => world.person()))
    const positions = await Promise.all(people.map((person) => world.position(person)))
    const id = await world.joinable(OPEN, { objectType: 'Relationship' })
    const seen: { readonly at: string; readonly memberIds: unknown }[] = []
    const see = async () => {
      seen.push({ at: new Date(world.nowMs()).toISOString(), memberIds: await world.results(id) })
      world.pass(60)
    }
    await see()
    const [ann, bo, cy, dee] = people as [Person, Person, Person, Person]
    for (const group of [[ann, bo], [cy]]) {
      await members(id, 'POST', group)
      await see()
    }
    await members(id, 'DELETE', [ann])
    await see()
    await world.put('relationship', { identity: { objectId: dee.identityId } }, positions[1])
    await world.remove('identity', cy.identityId, { mergedInto: ann.identityId })
    await world.put('relationship', { identity: { objectId: ann.identityId } }, positions[2])
    await world.evaluator.evaluate(world.tenantId)
    await see()
    assert.equal(new Set(seen.map(({ memberIds }) => JSON.stringify(memberIds))).size, 5)
    for (const { at, memberIds } of seen) {
      const path = `/collections/beta/${id}/results?asOf=${at}`
      const { data } = await world.call<{ memberIds: unknown }>(world.admin, 'GET', path)
      assert.deepEqual(data.memberIds, memberIds)
    }
  })
})

describe('The history of an object', () => {
  it('comes from collections of both kinds, in pages, the newest first', async () => {
    const ann = await world.person(['User'], { displayName: 'Ann of all' })
    const joinable = await world.joinable(OPEN)
    const criteria = await world.criteria('Identity', equals('identityDisplayName', 'Ann of all'))
    const path = `/collections/beta/history?objectId=${ann.identityId}`
    assert.deepEqual((await world.call(world.admin, 'GET', path)).data, [])
    world.pass(1)
    await world.evaluator.evaluate(world.tenantId)
    world.pass(1)
    await members(joinable, 'POST', [ann])
    world.pass(1)
    await members(joinable, 'DELETE', [ann])
    world.pass(1)
    await world.put('identity', { displayName: 'Bo' }, ann.identityId)
    await world.evaluator.evaluate(world.tenantId)
    const { data } = await world.call<ObjectHistoryEntry[]>(world.admin, 'GET', path)
    assert.deepEqual(
      data.map(({ collectionId, change }) => [collectionId, change]),
      [
        [criteria, 'Removed'],
        [joinable, 'Removed'],
        [joinable, 'Added'],
        [criteria, 'Added'],
      ],
    )
    const first = await world.call<ObjectHistoryEntry[]>(world.admin, 'GET', `${path}&pageSize=3`)
    const next = await world.call<ObjectHistoryEntry[]>(world.admin, 'GET', `${path}&nextCursor=${first.nextCursor}`)
    assert.deepEqual([...first.data, ...next.data], data)
    assert.equal(next.nextCursor, undefined)
    assert.deepEqual((await world.call(world.admin, 'GET', '/collections/beta/history')).codes, ['MissingMember'])
  })
})
