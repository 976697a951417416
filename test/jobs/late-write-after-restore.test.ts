import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cosmosDerivedState } from '../../shared/cosmos/tenants/derived-state.ts'
import { acquiredLease } from '../../shared/domain/evaluation/evaluation-lease.ts'
import { identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

it('Members stay when an evaluator whose lease has expired writes late, also after a restore', async (t) => {
  const fixture = await openAccountFixture({ databaseSharesClock: true, sharesClock: true })
  t.after(() => fixture.close())
  const source = await fixture.newSource()
  await fixture.write(source, identity('ann', { displayName: 'Teacher', directoryObjectId: user(0) }))
  const collectionId = await fixture.criteria('Identity', 'identityDisplayName', 'Teacher')
  for (let count = 0; count < 4; count += 1) await fixture.coldProcess().evaluate()
  // Written in a late epoch.
  await fixture.write(source, identity('eva', { displayName: 'Teacher' }))
  await fixture.coldProcess().evaluate()
  await cosmosDerivedState(fixture.container).forget(TENANT, fixture.clock.nowMs())
  await fixture.coldProcess().evaluate()
  const { evaluationLeases, memberships } = fixture.coldProcess().collections
  const found = await evaluationLeases.find(TENANT)
  const lease = acquiredLease(found, 'paused', fixture.clock.nowMs()) ?? assert.fail()
  await evaluationLeases.save(TENANT, lease, found?.version)
  const head = (await memberships.head(TENANT, collectionId)) ?? assert.fail()
  await fixture.clock.sleep(60_000)
  // The next holder finds nothing to change.
  await fixture.coldProcess().evaluate()
  const late = {
    ids: [],
    definitionKey: head.value.definitionKey,
    evaluatedAtMs: fixture.clock.nowMs(),
    epoch: lease.epoch,
    unfencedEpoch: lease.unfencedEpoch,
    attribute: async (change: { added: readonly string[]; removed: readonly string[] }) => [
      { cause: 'ObjectChanged' as const, actorId: 'system', ...change },
    ],
  }
  await assert.rejects(memberships.replace(TENANT, collectionId, head, late), { code: 'StaleVersion' })
  assert.equal((await memberships.members(TENANT, collectionId))?.ids.length, 2)
})
