import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Actor,
  decideRequest,
  type RequestAction,
} from '../../../shared/domain/membership-requests/decide-request.ts'
import type { AppliedPolicy } from '../../../shared/domain/membership-requests/join-policy.ts'
import type {
  LifecycleEntry,
  MembershipRequest,
  RequestStatus,
} from '../../../shared/domain/membership-requests/membership-request.ts'
import {
  APPLICATION,
  APPROVER,
  gate,
  NOW,
  NOW_MS,
  peopleFor,
  policyOf,
  requestIn,
  STRANGER,
  SUBJECT,
  SUBMITTER,
} from '../../support/domain/membership-requests/requests.ts'

const TWO_GATES = policyOf(gate(1), gate(2))

const CALLERS = [SUBJECT, SUBMITTER, APPROVER, STRANGER, APPLICATION] as const
const ACTIONS = ['open', 'approve', 'reject', 'cancel', 'leave', 'admit', 'end', 'move'] as const

const STATE = 'InvalidRequestState'

/**
 * The outcome of each action in each status, for subject, submitter, approver, stranger and application in this order;
 * one word when it is the same for all. An action that a status does not name is refused with `InvalidRequestState`. The
 * service performs `admit`, `end` and `move` itself and checks the caller's rights before.
 */
const TABLE: Readonly<Record<RequestStatus, Partial<Record<(typeof ACTIONS)[number], string>>>> = {
  Requested: {
    open: 'PendingApproval',
    cancel: 'Cancelled Cancelled NotRequester NotRequester NotRequester',
    admit: 'Joined',
    end: 'Cancelled',
  },
  PendingApproval: {
    approve: 'SelfApproval NotCurrentApprover PendingApproval NotCurrentApprover NotCurrentApprover',
    reject: 'SelfApproval NotCurrentApprover Rejected NotCurrentApprover NotCurrentApprover',
    cancel: 'Cancelled Cancelled NotRequester NotRequester NotRequester',
    admit: 'Joined',
    end: 'Cancelled',
    move: 'unchanged',
  },
  Joined: {
    leave: 'Left NotRequester NotRequester NotRequester NotRequester',
    end: 'Left',
  },
  Approved: {},
  Rejected: {},
  Cancelled: {},
  Left: {},
}

function decided(request: MembershipRequest, action: RequestAction, policy: AppliedPolicy = TWO_GATES) {
  return decideRequest(request, policy, peopleFor(action.actor), action, NOW_MS)
}

function outcomeOf(request: MembershipRequest, kind: RequestAction['kind'], actor: Actor): string {
  const decision = decided(request, { kind, actor })
  if (decision.outcome === 'refuse') return decision.code
  return decision.outcome === 'next' ? decision.request.status : decision.outcome
}

/** The statuses that the action added to the lifecycle. */
function entries(
  before: MembershipRequest,
  action: RequestAction,
  policy: AppliedPolicy = TWO_GATES,
): LifecycleEntry[] {
  const decision = decided(before, action, policy)
  if (decision.outcome !== 'next') throw new Error(`The action came out as ${decision.outcome}`)
  assert.deepEqual(decision.request.lifecycle.slice(0, before.lifecycle.length), before.lifecycle)
  assert.equal(decision.request.updatedAt, NOW)
  return decision.request.lifecycle.slice(before.lifecycle.length)
}

