import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  decideRequest,
  type PolicyFacts,
  type RequestAction,
} from '../../../shared/domain/membership-requests/decide-request.ts'
import type { AppliedPolicy } from '../../../shared/domain/membership-requests/join-policy.ts'
import type { MembershipRequest } from '../../../shared/domain/membership-requests/membership-request.ts'
import {
  APPROVER,
  gate,
  NOW,
  NOW_MS,
  peopleFor,
  policyOf,
  requestIn,
  STRANGER,
  SUBJECT,
} from '../../support/domain/membership-requests/requests.ts'

const YESTERDAY = '2030-01-01T00:00:00.000+00:00'
const IN_TEN_DAYS = '2030-01-12T00:00:00.000+00:00'
const IN_TWENTY_DAYS = '2030-01-22T00:00:00.000+00:00'
const DAY_MS = 86_400_000

const TWO_GATES = policyOf(gate(1), gate(2))
const NO_GATES = policyOf()
const FACTS: PolicyFacts = { ...peopleFor(APPROVER), mayExtend: true }

const decided = (
  request: MembershipRequest,
  action: Partial<RequestAction> & Pick<RequestAction, 'kind'>,
  policy: AppliedPolicy = TWO_GATES,
  facts: PolicyFacts = FACTS,
) => decideRequest(request, policy, facts, { actor: APPROVER, ...action }, NOW_MS)

/** A membership whose lifecycle takes this many bytes in JSON. */
function membershipOf(lifecycleBytes: number): MembershipRequest {
  const { lifecycle } = membership()
  const [first = assert.fail()] = lifecycle
  const notesOf = (notes: string) => ({ lifecycle: [{ ...first, notes }, ...lifecycle.slice(1)] })
  const bytes = Buffer.byteLength(JSON.stringify(notesOf('').lifecycle))
  return membership(notesOf('x'.repeat(lifecycleBytes - bytes)))
}

/** The request after an action that is not refused. */
function after(...given: Parameters<typeof decided>): MembershipRequest {
  const decision = decided(...given)
  if (decision.outcome !== 'next') assert.fail(JSON.stringify(decision))
  return decision.request
}

const codeOf = (...given: Parameters<typeof decided>): string => {
  const decision = decided(...given)
  return decision.outcome === 'refuse' ? decision.code : decision.outcome
}

const lastOf = ({ lifecycle }: MembershipRequest) => {
  const { status, actorId, notes } = lifecycle.at(-1) ?? assert.fail('There is no entry')
  return [status, actorId, notes]
}

const membership = (changes: Partial<MembershipRequest> = {}) =>
  requestIn('Joined', { endsAt: IN_TEN_DAYS, endingTold: { endsAt: IN_TEN_DAYS, at: YESTERDAY }, ...changes })

const EXTEND = { kind: 'extend', actor: SUBJECT, endsAt: IN_TWENTY_DAYS } as const
const waiting = () => after(membership(), EXTEND)

