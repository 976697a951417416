import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type GroupLink, newLink } from '../../../shared/domain/group-links/group-link.ts'
import { EMPTY_WINDOW, withOpenRemovals } from '../../../shared/domain/group-links/removal-window.ts'
import { newJob } from '../../../shared/domain/group-links/sync-job.ts'
import { GroupRecord } from '../../../shared/domain/sync/group-record.ts'
import { planBatch } from '../../../shared/domain/sync/plan-sync.ts'
import { WRITE_LIMITS } from '../../../shared/graph/write-members.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const names = {
  id: 'link',
  tenantId: 'tenant',
  collectionId: 'c',
  directoryGroupId: 'g',
  directoryGroupDisplayName: null,
}
const link = newLink(names, NOW_MS)

/** Accounts in ascending order. */
const accounts = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `a${String(from + index).padStart(4, '0')}`)

/** The record of a worker that is to remove `accounts(0, 600)`. */
function recordOf(before: GroupLink = link) {
  const plan = planBatch(
    { accounts: new Set(['b']), withoutAccountCount: 0, membershipVersion: 1, isCurrent: true },
    { users: new Set([...accounts(0, 600), 'b']), others: new Set() },
    {
      job: newJob({ id: 'job', type: 'ManualSync' }, before, NOW_MS),
      link: before,
      guard: { enabled: false, percent: 20, minimum: 0 },
      approved: new Set(),
    },
    { limits: WRITE_LIMITS, nowMs: NOW_MS },
  )
  const record = new GroupRecord(before)
  record.plan(plan)
  const [first, second, ...others] = plan.steps
  assert.ok(first !== undefined && second !== undefined)
  return { record, first, second, last: others.at(-1) ?? second }
}

const counting = (count: number): GroupLink => {
  return { ...link, removalWindow: withOpenRemovals(EMPTY_WINDOW, accounts(0, count), 601) }
}

describe('The removals that are counted before a step', () => {
  it('are its own and those that follow, up to 500', () => {
    const { record, first, last } = recordOf()
    assert.deepEqual(record.removalsToCount(first, EMPTY_WINDOW), accounts(0, 500))
    assert.deepEqual(record.removalsToCount(last, EMPTY_WINDOW), accounts(580, 20))
  })

  it('are none when its own are counted', () => {
    const { record, first, second } = recordOf()
    assert.deepEqual(record.removalsToCount(first, counting(20).removalWindow), [])
    assert.deepEqual(record.removalsToCount(second, counting(39).removalWindow), accounts(39, 481))
  })
})

describe('Removals that were counted and not sent', () => {
  it('do not count once no more steps are sent', () => {
    const { record, first } = recordOf()
    record.removalsToCount(first, EMPTY_WINDOW)
    record.send(first)
    const { removalWindow } = record.recordedWith(counting(500), NOW_MS)
    assert.equal(removalWindow.open?.accounts.length, 500)
    record.end()
    assert.deepEqual(record.recordedWith(counting(500), NOW_MS).removalWindow, counting(20).removalWindow)
  })

  it('count on when another worker has counted them', () => {
    const before = counting(20)
    const { record, second } = recordOf(before)
    assert.deepEqual(record.removalsToCount(second, before.removalWindow), accounts(20, 500))
    record.end()
    assert.deepEqual(record.recordedWith(counting(520), NOW_MS).removalWindow, before.removalWindow)
  })
})
