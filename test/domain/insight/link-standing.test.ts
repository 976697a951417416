import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import {
  type LinkStanding,
  linkStanding,
  type Standing,
  type StandingFacts,
} from '../../../shared/domain/insight/link-standing.ts'

const NOW_MS = Date.parse('2030-01-01T08:00:00Z')
const IDS = { id: 'link', tenantId: 'tenant', collectionId: 'collection', directoryGroupId: 'group' }
const LINK: GroupLink = {
  ...newLink({ ...IDS, directoryGroupDisplayName: null }, NOW_MS),
  lastSyncOutcome: 'Succeeded',
  appliedMembershipVersion: 3,
  skippedCount: 0,
}
const PAUSED: Partial<GroupLink> = { skippedCount: 1 }
const ADDED = { account: 'a', kind: 'added' } as const

type Case = readonly [
  claim: string,
  expected: LinkStanding['state'],
  facts: Partial<StandingFacts>,
  link?: Partial<GroupLink>,
  standing?: Partial<Standing>,
]

const check = (isMember: boolean, cases: readonly Case[]): void => {
  for (const [claim, expected, facts, link = {}, standing = {}] of cases) {
    it(claim, () => {
      const asked: Standing = { isMember, directoryObjectId: 'a', memberIds: ['ada'], ...standing }
      const known: StandingFacts = {
        ...{ presence: 'NotInGroup', isHeld: false, wasMember: false, changes: [], nowMs: NOW_MS },
        ...facts,
      }
      assert.equal(linkStanding({ ...LINK, ...link }, asked, known).state, expected)
    })
  }
}

describe('a member', () => {
  check(true, [
    ['is Written when it is in the group', 'Written', { presence: 'InGroup' }],
    ['is Pending when it is not, also if the link says that it was written', 'Pending', { presence: 'NotInGroup' }],
    ['has no account when the directory does not know it', 'NoAccount', { presence: 'AccountUnknown' }],
    [
      'has no account while the group refuses the one that it has',
      'NoAccount',
      { presence: 'NotInGroup' },
      { unresolved: ['a'] },
    ],
    ['has no account without one', 'NoAccount', {}, {}, { directoryObjectId: null }],
    ['of a disabled link is not written', 'LinkDisabled', { presence: 'InGroup' }, { state: 'Disabled' }],
    ['is as last written while the directory cannot be asked', 'Written', { presence: 'NotKnown' }],
    [
      'is Pending while the directory cannot be asked and the change is not applied',
      'Pending',
      { presence: 'NotKnown', changes: [{ added: ['ada'], removed: [] }] },
    ],
    [
      'has no account that the last job could not add, while the directory cannot be asked',
      'NoAccount',
      { presence: 'NotKnown' },
      { unresolved: ['a'] },
    ],
  ])
})

describe('somebody who is no member', () => {
  const left = { presence: 'InGroup', wasMember: true } as const
  check(false, [
    ['is not in the group as the directory says', 'NotInGroup', { presence: 'NotInGroup', wasMember: true }],
    ['is in no group without an account', 'NotInGroup', {}, {}, { directoryObjectId: null }],
    ['is in no group with an account that the directory does not know', 'NotInGroup', { presence: 'AccountUnknown' }],
    ['is Held before all else', 'Held', { presence: 'InGroup', isHeld: true }, PAUSED],
    [
      'is there by others when it was never a member, also while paused',
      'InGroupByOthers',
      { presence: 'InGroup' },
      PAUSED,
    ],
    ['stays while removals are paused', 'InGroupRemovalPaused', left, PAUSED],
    ['stays until the next sync', 'InGroupRemovalPending', left],
    [
      'is not said to be in or out when a read does not show a recent addition, which others can have undone',
      'Pending',
      { presence: 'NotInGroup', wasMember: true },
      { recentWrites: [{ ...ADDED, atMs: NOW_MS - 599_999 }] },
    ],
    [
      'is not in the group ten minutes after the addition when no read shows it',
      'NotInGroup',
      { presence: 'NotInGroup', wasMember: true },
      { recentWrites: [{ ...ADDED, atMs: NOW_MS - 600_000 }] },
    ],
    ['is not said to be out while the directory cannot be asked', 'Pending', { presence: 'NotKnown' }],
    [
      'is paused while the directory cannot be asked, when it was a member',
      'InGroupRemovalPaused',
      { presence: 'NotKnown', wasMember: true },
      PAUSED,
    ],
  ])
})
