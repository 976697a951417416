import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  allowedEnd,
  deadlineOf,
  dueAtMs,
  futureEndMs,
  grantedEnd,
  isOverdue,
  lastToEnd,
  laterEnd,
} from '../../../shared/domain/membership-requests/ends.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { timeZoneOf } from '../../../shared/kernel/time-zone.ts'
import { policyOf, requestIn } from '../../support/domain/membership-requests/requests.ts'

const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
const OSLO = timeZoneOf('Europe/Oslo')
const at = (text: string) => `2030-${text}T00:00:00.000+00:00`
const refused = (code: string, target: string) => (error: unknown) =>
  error instanceof Refusal && error.code === code && error.entries[0]?.target === target
const withDays = (maxDays: number) => ({ ...policyOf(), maxDays })

describe('An end as sent', () => {
  it('is the midnight with which a date begins in the time zone', () => {
    assert.equal(futureEndMs('2030-01-03', OSLO, NOW_MS), Date.parse('2030-01-02T23:00:00Z'))
  })

  it('is in the future', () => {
    assert.equal(futureEndMs('2030-01-02T00:00:00.001Z', OSLO, NOW_MS), NOW_MS + 1)
    for (const text of ['2030-01-02T00:00:00Z', '2030-01-02', '2029-12-31', 'tomorrow', '']) {
      assert.throws(() => futureEndMs(text, OSLO, NOW_MS), refused('InvalidEnd', '/endsAt'), text)
    }
    assert.throws(() => futureEndMs('x', OSLO, NOW_MS, '/until'), refused('InvalidEnd', '/until'))
  })

  it('is before the year 10000, beyond which the API has no timestamps', () => {
    const last = '9999-12-31T22:59:59.999-01:00'
    assert.equal(allowedEnd(futureEndMs(last, OSLO, NOW_MS), policyOf(), NOW_MS), '9999-12-31T23:59:59.999+00:00')
    for (const text of ['9999-12-31T23:00:00-01:00', '9999-12-31T23:59:59-23:59']) {
      assert.throws(() => futureEndMs(text, OSLO, NOW_MS), refused('InvalidEnd', '/endsAt'), text)
    }
  })

  it('is refused when it is later than the policy allows', () => {
    const dayMs = 86_400_000
    assert.equal(allowedEnd(NOW_MS + 10 * dayMs, withDays(10), NOW_MS), at('01-12'))
    const late = () => allowedEnd(NOW_MS + 10 * dayMs + 1, withDays(10), NOW_MS)
    assert.throws(late, refused('EndTooLate', '/endsAt'))
    assert.throws(late, /10 days: until 2030-01-12T/)
  })

  it('may be any time without a limit, and may be left out', () => {
    assert.equal(allowedEnd(Date.parse('2099-01-01T00:00:00Z'), policyOf(), NOW_MS), '2099-01-01T00:00:00.000+00:00')
    assert.equal(allowedEnd(undefined, withDays(10), NOW_MS), undefined)
  })
})

describe('The end of a membership that is granted', () => {
  for (const [claim, asked, policy, expected] of [
    ['is the one that was asked for', at('01-05'), policyOf(), at('01-05')],
    ['is the last one that the policy allows', undefined, withDays(10), at('01-12')],
    ['is the earlier of both', at('01-05'), withDays(10), at('01-05')],
    ['is not later than the policy allows by now', at('02-01'), withDays(10), at('01-12')],
    ['is none without either', undefined, policyOf(), undefined],
    ['is the one that was asked for, also when it has passed since', at('01-01'), withDays(10), at('01-01')],
  ] as const)
    it(claim, () => assert.equal(grantedEnd(asked, policy, NOW_MS), expected))

  it('counts the days of the policy from the call, for an extension that is approved later', () => {
    assert.equal(grantedEnd(undefined, withDays(10), Date.parse('2030-01-01T00:00:00Z')), at('01-11'))
  })
})

