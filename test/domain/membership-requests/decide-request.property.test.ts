import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decideRequest, type RequestAction } from '../../../shared/domain/membership-requests/decide-request.ts'
import { gatesOf } from '../../../shared/domain/membership-requests/join-policy.ts'
import { isLive, type RequestStatus } from '../../../shared/domain/membership-requests/membership-request.ts'
import {
  APPLICATION,
  APPROVER,
  gate,
  NOW_MS,
  peopleFor,
  policyOf,
  requestIn,
  STRANGER,
  SUBJECT,
  SUBMITTER,
} from '../../support/domain/membership-requests/requests.ts'

/** The statuses that each lifecycle status may follow. */
const FOLLOWS: Readonly<Record<RequestStatus, readonly RequestStatus[]>> = {
  Requested: [],
  PendingApproval: ['Requested', 'Approved', 'PendingApproval'],
  Approved: ['PendingApproval'],
  Joined: ['Requested', 'Approved', 'PendingApproval'],
  Rejected: ['PendingApproval'],
  Cancelled: ['Requested', 'PendingApproval'],
  Left: ['Joined'],
}

const policies = fc
  .uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 4 })
  .map((orders) => policyOf(...orders.sort((left, right) => left - right).map((order) => gate(order))))
const actions = fc.record({
  kind: fc.constantFrom<RequestAction['kind'][]>(
    'open',
    'approve',
    'reject',
    'cancel',
    'leave',
    'admit',
    'end',
    'move',
  ),
  actor: fc.constantFrom(SUBJECT, SUBMITTER, APPROVER, STRANGER, APPLICATION),
})
const steps = fc.array(fc.oneof({ weight: 5, arbitrary: actions }, { weight: 1, arbitrary: policies }), {
  maxLength: 20,
})

describe('any series of actions and policies', () => {
  it('follows the table of transitions and keeps all lifecycle entries', () => {
    fc.assert(
      fc.property(policies, steps, (firstPolicy, series) => {
        let policy = firstPolicy
        let request = requestIn('Requested')
        for (const step of series) {
          if ('approvalGates' in step) {
            policy = step
            continue
          }
          const decision = decideRequest(request, policy, peopleFor(step.actor), step, NOW_MS)
          if (decision.outcome !== 'next') continue
          const after = decision.request
          assert.deepEqual(after.lifecycle.slice(0, request.lifecycle.length), request.lifecycle)
          for (let index = request.lifecycle.length; index < after.lifecycle.length; index += 1) {
            const [from, to] = [after.lifecycle[index - 1]?.status, after.lifecycle[index]?.status]
            assert.ok(from !== undefined && to !== undefined && FOLLOWS[to].includes(from), `${from} to ${to}`)
          }
          assert.equal(after.status, after.lifecycle.at(-1)?.status)
          assert.equal(after.currentGate !== null, after.status === 'PendingApproval')
          if (after.currentGate !== null && step.kind !== 'end') {
            assert.ok(gatesOf(policy).some(({ order }) => order === after.currentGate?.order))
          }
          assert.ok(isLive(request), 'what has ended stays as it is')
          request = after
        }
      }),
      { numRuns: 2000 },
    )
  })
})
