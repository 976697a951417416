import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { planSync, stepsOf } from '../../../shared/domain/sync/plan-sync.ts'
import { type RecentWrite, withRecentWrites } from '../../../shared/domain/sync/recent-writes.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')

const accounts = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { maxLength: 12 }).map((list) => new Set(list))
const writes = fc.array(
  fc.record({
    account: fc.constantFrom(...'abcdefghijkl'),
    kind: fc.constantFrom<RecentWrite['kind']>('added', 'removed'),
    atMs: fc.constant(NOW_MS),
  }),
  { maxLength: 8 },
)

describe('planSync', () => {
  it('adds who is missing and removes who is not wanted', () => {
    const plan = planSync(new Set('abc'), new Set('cde'), { withoutAccountCount: 0 })
    assert.deepEqual(plan, { add: ['a', 'b'], remove: ['d', 'e'], heldBackCount: 0 })
  })

  it('removes nobody while a member has no account, and counts whom it would', () => {
    const plan = planSync(new Set('abc'), new Set('cde'), { withoutAccountCount: 1 })
    assert.deepEqual(plan, { add: ['a', 'b'], remove: [], heldBackCount: 2 })
  })

  it('neither asks again for an account that the directory does not know, nor removes anyone then', () => {
    const options = { withoutAccountCount: 0, unresolved: new Set('a') }
    assert.deepEqual(planSync(new Set('abc'), new Set('cde'), options), { add: ['b'], remove: [], heldBackCount: 2 })
  })

  for (const [claim, desired, actual, kind, expected] of [
    ['adds again who was added and is not listed', 'a', '', 'added', { add: ['a'], remove: [] }],
    ['removes who was added, is not listed and not wanted any more', '', '', 'added', { add: [], remove: ['a'] }],
    ['removes again who was removed and is listed', '', 'a', 'removed', { add: [], remove: ['a'] }],
    ['adds who was removed, is listed and wanted again', 'a', 'a', 'removed', { add: ['a'], remove: [] }],
    ['leaves alone who was added and is listed', 'a', 'a', 'added', { add: [], remove: [] }],
    ['leaves alone who was removed and is not listed', '', '', 'removed', { add: [], remove: [] }],
  ] as const) {
    it(claim, () => {
      const recentWrites = [{ account: 'a', kind, atMs: NOW_MS }]
      const plan = planSync(new Set(desired), new Set(actual), { withoutAccountCount: 0, recentWrites })
      assert.deepEqual({ add: plan.add, remove: plan.remove }, expected)
    })
  }

  it('leads to the desired accounts, and replayed on its outcome yields nothing', () => {
    fc.assert(
      fc.property(accounts, accounts, writes, (desired, actual, earlier) => {
        const recentWrites = withRecentWrites(earlier, [], [], NOW_MS)
        const plan = planSync(desired, actual, { withoutAccountCount: 0, recentWrites })
        const outcome = actual.union(new Set(plan.add)).difference(new Set(plan.remove))
        assert.deepEqual([...outcome].sort(), [...desired].sort())
        const after = withRecentWrites(recentWrites, plan.add, plan.remove, NOW_MS)
        assert.deepEqual(planSync(desired, outcome, { withoutAccountCount: 0, recentWrites: after }), {
          add: [],
          remove: [],
          heldBackCount: 0,
        })
      }),
    )
  })

  it('never removes a wanted account, and none at all while some are missing', () => {
    fc.assert(
      fc.property(
        accounts,
        accounts,
        accounts,
        writes,
        fc.nat(2),
        (desired, actual, unresolved, recentWrites, count) => {
          const plan = planSync(desired, actual, { withoutAccountCount: count, unresolved, recentWrites })
          assert.ok(plan.remove.every((account) => !desired.has(account)))
          assert.ok(plan.add.every((account) => desired.has(account) && !unresolved.has(account)))
          if (count > 0 || unresolved.size > 0) assert.deepEqual(plan.remove, [])
        },
      ),
    )
  })
})

describe('stepsOf', () => {
  it('adds before it removes, a hundred and twenty at a time', () => {
    const steps = stepsOf({ add: Array(250).fill('a'), remove: Array(41).fill('r') })
    assert.deepEqual(
      steps.map(({ kind, accounts: list }) => [kind, list.length]),
      [
        ['add', 100],
        ['add', 100],
        ['add', 50],
        ['remove', 20],
        ['remove', 20],
        ['remove', 1],
      ],
    )
  })
})

describe('remembered', () => {
  it('keeps the last write of an account, for ten minutes, and five hundred in all', () => {
    const old = withRecentWrites([], ['a', 'b'], [], NOW_MS)
    assert.deepEqual(withRecentWrites(old, [], ['a'], NOW_MS + 1_000), [
      { account: 'b', kind: 'added', atMs: NOW_MS },
      { account: 'a', kind: 'removed', atMs: NOW_MS + 1_000 },
    ])
    assert.deepEqual(withRecentWrites(old, [], [], NOW_MS + 600_000), [])
    const many = withRecentWrites(
      old,
      Array.from({ length: 700 }, (_, index) => `x${index}`),
      [],
      NOW_MS,
    )
    assert.equal(many.length, 500)
    assert.equal(many.at(-1)?.account, 'x699')
  })
})