describe('A later end that is asked for', () => {
  const noApprover = { ...FACTS, approverCount: () => 0 }
  for (const [claim, requestOf, policy, facts, endsAt, expected] of [
    ['while another one waits', waiting, TWO_GATES, FACTS, IN_TWENTY_DAYS, 'InvalidRequestState'],
    ['after the end', () => membership({ endsAt: YESTERDAY }), TWO_GATES, FACTS, IN_TWENTY_DAYS, 'InvalidRequestState'],
    ['by another person', () => membership(), TWO_GATES, peopleFor(APPROVER), IN_TWENTY_DAYS, 'NotRequester'],
    ['of a membership without an end', () => requestIn('Joined'), TWO_GATES, FACTS, IN_TWENTY_DAYS, 'EndNotLater'],
    ['that is the present one', () => membership(), TWO_GATES, FACTS, IN_TEN_DAYS, 'EndNotLater'],
    [
      'by who may not join',
      () => membership(),
      TWO_GATES,
      { ...FACTS, isEligible: false },
      IN_TWENTY_DAYS,
      'NotEligible',
    ],
    ['at a gate without approvers', () => membership(), TWO_GATES, noApprover, IN_TWENTY_DAYS, 'NoApprover'],
    ['of a membership with 256 KB of entries', () => membershipOf(262_144), TWO_GATES, FACTS, IN_TWENTY_DAYS, 'next'],
    ['with more than those', () => membershipOf(262_145), TWO_GATES, FACTS, IN_TWENTY_DAYS, 'LifecycleTooLarge'],
    ['without gates and approvers', () => membership(), NO_GATES, noApprover, IN_TWENTY_DAYS, 'next'],
    ['at a gate with an approver', () => membership(), TWO_GATES, FACTS, IN_TWENTY_DAYS, 'next'],
  ] as const) {
    it(`${claim}: ${expected}`, () => {
      assert.equal(codeOf(requestOf(), { ...EXTEND, endsAt }, policy, facts), expected)
    })
  }

  it('is the end at once without gates', () => {
    const { status, endsAt, extension } = after(membership(), EXTEND, NO_GATES)
    assert.deepEqual([status, endsAt, extension], ['Joined', IN_TWENTY_DAYS, undefined])
  })

  it('waits at each gate while the membership stays, and is granted by the last one', () => {
    const first = waiting()
    const asking = { endsAt: IN_TWENTY_DAYS, requestedBy: 'subject', requestedAt: NOW, policyVersion: 1 }
    const currentGate = { order: 1, type: 'Identity', approverCount: 1 } as const
    assert.deepEqual([first.status, first.endsAt], ['Joined', IN_TEN_DAYS])
    assert.deepEqual(first.extension, { ...asking, currentGate, gateApprovers: ['approver'], approvals: [] })
    const policy = policyOf(gate(1), { ...gate(2), approvers: ['approver', 'other'] })
    const second = after(first, { kind: 'approve' }, policy)
    assert.deepEqual([second.status, second.extension?.currentGate.order], ['Joined', 2])
    const { status, endsAt, extension } = after(second, { kind: 'approve' }, policy)
    assert.deepEqual([status, endsAt, extension], ['Joined', IN_TWENTY_DAYS, undefined])
  })

  it('is dropped by a rejection, which leaves the end', () => {
    const { status, endsAt, extension } = after(waiting(), { kind: 'reject' })
    assert.deepEqual([status, endsAt, extension], ['Joined', IN_TEN_DAYS, undefined])
  })

  it('is decided by approvers only, and only while it waits', () => {
    const stranger = { kind: 'approve', actor: STRANGER } as const
    assert.equal(codeOf(waiting(), stranger, TWO_GATES, peopleFor(STRANGER)), 'NotCurrentApprover')
    assert.equal(codeOf(membership(), { kind: 'approve' }), 'InvalidRequestState')
  })

  it('ends with the membership', () => {
    const { status, extension } = after(waiting(), { kind: 'leave', actor: SUBJECT })
    assert.deepEqual([status, extension], ['Left', undefined])
  })
})

describe('What is past', () => {
  it('ends a membership, and cancels a request, by the system', () => {
    const ended = after(membership({ endsAt: YESTERDAY }), { kind: 'expire' })
    assert.deepEqual([ended.status, ...lastOf(ended)], ['Left', 'Left', 'system', 'Expired'])
    const cancelled = after(requestIn('PendingApproval', { deadlineMs: NOW_MS }), { kind: 'expire' })
    assert.deepEqual([cancelled.status, ...lastOf(cancelled)], ['Cancelled', 'Cancelled', 'system', 'Expired'])
  })

  it('leaves alone what ends later, and tells of a near end once', () => {
    assert.equal(codeOf(membership(), { kind: 'expire' }), 'unchanged')
    const { endsAt, endingTold } = after(requestIn('Joined', { endsAt: '2030-01-08T00:00:00.000+00:00' }), {
      kind: 'expire',
    })
    assert.deepEqual(endingTold, { endsAt, at: NOW })
  })

  it('is cancelled by a changed policy, is not approved any more, and can be rejected', () => {
    const overdue = requestIn('PendingApproval', { deadlineMs: NOW_MS - 1 })
    assert.deepEqual(lastOf(after(overdue, { kind: 'move' }, { ...TWO_GATES, version: 2 })), [
      'Cancelled',
      'system',
      'Expired',
    ])
    assert.equal(codeOf(overdue, { kind: 'approve' }), 'InvalidRequestState')
    assert.equal(after(overdue, { kind: 'reject' }).status, 'Rejected')
    assert.equal(codeOf(requestIn('PendingApproval'), { kind: 'move' }), 'unchanged')
  })
})

