import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT } from '../support/jobs/link-directory.ts'

it('The service takes from the connectors of a tenant how long deletions are kept', async (test) => {
  const fixture = await openAccountFixture()
  test.after(() => fixture.close())
  const { snapshots } = fixture.newService().collections
  assert.equal((await snapshots.settingsOf(TENANT)).deletions.keptDays, 1)
  const { id } = await fixture.newSource()
  // Another instance has read nothing of the tenant yet.
  const { deletions } = await fixture.newService().collections.snapshots.settingsOf(TENANT)
  assert.equal(deletions.keptDays, 90)
  assert.ok(deletions.connectors.startsWith(id))
})
