import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MembershipRequest } from '../../../shared/domain/membership-requests/membership-request.ts'
import {
  tellingDueMs,
  withEndingTold,
  withReminder,
  withTold,
} from '../../../shared/domain/membership-requests/reminders.ts'
import { requestIn } from '../../support/domain/membership-requests/requests.ts'

const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
const NOW = '2030-01-02T00:00:00.000+00:00'
const DAY_MS = 86_400_000
const END = '2030-01-20T00:00:00.000+00:00'
const TOLD_FROM_MS = Date.parse('2030-01-13T00:00:00Z')
const EXTENSION = {
  ...{ endsAt: END, requestedBy: 'subject', requestedAt: NOW, approvals: [], policyVersion: 1 },
  currentGate: { order: 1, type: 'Identity', approverCount: 1 },
} as const
const reminder = (dueAtMs: number) => ({ days: 2, dueAtMs })

describe('The service next tells of', () => {
  for (const [claim, request, expected] of [
    ['an end, seven days before it', requestIn('Joined', { endsAt: END }), TOLD_FROM_MS],
    ['no end that it has told', requestIn('Joined', { endsAt: END, endingTold: { endsAt: END, at: NOW } }), undefined],
    ['another end again', requestIn('Joined', { endsAt: END, endingTold: { endsAt: NOW, at: NOW } }), TOLD_FROM_MS],
    ['no membership without an end', requestIn('Joined'), undefined],
    ['a waiting request when its reminder is due', requestIn('PendingApproval', { reminder: reminder(7) }), 7],
    [
      'no waiting request without reminders, even one with an end',
      requestIn('PendingApproval', { endsAt: END }),
      undefined,
    ],
    [
      'a waiting extension when its reminder is due',
      requestIn('Joined', { extension: EXTENSION, reminder: reminder(7) }),
      7,
    ],
    ['no reminder of what waits no more', requestIn('Joined', { reminder: reminder(7) }), undefined],
    ['no reminder of what has ended', requestIn('Left', { extension: EXTENSION, reminder: reminder(7) }), undefined],
    [
      'the first of both',
      requestIn('Joined', { endsAt: END, extension: EXTENSION, reminder: reminder(TOLD_FROM_MS + 1) }),
      TOLD_FROM_MS,
    ],
  ] as const)
    it(claim, () => assert.equal(tellingDueMs(request), expected))
})

describe('A near end', () => {
  const member = requestIn('Joined', { endsAt: END })

  it('is told from seven days before on', () => {
    assert.equal(withEndingTold(member, TOLD_FROM_MS - 1), member)
    const at = '2030-01-13T00:00:00.000+00:00'
    assert.deepEqual(withEndingTold(member, TOLD_FROM_MS), { ...member, endingTold: { endsAt: END, at } })
  })

  it('is told once', () => {
    const told = withEndingTold(member, TOLD_FROM_MS)
    assert.equal(withEndingTold(told, TOLD_FROM_MS + 1), told)
    assert.equal(withTold(told, TOLD_FROM_MS + 1), undefined)
  })

  it('is none of a membership without an end', () => {
    const endless = requestIn('Joined')
    assert.equal(withEndingTold(endless, TOLD_FROM_MS), endless)
    assert.equal(withTold(endless, TOLD_FROM_MS), undefined)
  })
})

describe('A reminder', () => {
  const waiting = (dueAtMs: number, changes: Partial<MembershipRequest> = {}) =>
    requestIn('PendingApproval', { reminder: reminder(dueAtMs), ...changes })

  it('is told when it is due, and is due again after its days', () => {
    const told = withTold(waiting(NOW_MS), NOW_MS)
    assert.deepEqual(told?.reminder, { days: 2, lastAt: NOW, dueAtMs: NOW_MS + 2 * DAY_MS })
    assert.equal(withTold(waiting(NOW_MS + 1), NOW_MS), undefined)
  })

  it('is one for all that a service that was down has missed', () => {
    const dueAtMs = NOW_MS - 5 * DAY_MS
    assert.equal(withTold(waiting(dueAtMs), NOW_MS)?.reminder?.dueAtMs, NOW_MS + DAY_MS)
    const exactly = NOW_MS - 4 * DAY_MS
    assert.equal(withTold(waiting(exactly), NOW_MS)?.reminder?.dueAtMs, NOW_MS + 2 * DAY_MS)
  })

  it('is not told of what waits no more', () => {
    assert.equal(withTold(waiting(NOW_MS, { status: 'Joined' }), NOW_MS), undefined)
  })

  it('is told together with a near end', () => {
    const both = requestIn('Joined', { endsAt: END, extension: EXTENSION, reminder: reminder(NOW_MS) })
    const told = withTold(both, TOLD_FROM_MS)
    assert.equal(told?.endingTold?.endsAt, END)
    assert.equal(told?.reminder?.lastAt, told?.endingTold?.at)
    const ending = withTold({ ...both, reminder: reminder(TOLD_FROM_MS + 1) }, TOLD_FROM_MS)
    assert.deepEqual([ending?.endingTold?.endsAt, ending?.reminder?.lastAt], [END, undefined])
  })

  it('is that of the gate: first due after its days there, none at a gate without', () => {
    const request = waiting(7)
    assert.deepEqual(withReminder(request, { reminderDays: 3 }, NOW_MS).reminder, {
      days: 3,
      dueAtMs: NOW_MS + 3 * DAY_MS,
    })
    assert.equal('reminder' in withReminder(request, {}, NOW_MS), false)
  })
})
