import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FORMER_LINK_KEPT_S, formerLinkOf, succeeding } from '../../../shared/domain/group-links/former-link.ts'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import {
  PausedByDto,
  type PausingNames,
  pausedBy,
  pausingIds,
  WithoutAccount,
} from '../../../shared/domain/group-links/removal-pause.ts'
import { bodyFaults } from '../../../shared/http/validation.ts'

const LINK = { skippedCount: 2, unresolved: ['account'], withoutAccount: null, acceptedWithoutAccount: [] }
const NAMES: PausingNames = {
  names: new Map([
    ['ann', 'Ann'],
    ['nameless', null],
  ]),
  holders: new Map([['account', { identityId: 'bo', displayName: 'Bo' }]]),
}
const ids = (count: number) => Array.from({ length: count }, (_, index) => `id${index}`)

describe('A link is paused by', () => {
  it('nothing while no member is skipped, or it is not known', () => {
    for (const skippedCount of [0, null]) {
      assert.equal(pausedBy({ ...LINK, skippedCount }, NAMES), null)
      assert.deepEqual(pausingIds({ ...LINK, skippedCount }), { identityIds: [], accounts: [] })
    }
  })

  it('members without an account, then by those whose account is not known', () => {
    const withoutAccount = { count: 3, identityIds: ['ann', 'nameless', null] }
    const link = { ...LINK, skippedCount: 4, withoutAccount, unresolved: ['account', 'other'] }
    const none = { directoryObjectId: null }
    assert.deepEqual(pausedBy(link, NAMES), {
      ...{ reason: 'MembersWithoutAccount', count: 4 },
      members: [
        { identityId: 'ann', displayName: 'Ann', ...none },
        { identityId: 'nameless', displayName: null, ...none },
        { identityId: null, displayName: null, ...none },
        { identityId: 'bo', displayName: 'Bo', directoryObjectId: 'account' },
        { identityId: null, displayName: null, directoryObjectId: 'other' },
      ],
    })
    assert.deepEqual(pausingIds(link), { identityIds: ['ann', 'nameless'], accounts: ['account', 'other'] })
  })

  it('unknown accounts alone, without those of identities that are accepted', () => {
    const withoutAccount = { count: 0, identityIds: [] }
    const link = { ...LINK, skippedCount: 1, withoutAccount, unresolved: ['account', 'other'] }
    const paused = pausedBy({ ...link, acceptedWithoutAccount: ['bo', 'ann'] }, NAMES)
    const member = { identityId: null, displayName: null, directoryObjectId: 'other' }
    assert.deepEqual(paused, { reason: 'AccountsUnknown', count: 1, members: [member] })
  })

  it('members without an account when more are skipped than have an unknown one, of older links', () => {
    assert.equal(pausedBy({ ...LINK, skippedCount: 2 }, NAMES)?.reason, 'MembersWithoutAccount')
    assert.equal(pausedBy({ ...LINK, skippedCount: 1 }, NAMES)?.reason, 'AccountsUnknown')
    assert.equal(pausedBy({ ...LINK, skippedCount: 1, unresolved: ids(3) }, NAMES)?.reason, 'AccountsUnknown')
  })

  it('members of whom 20 are named', () => {
    const withoutAccount = { count: 30, identityIds: ids(15) }
    const link = { ...LINK, skippedCount: 45, withoutAccount, unresolved: ids(15) }
    assert.equal(pausedBy(link, NAMES)?.members.length, 20)
    assert.equal(pausingIds({ ...link, unresolved: ids(121) }).accounts.length, 120)
  })
})

describe('The description of what pauses a link', () => {
  it('has a count of at least one, and the stored one may be none', () => {
    const paused = { reason: 'AccountsUnknown', count: 1, members: [] }
    assert.deepEqual(bodyFaults(PausedByDto, paused), [])
    assert.equal(bodyFaults(PausedByDto, { ...paused, count: 0 }).length, 1)
    assert.deepEqual(bodyFaults(WithoutAccount, { count: 0, identityIds: [] }), [])
  })
})

describe('The next link of a group', () => {
  const link = newLink(
    {
      id: 'link',
      tenantId: 'tenant',
      collectionId: 'collection',
      directoryGroupId: 'group',
      directoryGroupDisplayName: null,
    },
    0,
  )
  const former = {
    ...link,
    removalWindow: { entries: [{ atMs: 1, count: 2, groupSize: 3 }], open: null },
    recentWrites: [{ account: 'account', kind: 'added' as const, atMs: 1 }],
    lease: { owner: 'job', expiresAtMs: 2, token: 3 },
    lastToken: 3,
    hasAdded: true,
  }

  it('goes on with the removals, the writes and the lease of the one before, and nothing else', () => {
    const { removalWindow, recentWrites, lease, lastToken } = former
    assert.deepEqual(succeeding(link, formerLinkOf(former)), { ...link, removalWindow, recentWrites, lease, lastToken })
  })

  it('finds them for 25 hours: an hour longer than removals count', () => {
    assert.equal(FORMER_LINK_KEPT_S, 90_000)
  })

  it('is as it was made when the group had none', () => {
    assert.equal(succeeding(link, undefined), link)
  })
})
