import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import { updateAsPlanned } from '../../shared/domain/insight/plan-change.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { equals, faults, type JoinableFixture, joinableFixture } from '../support/api/joinable-fixture.ts'

after(() => assert.deepEqual(faults, []))

const CRITERIA = '/collections-criteria/beta'
const named = (name: string) => equals('identityDisplayName', name)
const memberOf = (id: string) => equals('memberOfCollection', id)

const planned = (fixture: JoinableFixture, id: string, condition: object) =>
  fixture.call<ChangePlan>(fixture.writer, 'POST', `${CRITERIA}/${id}/plan`, { objectType: 'Identity', condition })

describe('The plan of an update', () => {
  it('is made, and leaves out a collection that refers to one whose stored condition is invalid', async () => {
    const fixture = await joinableFixture()
    for (const displayName of ['Kari', 'Ola']) await fixture.person(['User'], { displayName })
    const [id, same] = [
      await fixture.criteria('Identity', named('Kari')),
      await fixture.criteria('Identity', named('Ola')),
    ]
    const invalid = await fixture.criteria('Identity', named('Ola'))
    await fixture.criteria('Identity', memberOf(invalid))
    const found = await fixture.deps.collections.find(fixture.tenantId, invalid, 'criteria')
    assert.ok(found)
    await fixture.deps.collections.replace({ ...found.value, definition: {} }, found.version, undefined)
    const { status, data } = await planned(fixture, id, named('Ola'))
    assert.equal(status, 200)
    assert.deepEqual(
      data.warnings.filter(({ code }) => code === 'SameAs').map(({ target }) => target),
      [same],
    )
    assert.equal(faults.splice(0).length, 1)
  })

  it('is refused as changed when a collection that refers to it is added right before the update is written', async () => {
    const fixture = await joinableFixture()
    for (const displayName of ['Kari', 'Ola']) await fixture.person(['User'], { displayName })
    const id = await fixture.criteria('Identity', named('Kari'))
    const condition = named('Ola')
    const { planId } = (await planned(fixture, id, condition)).data
    let referring: string | undefined
    const { collections } = fixture.deps
    const replace: typeof collections.replace = async (...write) => {
      referring ??= await fixture.criteria('Identity', memberOf(id))
      return collections.replace(...write)
    }
    const caller = { tenantId: fixture.tenantId, objectId: id, roles: new Set() } as unknown as Caller
    const update = { id, body: { objectType: 'Identity', condition }, ifMatch: undefined, caller } as const
    const deps = { ...fixture.deps, collections: { ...collections, replace } }
    await assert.rejects(updateAsPlanned(update, planId, deps), { code: 'PlanChanged' })
    assert.ok(referring)
    assert.deepEqual((await collections.find(fixture.tenantId, id))?.value.definition, named('Kari'))
  })
})
