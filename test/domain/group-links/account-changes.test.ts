import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ACCOUNT_CHANGE_DELAY_MS } from '../../../shared/domain/core/core-object-store.ts'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import type { LinkLists, LinkStore } from '../../../shared/domain/group-links/link-store.ts'
import { collectionLinks } from '../../../shared/domain/group-links/linked-collections.ts'

const CHANGED_AT_MS = Date.parse('2030-01-01T08:00:00Z')

/** Whether a change is recorded with a link that was compared at this time. */
async function isRecorded(comparedAtMs: number): Promise<boolean> {
  const link = {
    id: 'link',
    tenantId: 't',
    collectionId: 'choir',
    directoryGroupId: 'group',
    directoryGroupDisplayName: null,
  }
  let value: GroupLink = { ...newLink(link, 0), comparedAtMs }
  const store = {
    ofTenant: async () => [{ value, version: '1' }],
    find: async () => ({ value, version: '1' }),
    replace: async (changed: GroupLink) => {
      value = changed
      return { value, version: '2' }
    },
  } as unknown as LinkStore & LinkLists
  await collectionLinks(store, () => CHANGED_AT_MS).accountsChanged('t', new Map([['choir', CHANGED_AT_MS]]))
  return value.accountsChangedAtMs !== null
}

it('A changed account is recorded with links that were compared before the change had become known', async () => {
  assert.equal(await isRecorded(CHANGED_AT_MS - 1), true)
  assert.equal(await isRecorded(CHANGED_AT_MS + ACCOUNT_CHANGE_DELAY_MS - 1), true)
  assert.equal(await isRecorded(CHANGED_AT_MS + ACCOUNT_CHANGE_DELAY_MS), false)
})