describe('The service ends', () => {
  const extension = (endsAt: string) => ({
    ...{ endsAt, requestedBy: 'subject', requestedAt: at('01-01'), approvals: [], policyVersion: 1 },
    currentGate: { order: 1, type: 'Identity' as const, approverCount: 1 },
  })
  const days = (text: string) => Date.parse(at(text))

  for (const [claim, request, expected] of [
    ['a membership at its end', requestIn('Joined', { endsAt: at('01-05') }), days('01-05')],
    ['no membership without an end', requestIn('Joined'), undefined],
    [
      'a membership whose extension waits up to 14 days later',
      requestIn('Joined', { endsAt: at('01-05'), extension: extension(at('03-01')) }),
      days('01-19'),
    ],
    [
      'it at the end that the extension asks for, when that is earlier',
      requestIn('Joined', { endsAt: at('01-05'), extension: extension(at('01-10')) }),
      days('01-10'),
    ],
    [
      'it not before its end, whatever the extension asks for',
      requestIn('Joined', { endsAt: at('01-05'), extension: extension(at('01-03')) }),
      days('01-05'),
    ],
    ['a waiting request at its own end', requestIn('PendingApproval', { endsAt: at('01-05') }), days('01-05')],
    [
      'it at its deadline, when that is earlier',
      requestIn('PendingApproval', { endsAt: at('01-05'), deadlineMs: 7 }),
      7,
    ],
    ['a waiting request at its deadline', requestIn('PendingApproval', { deadlineMs: 7 }), 7],
    ['no waiting request without either', requestIn('PendingApproval'), undefined],
    ['nothing that has ended', requestIn('Left', { endsAt: at('01-05'), deadlineMs: 7 }), undefined],
    ['nothing that was cancelled', requestIn('Cancelled', { endsAt: at('01-05'), deadlineMs: 7 }), undefined],
  ] as const)
    it(claim, () => assert.equal(dueAtMs(request), expected))

  it('what is due, and nothing before', () => {
    const request = requestIn('Joined', { endsAt: at('01-05') })
    assert.deepEqual([isOverdue(request, days('01-05') - 1), isOverdue(request, days('01-05'))], [false, true])
    assert.equal(isOverdue(requestIn('Joined'), NOW_MS), false)
  })
})

describe('The later of two ends', () => {
  it('is none when one of them is none', () => {
    assert.deepEqual([laterEnd(undefined, at('01-05')), laterEnd(at('01-05'), undefined)], [undefined, undefined])
  })

  it('is the one of the later time, in whatever offset it is written', () => {
    assert.equal(laterEnd(at('01-05'), at('01-06')), at('01-06'))
    assert.equal(laterEnd(at('01-06'), at('01-05')), at('01-06'))
    const [first, second] = ['2030-01-05T01:00:00+00:00', '2030-01-05T02:00:00+02:00']
    assert.deepEqual([laterEnd(first, second), laterEnd(second, first)], [first, first])
    assert.equal(laterEnd('2030-01-05T01:00:00Z', '2030-01-05T01:00:00+00:00'), '2030-01-05T01:00:00Z')
  })
})

describe('The last of several requests to end', () => {
  const [early, late] = [at('01-05'), at('01-06')]
  const found = (...requests: Parameters<typeof requestIn>[1][]) =>
    lastToEnd(requests.map((changes) => requestIn('Joined', changes)))?.id

  it('is the one without an end, or else the one with the latest', () => {
    assert.equal(found({ id: 'a', endsAt: early }, { id: 'b' }, { id: 'c', endsAt: late }), 'b')
    assert.equal(found({ id: 'a', endsAt: early }, { id: 'b', endsAt: late }), 'b')
    assert.equal(found({ id: 'a', endsAt: late }, { id: 'b', endsAt: early }), 'a')
    assert.equal(found(), undefined)
  })

  it('is the oldest of those that end at the same time, or else the one with the first id', () => {
    for (const end of [{}, { endsAt: late }]) {
      const [old, young] = [
        { id: 'b', createdAt: at('01-01'), ...end },
        { id: 'a', createdAt: at('01-02'), ...end },
      ]
      assert.deepEqual([found(old, young), found(young, old)], ['b', 'b'])
      assert.deepEqual(
        [found({ id: 'a', ...end }, { id: 'b', ...end }), found({ id: 'b', ...end }, { id: 'a', ...end })],
        ['a', 'a'],
      )
    }
  })
})

describe('A waiting request', () => {
  it('is decided within the days of the policy after it was made', () => {
    const { createdAt } = requestIn('PendingApproval')
    assert.equal(deadlineOf({ createdAt }, { requestDays: 3 }), Date.parse('2030-01-04T00:00:00Z'))
    assert.equal(deadlineOf({ createdAt }, {}), undefined)
  })
})
