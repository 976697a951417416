import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_LINK_SETTINGS } from '../../../shared/domain/group-links/link-settings.ts'
import {
  countRemovals,
  EMPTY_WINDOW,
  groupSizeOf,
  type RemovalWindow,
  withOpenRemovals,
  withOutcomes,
} from '../../../shared/domain/group-links/removal-window.ts'
import { decideRemovals, outcomesOfStep } from '../../../shared/domain/sync/removal-guard.ts'

const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
const DAY_BEFORE_MS = Date.parse('2030-01-01T00:00:00Z')

const guard = { enabled: true, percent: 20, minimum: 0 }
const nothing = {
  due: [],
  approved: new Set<string>(),
  recentlyRemoved: new Set<string>(),
  window: EMPTY_WINDOW,
  userCount: 10,
  isEmptyFromStart: false,
}
const removed = (count: number, atMs: number, groupSize = 10): RemovalWindow => ({
  entries: [{ atMs, count, groupSize }],
  open: null,
})

describe('decideRemovals', () => {
  for (const [claim, input, settings, remove, held] of [
    ['removes up to the limit', { due: ['a', 'b'] }, guard, ['a', 'b'], undefined],
    ['removes nobody beyond the limit', { due: ['a', 'b', 'c'] }, guard, [], 3],
    ['rounds the share of a group down', { due: ['a', 'b'], userCount: 9 }, guard, [], 2],
    [
      'allows the minimum in small groups',
      { due: ['a', 'b', 'c'] },
      { ...guard, minimum: 3 },
      ['a', 'b', 'c'],
      undefined,
    ],
    [
      'allows 10 of a small group by default',
      { due: [...'abcdefghij'] },
      DEFAULT_LINK_SETTINGS.removalGuard,
      [...'abcdefghij'],
      undefined,
    ],
    ['counts removals of the last 24 hours', { due: ['b', 'c'], window: removed(1, DAY_BEFORE_MS + 1) }, guard, [], 2],
    [
      'forgets removals after 24 hours',
      { due: ['b', 'c'], window: removed(1, DAY_BEFORE_MS) },
      guard,
      ['b', 'c'],
      undefined,
    ],
    ['takes the group size of the earliest removal', { due: ['b'], window: removed(1, NOW_MS, 5) }, guard, [], 1],
    [
      'counts an interrupted removal once',
      { due: ['a', 'b'], window: withOpenRemovals(EMPTY_WINDOW, ['a'], 10) },
      guard,
      ['a', 'b'],
      undefined,
    ],
    [
      'counts an interrupted removal that is no longer due',
      { due: ['b', 'c'], window: withOpenRemovals(EMPTY_WINDOW, ['a'], 10) },
      guard,
      [],
      2,
    ],
    [
      'counts an open removal that a late read still shows once',
      {
        due: ['a', 'b', 'c'],
        recentlyRemoved: new Set(['a']),
        window: withOpenRemovals(EMPTY_WINDOW, ['a'], 10),
      },
      guard,
      [],
      2,
    ],
    [
      'counts what is due although others were removed a moment ago',
      { due: ['a', 'b', 'c'], recentlyRemoved: new Set(['x']) },
      guard,
      [],
      3,
    ],
    [
      'does not count what a late read still shows',
      { due: ['a', 'b', 'c'], recentlyRemoved: new Set(['c']) },
      guard,
      ['a', 'b', 'c'],
      undefined,
    ],
    [
      'removes approved accounts only, beyond the limit',
      { due: ['a', 'b', 'c'], approved: new Set(['a', 'b']) },
      guard,
      ['a', 'b'],
      1,
    ],
    [
      'removes all when all are approved',
      { due: ['a', 'b', 'c'], approved: new Set(['a', 'b', 'c']) },
      guard,
      ['a', 'b', 'c'],
      undefined,
    ],
    ['keeps rejected accounts within the limit', { due: ['a', 'b'], rejected: new Set(['a', 'b']) }, guard, [], 2],
    ['holds all while one of them was rejected', { due: ['a', 'b'], rejected: new Set(['a', 'c']) }, guard, [], 2],
    ['holds fewer than were rejected', { due: ['a'], rejected: new Set(['a', 'b']) }, guard, [], 1],
    ['removes others than the rejected ones', { due: ['a'], rejected: new Set(['b']) }, guard, ['a'], undefined],
    [
      'removes rejected accounts once they are approved',
      { due: ['a', 'b'], approved: new Set(['a', 'b']), rejected: new Set(['a', 'b']) },
      guard,
      ['a', 'b'],
      undefined,
    ],
    [
      'holds everything for a collection that was empty from the start',
      { due: ['a'], isEmptyFromStart: true },
      { ...guard, minimum: 5 },
      [],
      1,
    ],
    [
      'limits nothing when it is off',
      { due: ['a', 'b', 'c'], isEmptyFromStart: true, rejected: new Set(['a', 'b', 'c']) },
      { ...guard, enabled: false },
      ['a', 'b', 'c'],
      undefined,
    ],
  ] as const) {
    it(claim, () => {
      const decision = decideRemovals({ ...nothing, ...input }, settings, NOW_MS)
      assert.deepEqual([decision.remove, decision.hold?.accounts.length], [remove, held])
    })
  }

  it('explains a hold with its figures', () => {
    const { hold } = decideRemovals({ ...nothing, due: ['a', 'b'], window: removed(1, NOW_MS, 10) }, guard, NOW_MS)
    const figures = { includesRejected: false, reason: 'TooMany', limit: 2, removedInWindow: 1, groupSize: 10 }
    assert.deepEqual(hold, { accounts: ['a', 'b'], ...figures })
    const { hold: ofNone } = decideRemovals({ ...nothing, due: ['a'], isEmptyFromStart: true }, guard, NOW_MS)
    assert.equal(ofNone?.reason, 'EmptyCollection')
  })
})