describe('an action on a request', () => {
  for (const [status, row] of Object.entries(TABLE)) {
    for (const kind of ACTIONS) {
      const cells = (row[kind] ?? STATE).split(' ')
      for (const [index, actor] of CALLERS.entries()) {
        const expected = cells[index] ?? cells[0]
        it(`${status}, ${kind} by ${actor.id}: ${expected}`, () => {
          assert.equal(outcomeOf(requestIn(status as RequestStatus), kind, actor), expected)
        })
      }
    }
  }

  it('joins immediately when there is no gate or no approval is required', () => {
    const request = requestIn('Requested')
    const joined = [{ status: 'Joined', actorId: 'subject', at: NOW }]
    assert.deepEqual(entries(request, { kind: 'open', actor: SUBJECT }, policyOf()), joined)
    const unused = { ...TWO_GATES, approvalRequired: false }
    assert.deepEqual(entries(request, { kind: 'open', actor: SUBJECT }, unused), joined)
  })

  it('waits at the first gate when it opens', () => {
    const pending = [{ status: 'PendingApproval', actorId: 'subject', at: NOW, gate: { order: 1, type: 'Identity' } }]
    assert.deepEqual(entries(requestIn('Requested'), { kind: 'open', actor: SUBJECT }), pending)
  })

  it('records an approval with gate and notes, followed by the resulting status', () => {
    const approval = { kind: 'approve', actor: APPROVER, notes: 'Fine' } as const
    assert.deepEqual(entries(requestIn('PendingApproval'), approval), [
      { status: 'Approved', actorId: 'approver', at: NOW, gate: { order: 1, type: 'Identity' }, notes: 'Fine' },
      { status: 'PendingApproval', actorId: 'approver', at: NOW, gate: { order: 2, type: 'Identity' } },
    ])
    const last = requestIn('PendingApproval', {
      currentGate: { order: 2, type: 'Identity', approverCount: 1 },
      approvals: [{ type: 'Identity', approvers: ['approver'] }],
    })
    assert.deepEqual(entries(last, approval), [
      { status: 'Approved', actorId: 'approver', at: NOW, gate: { order: 2, type: 'Identity' }, notes: 'Fine' },
      { status: 'Joined', actorId: 'approver', at: NOW },
    ])
  })

  it('leaves a current gate only while the request is pending', () => {
    const decision = decided(requestIn('PendingApproval'), { kind: 'reject', actor: APPROVER })
    assert.equal(decision.outcome === 'next' ? decision.request.currentGate : undefined, null)
  })

  it('knows the approvers of its gate, as the policy names them, only while it is pending', () => {
    const opened = decided(requestIn('Requested'), { kind: 'open', actor: SUBJECT })
    assert.ok(opened.outcome === 'next')
    assert.deepEqual(opened.request.gateApprovers, ['approver'])
    const approvers = ['approver', 'another']
    const policy = { ...policyOf({ ...gate(1), approvers }), version: 2 }
    const moved = decided(opened.request, { kind: 'move', actor: APPLICATION }, policy)
    assert.ok(moved.outcome === 'next')
    assert.deepEqual(moved.request.gateApprovers, approvers)
    const rejected = decided(moved.request, { kind: 'reject', actor: APPROVER }, policy)
    assert.ok(rejected.outcome === 'next' && !('gateApprovers' in rejected.request))
  })

  it('is refused at a gate that the policy does not have', () => {
    const decision = decided(requestIn('PendingApproval'), { kind: 'approve', actor: APPROVER }, policyOf(gate(7)))
    assert.deepEqual(decision, { outcome: 'refuse', code: 'InvalidRequestState' })
  })
})