describe('The time that a policy sets', () => {
  it('is a deadline from the creation of a request', () => {
    const withDays = after(requestIn('Requested'), { kind: 'open' }, { ...TWO_GATES, requestDays: 5 })
    assert.equal(withDays.deadlineMs, Date.parse(YESTERDAY) + 5 * DAY_MS)
    assert.equal('deadlineMs' in after(requestIn('Requested', { deadlineMs: 1 }), { kind: 'open' }), false)
  })

  it('is another rhythm of reminders from when the request waits, where the policy changes it', () => {
    const reminder = { days: 2, dueAtMs: NOW_MS + 1, lastAt: YESTERDAY }
    const request = requestIn('PendingApproval', { reminder })
    const under = (reminderDays?: number) => {
      const first = reminderDays === undefined ? gate(1) : { ...gate(1), reminderDays }
      return after(request, { kind: 'move' }, { ...policyOf(first, gate(2)), version: 2 }).reminder
    }
    assert.deepEqual(under(2), reminder)
    assert.deepEqual(under(3), { days: 3, dueAtMs: Date.parse(YESTERDAY) + 3 * DAY_MS })
    assert.equal(under(), undefined)
  })

  it('is not the end of a person who is added directly until another one', () => {
    const request = requestIn('PendingApproval', { endsAt: IN_TEN_DAYS })
    assert.equal(after(request, { kind: 'admit', endsAt: IN_TWENTY_DAYS }).endsAt, IN_TWENTY_DAYS)
    assert.equal(after(request, { kind: 'admit' }).endsAt, IN_TEN_DAYS)
  })

  it('is the end of a person who is added directly while a request whose end is past waits', () => {
    const request = requestIn('PendingApproval', { endsAt: NOW })
    assert.equal('endsAt' in after(request, { kind: 'admit' }), false)
    assert.equal(after(request, { kind: 'admit' }, { ...TWO_GATES, maxDays: 10 }).endsAt, IN_TEN_DAYS)
  })

  it('is not the end of a person who is added until a time that has passed since', () => {
    const admit = { kind: 'admit', endsAt: YESTERDAY } as const
    assert.equal(after(requestIn('PendingApproval'), admit, { ...TWO_GATES, maxDays: 10 }).endsAt, YESTERDAY)
  })
})

describe('A rejection under a policy that needs a reason', () => {
  const policy = { ...TWO_GATES, rejectionNeedsReason: true }
  for (const [notes, expected] of [
    [undefined, 'NotesRequired'],
    [' \n', 'NotesRequired'],
    ['Not this year', 'next'],
  ] as const) {
    it(`with ${JSON.stringify(notes) ?? 'no notes'}: ${expected}`, () => {
      assert.equal(codeOf(requestIn('PendingApproval'), { kind: 'reject', notes }, policy), expected)
    })
  }

  it('needs none for an approval, nor without that rule', () => {
    assert.equal(codeOf(requestIn('PendingApproval'), { kind: 'approve' }, policy), 'next')
    assert.equal(codeOf(requestIn('PendingApproval'), { kind: 'reject' }), 'next')
    const explicit = { ...TWO_GATES, rejectionNeedsReason: false }
    assert.equal(codeOf(requestIn('PendingApproval'), { kind: 'reject' }, explicit), 'next')
  })
})