describe('The outcome of a step', () => {
  const outcome = { written: ['w'], unchanged: ['u', 'earlier'], missing: ['m'], refused: ['r'], sentCount: 1 }
  it('of additions shows that the accounts had been removed', () => {
    const known = outcomesOfStep('add', outcome, new Set(['earlier']))
    assert.deepEqual(known, { removed: ['w', 'm', 'u', 'earlier'], notRemoved: [] })
  })
  it('of removals counts those written, and those that an earlier worker has started', () => {
    const known = outcomesOfStep('remove', { ...outcome, refused: ['r', 'begun'] }, new Set(['earlier', 'begun']))
    assert.deepEqual(known, { removed: ['w', 'earlier'], notRemoved: ['u', 'r'] })
  })
})

describe('The window of removals', () => {
  it('is the same after no removals, and has no entry for removals that were refused', () => {
    assert.deepEqual(withOpenRemovals(EMPTY_WINDOW, [], 10), EMPTY_WINDOW)
    assert.deepEqual(withOutcomes(EMPTY_WINDOW, { removed: ['a'], notRemoved: [] }, NOW_MS), EMPTY_WINDOW)
    const open = withOpenRemovals(EMPTY_WINDOW, ['a'], 10)
    assert.deepEqual(withOutcomes(open, { removed: [], notRemoved: ['a'] }, NOW_MS), EMPTY_WINDOW)
  })

  it('has an entry for each time', () => {
    let window = EMPTY_WINDOW
    for (const atMs of [NOW_MS, NOW_MS + 1]) {
      window = withOutcomes(withOpenRemovals(window, ['a'], 10), { removed: ['a'], notRemoved: [] }, atMs)
    }
    assert.deepEqual(window.entries, [
      { atMs: NOW_MS, count: 1, groupSize: 10 },
      { atMs: NOW_MS + 1, count: 1, groupSize: 10 },
    ])
  })

  it('counts open removals until their outcome is known', () => {
    const open = withOpenRemovals(EMPTY_WINDOW, ['a', 'b', 'c'], 10)
    assert.equal(countRemovals(open, new Set(), NOW_MS), 3)
    const known = withOutcomes(open, { removed: ['a'], notRemoved: ['b'] }, DAY_BEFORE_MS)
    assert.equal(countRemovals(known, new Set(), DAY_BEFORE_MS + 1), 2)
    assert.equal(countRemovals(known, new Set(), NOW_MS), 1)
    assert.equal(countRemovals(known, new Set(['c']), NOW_MS), 0)
  })

  it('keeps the group size of its earliest removal, and none when it is empty', () => {
    const first = withOutcomes(
      withOpenRemovals(EMPTY_WINDOW, ['a'], 10),
      { removed: ['a'], notRemoved: [] },
      DAY_BEFORE_MS,
    )
    const second = withOpenRemovals(first, ['b'], 9)
    assert.equal(groupSizeOf(second, 8, DAY_BEFORE_MS + 1), 10)
    assert.equal(groupSizeOf(second, 8, NOW_MS), 9)
    assert.equal(groupSizeOf(EMPTY_WINDOW, 8, NOW_MS), 8)
  })

  it('stays small: entries beyond 200 are merged, and none expires too early', () => {
    let window = EMPTY_WINDOW
    for (let index = 0; index < 1_000; index += 1) {
      const opened = withOpenRemovals(window, [`a${index}`], 5_000)
      window = withOutcomes(opened, { removed: [`a${index}`], notRemoved: [] }, DAY_BEFORE_MS + index)
    }
    assert.equal(window.entries.length, 200)
    assert.equal(countRemovals(window, new Set(), NOW_MS - 1), 1_000)
    assert.ok(countRemovals(window, new Set(), NOW_MS + 500) >= 500)
    assert.equal(countRemovals(window, new Set(), NOW_MS + 1_000), 0)
  })
})