describe('a changed join policy', () => {
  const passedFirst = requestIn('PendingApproval', {
    currentGate: { order: 2, type: 'Identity', approverCount: 1 },
    lifecycle: [{ status: 'Approved', actorId: 'approver', at: NOW, gate: { order: 1, type: 'Identity' } }],
    approvals: [{ type: 'Identity', approvers: ['approver'] }],
  })
  const move = { kind: 'move', actor: APPLICATION, notes: 'Changed' } as const
  const cases: readonly (readonly [string, AppliedPolicy, number | 'Joined' | 'unchanged'])[] = [
    ['keeps the request at a gate that still exists', policyOf(gate(1), gate(2), gate(3)), 'unchanged'],
    [
      'keeps the request when an earlier gate changes',
      policyOf(gate(1), { ...gate(2), approvers: ['another'] }),
      'unchanged',
    ],
    ['moves the request to the first remaining gate when its gate was removed', policyOf(gate(1), gate(3), gate(4)), 3],
    ['moves the request when its gate was removed and another follows', policyOf(gate(1), { ...gate(3) }), 3],
    ['keeps the request at a gate of the same order and another type', policyOf(gate(1), gate(2, 'Manager')), 2],
    ['admits the request when no gate remains', policyOf(gate(1)), 'Joined'],
    ['admits the request when approval is no longer required', policyOf(), 'Joined'],
  ]
  for (const [claim, policy, expected] of cases) {
    it(claim, () => {
      const decision = decided(passedFirst, move, policy)
      if (decision.outcome !== 'next') assert.equal(decision.outcome, expected)
      else if (expected === 'Joined') assert.equal(decision.request.status, 'Joined')
      else {
        const type = policy.approvalGates.find(({ order }) => order === expected)?.type
        assert.deepEqual(decision.request.currentGate, { order: expected, type, approverCount: 1 })
        assert.deepEqual(decision.request.lifecycle.at(-1), {
          status: 'PendingApproval',
          actorId: 'application',
          at: NOW,
          gate: { order: expected, type },
          notes: 'Changed',
        })
      }
    })
  }

  it('skips gates that approved the request under the old policy', () => {
    const movedBack = { ...passedFirst, currentGate: { order: 0.5, type: 'Identity' as const, approverCount: 1 } }
    const policy = policyOf(gate(0.5), gate(1), gate(2))
    const decision = decided(movedBack, { kind: 'approve', actor: APPROVER }, policy)
    assert.equal(decision.outcome === 'next' ? decision.request.currentGate?.order : undefined, 2)
  })

  it('counts an approval for the gate of the same type and approvers, wherever that gate now stands', () => {
    const first = { ...gate(1), approvers: ['another'] }
    for (const [policy, expected] of [
      [policyOf(first, gate(2), gate(3)), 1],
      [policyOf({ ...gate(1), approvers: ['approver', 'another'] }, gate(2)), 1],
      [policyOf(gate(3), { ...gate(4), approvers: ['another'] }), 4],
    ] as const) {
      const decision = decided(passedFirst, move, policy)
      assert.equal(decision.outcome === 'next' ? decision.request.currentGate?.order : undefined, expected)
    }
  })

  it('counts approvals of earlier releases for the gates of the same order and type', () => {
    const { approvals: _approvals, policyVersion: _policyVersion, ...before } = passedFirst
    const decision = decided(before, move, policyOf({ ...gate(1), approvers: ['another'] }, gate(2)))
    assert.ok(decision.outcome === 'next')
    assert.deepEqual(decision.request.approvals, [{ type: 'Identity', approvers: ['another'] }])
    assert.deepEqual([decision.request.currentGate?.order, decision.request.policyVersion], [2, 1])
  })

  it('cancels the request at the next gate, and instead of the grant, when the subject is no longer eligible', () => {
    const facts = { mayDecide: () => true, approverCount: () => 1, isEligible: false }
    const cancelled = [{ status: 'Cancelled', actorId: 'system', at: NOW, notes: 'NotEligible' }]
    for (const policy of [policyOf(gate(1)), policyOf(gate(1), gate(3))]) {
      const decision = decideRequest(passedFirst, policy, facts, move, NOW_MS)
      assert.ok(decision.outcome === 'next')
      assert.deepEqual(decision.request.lifecycle.slice(1), cancelled)
    }
    const approval = { kind: 'approve', actor: APPROVER } as const
    for (const policy of [policyOf(gate(1), gate(2)), policyOf(gate(1), gate(2), gate(3))]) {
      const decision = decideRequest(passedFirst, policy, facts, approval, NOW_MS)
      assert.ok(decision.outcome === 'next')
      assert.deepEqual(decision.request.lifecycle.slice(2), cancelled)
    }
  })

  it('updates the approver count without a lifecycle entry', () => {
    const policy = policyOf(gate(1), gate(2))
    const approvers = { mayDecide: () => false, approverCount: () => 4, isEligible: true }
    const decision = decideRequest(passedFirst, policy, approvers, move, NOW_MS)
    assert.equal(decision.outcome === 'next' ? decision.request.currentGate?.approverCount : undefined, 4)
    assert.equal(decision.outcome === 'next' ? decision.request.lifecycle.length : undefined, 1)
  })
})
