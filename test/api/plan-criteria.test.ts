import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import { equals, faults, type JoinableWorld, joinableWorld } from './joinable-world.ts'

after(() => assert.deepEqual(faults, []))

const CRITERIA = '/collections-criteria/beta'

const planned = (world: JoinableWorld, id: string, body: object, token = world.writer) =>
  world.call<ChangePlan>(token, 'POST', `${CRITERIA}/${id}/plan`, { objectType: 'Identity', ...body })

const saved = (world: JoinableWorld, id: string, body: object, planId?: string) =>
  world.call(
    world.writer,
    'PUT',
    `${CRITERIA}/${id}`,
    { objectType: 'Identity', ...body },
    planId === undefined ? {} : { 'if-plan': planId },
  )

describe('the plan of an update', () => {
  it('counts the members that the collection gains and loses', async () => {
    const world = await joinableWorld()
    for (const displayName of ['Kari', 'Ola', 'Ola']) await world.person(['User'], { displayName })
    const id = await world.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const condition = equals('identityDisplayName', 'Ola')
    const { status, data, codes } = await planned(world, id, { condition })
    assert.equal(status, 200, codes.join())
    assert.deepEqual(data.collections, [{ collectionId: id, name: 'Staff', added: 2, removed: 1 }])
    assert.deepEqual([data.links, data.requests], [[], { becomeEligible: 0, loseEligibility: 0 }])
    assert.equal(data.expiresAt, '2030-06-01T09:00:00.000+00:00')
    assert.equal((await saved(world, id, { condition }, data.planId)).status, 200)
  })
})
