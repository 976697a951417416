import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { newLink, type RecentWrite } from '../../../shared/domain/group-links/group-link.ts'
import { newJob } from '../../../shared/domain/group-links/sync-job.ts'
import { journaled, progressOfStep, reconciledByRead } from '../../../shared/domain/sync/job-progress.ts'
import { planBatch, planSync, stepsOf } from '../../../shared/domain/sync/plan-sync.ts'
import { withRecentWrites } from '../../../shared/domain/sync/recorded-writes.ts'

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
  it('adds missing accounts and removes surplus ones', () => {
    const plan = planSync(new Set('abc'), new Set('cde'), { withoutAccountCount: 0 })
    assert.deepEqual(plan, { add: ['a', 'b'], remove: ['d', 'e'], deferredRemovalCount: 0 })
  })

  it('defers removals while a member has no account, and counts them', () => {
    const plan = planSync(new Set('abc'), new Set('cde'), { withoutAccountCount: 1 })
    assert.deepEqual(plan, { add: ['a', 'b'], remove: [], deferredRemovalCount: 2 })
  })

  it('does not add an unresolved account, and defers removals', () => {
    const options = { withoutAccountCount: 0, unresolved: new Set('a') }
    assert.deepEqual(planSync(new Set('abc'), new Set('cde'), options), {
      add: ['b'],
      remove: [],
      deferredRemovalCount: 2,
    })
  })

  for (const [claim, desired, actual, kind, expected] of [
    ['adds an account that was added and is not listed', 'a', '', 'added', { add: ['a'], remove: [] }],
    [
      'removes an account that was added, is not listed and no longer desired',
      '',
      '',
      'added',
      { add: [], remove: ['a'] },
    ],
    ['removes an account that was removed and is listed', '', 'a', 'removed', { add: [], remove: ['a'] }],
    ['adds an account that was removed, is listed and desired again', 'a', 'a', 'removed', { add: ['a'], remove: [] }],
    ['keeps an account that was added and is listed', 'a', 'a', 'added', { add: [], remove: [] }],
    ['ignores an account that was removed and is not listed', '', '', 'removed', { add: [], remove: [] }],
  ] as const) {
    it(claim, () => {
      const recentWrites = [{ account: 'a', kind, atMs: NOW_MS }]
      const plan = planSync(new Set(desired), new Set(actual), { withoutAccountCount: 0, recentWrites })
      assert.deepEqual({ add: plan.add, remove: plan.remove }, expected)
    })
  }

  it('leads to the desired accounts, and is empty when planned again', () => {
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
          deferredRemovalCount: 0,
        })
      }),
    )
  })

  it('never removes a desired account, and none at all while an account is missing', () => {
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

describe('The journal of started writes', () => {
  const journal = { added: ['a'], removed: ['x'] }

  it('adds the accounts of a step once, except those in doubt, which a later read cannot settle', () => {
    const add = { kind: 'add', accounts: ['a', 'b', 'c'], writeCount: 1 } as const
    assert.deepEqual(journaled(journal, add, new Set(['c'])), { added: ['a', 'b'], removed: ['x'] })
    const remove = { kind: 'remove', accounts: ['x', 'y', 'z'], writeCount: 3 } as const
    assert.deepEqual(journaled(journal, remove, new Set(['z'])), { added: ['a'], removed: ['x', 'y'] })
  })

  it('counts what a read of the group shows, and keeps the rest open', () => {
    const made = { added: ['a', 'b'], removed: ['x', 'y'] }
    assert.deepEqual(reconciledByRead(made, new Set(['a', 'x'])), {
      added: ['a'],
      removed: ['y'],
      open: { added: ['b'], removed: ['x'] },
    })
  })
})

const limits = {
  add: { accountsPerWrite: 20, accountsPerStep: 400 },
  remove: { accountsPerWrite: 1, accountsPerStep: 20 },
}
const link = newLink(
  { id: 'link', tenantId: 'tenant', collectionId: 'c', directoryGroupId: 'group', directoryGroupDisplayName: null },
  NOW_MS,
)
const job = {
  ...newJob({ id: 'job', type: 'ManualSync' }, link, NOW_MS),
  ...{ added: 10, removed: 10, skipped: 5, unresolved: ['u'] },
  journal: { added: ['a', 'b'], removed: ['x', 'y'] },
}

describe('The job after a step', () => {
  const outcome = { refused: [], sentCount: 1 }
  const counts = ({ added, removed, skipped, unresolved, journal }: typeof job) => [
    ...[added, removed, skipped, unresolved],
    ...[journal.added, journal.removed],
  ]

  it('of additions counts those written, those begun by an earlier worker, and removals of it that are reverted', () => {
    const step = { kind: 'add', accounts: [], writeCount: 1 } as const
    const answered = { ...outcome, written: ['c', 'x'], unchanged: ['a', 'm'], missing: ['n'] }
    const progress = progressOfStep(job, step, answered, { added: ['a'], removed: ['x'] })
    assert.deepEqual([progress.added, progress.removed], [['c', 'x', 'a'], ['x']])
    assert.deepEqual(counts(progress.job as typeof job), [13, 11, 6, ['u', 'n'], ['b'], ['y']])
  })

  it('of removals counts those written, those begun by an earlier worker, and additions of it that are reverted', () => {
    const step = { kind: 'remove', accounts: [], writeCount: 1 } as const
    const answered = { ...outcome, written: ['z', 'a'], unchanged: ['x', 'm'], missing: [] }
    const progress = progressOfStep(job, step, answered, { added: ['a'], removed: ['x'] })
    assert.deepEqual([progress.added, progress.removed], [['a'], ['z', 'a', 'x']])
    assert.deepEqual(counts(progress.job as typeof job), [11, 13, 5, ['u'], ['b'], ['y']])
  })
})

describe('The plan of a batch', () => {
  const guard = { enabled: true, minimum: 1, percent: 20 }
  const planned = (
    accounts: readonly string[],
    users: readonly string[],
    changes: object = {},
    withoutAccountCount = 0,
  ) =>
    planBatch(
      { accounts: new Set(accounts), withoutAccountCount, membershipVersion: 1, isCurrent: true },
      { users: new Set(users), others: new Set() },
      { job: { ...job, unresolved: [] }, link: { ...link, ...changes }, guard, approved: new Set() },
      { limits, nowMs: NOW_MS },
    )

  it('compares removals with the users that the group had when the job began', () => {
    assert.equal(planned(['a'], ['a', 'b', 'c']).job.userCountAtStart, 3)
    const begun = { ...job, userCountAtStart: 50 }
    const state = { job: begun, link, guard, approved: new Set<string>() }
    const desired = { accounts: new Set(['a']), withoutAccountCount: 0, membershipVersion: 1, isCurrent: true }
    const members = { users: new Set(['a', 'b']), others: new Set<string>() }
    assert.equal(planBatch(desired, members, state, { limits, nowMs: NOW_MS }).job.userCountAtStart, 50)
  })

  it('skips members without an account and accounts that are unresolved', () => {
    assert.equal(planned(['a', 'group'], ['a'], {}, 2).job.skipped, 3)
  })

  for (const [claim, accounts, users, changes, expected] of [
    ['holds all removals while the collection is empty and has added nobody', [], ['b'], {}, 'EmptyCollection'],
    ['limits them once it has added somebody', [], ['b', 'c'], { hasAdded: true }, 'TooMany'],
    ['limits them while the collection has a member', ['a'], ['a', 'b', 'c'], {}, 'TooMany'],
    ['holds none within the limit', ['a'], ['a', 'b'], {}, undefined],
  ] as const) {
    it(claim, () => assert.equal(planned(accounts, users, changes).hold?.reason, expected))
  }
})

describe('stepsOf', () => {
  it('adds before it removes, in steps within the limits of the directory', () => {
    const limits = {
      add: { accountsPerStep: 100, accountsPerWrite: 20 },
      remove: { accountsPerStep: 20, accountsPerWrite: 1 },
    }
    const steps = stepsOf({ add: Array(250).fill('a'), remove: Array(41).fill('r') }, limits)
    assert.deepEqual(
      steps.map(({ kind, accounts: list, writeCount }) => [kind, list.length, writeCount]),
      [
        ['add', 100, 5],
        ['add', 100, 5],
        ['add', 50, 3],
        ['remove', 20, 20],
        ['remove', 20, 20],
        ['remove', 1, 1],
      ],
    )
  })
})

describe('withRecentWrites', () => {
  it('keeps the last write of each account for ten minutes, at most five hundred', () => {
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
