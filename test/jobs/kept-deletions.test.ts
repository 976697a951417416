import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openAccountFixture } from '../support/jobs/account-fixture.ts'
import { TENANT } from '../support/jobs/link-directory.ts'

it('The rows of a tenant are saved for as long as its connectors keep deletions', async () => {
  const fixture = await openAccountFixture()
  const { snapshots } = fixture.newService().collections
  assert.equal((await snapshots.settingsOf(TENANT)).deletions.keptDays, 1)
  const { id } = await fixture.newSource()
  // Another instance has read nothing of the tenant yet.
  const { deletions } = await fixture.newService().collections.snapshots.settingsOf(TENANT)
  assert.equal(deletions.keptDays, 90)
  assert.ok(deletions.connectors.startsWith(id))
  await fixture.close()
})
