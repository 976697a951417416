import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSameGate } from '../../../shared/domain/membership-requests/approvals.ts'
import type { AppliedPolicy, ApprovalGate } from '../../../shared/domain/membership-requests/join-policy.ts'
import { gate, policyOf } from '../../support/domain/membership-requests/requests.ts'

const of = (order: number, ...approvers: string[]): ApprovalGate => ({ ...gate(order), approvers })
const collection = (order: number, ...approvers: string[]): ApprovalGate => ({
  ...gate(order, 'Collection'),
  approvers,
})
/** A request that waits at the second gate, for Bo. */
const BO = { currentGate: { order: 2, type: 'Identity', approverCount: 1 } as const, gateApprovers: ['bo'] }

describe('The gate of a changed policy where a request comes to stand', () => {
  const cases: readonly (readonly [string, AppliedPolicy, boolean])[] = [
    ['the same one with the same approvers', policyOf(of(1, 'anna'), of(2, 'bo')), true],
    ['the same one with another approver besides', policyOf(of(1, 'anna'), of(2, 'cara', 'bo')), true],
    ['the same one beside another with the same approvers', policyOf(of(2, 'bo'), of(3, 'bo')), true],
    ['another one where its approvers are replaced', policyOf(of(1, 'anna'), of(2, 'cara')), false],
    ['another one where the former gate follows it', policyOf(of(1, 'anna'), of(2, 'cara', 'bo'), of(3, 'bo')), false],
    ['another one of another type', policyOf(of(1, 'anna'), collection(2, 'bo')), false],
    ['another one at another place', policyOf(of(1, 'anna'), of(3, 'bo')), false],
  ]
  for (const [claim, policy, expected] of cases) {
    it(`is ${claim}`, () => {
      assert.equal(
        isSameGate(BO, policy.approvalGates.find(({ order }) => order >= 2) as ApprovalGate, policy),
        expected,
      )
    })
  }

  it('is the same one for approvers in another order, whose number does not matter', () => {
    const waiting = { ...BO, gateApprovers: ['bo', 'anna'] }
    for (const approvers of [['anna', 'bo'], ['anna']]) {
      assert.equal(isSameGate(waiting, of(2, ...approvers), policyOf(of(2, ...approvers))), true)
    }
  })

  it('is the same one of the manager, of which there is one', () => {
    const waiting = { currentGate: { order: 2, type: 'Manager', approverCount: 1 } as const, gateApprovers: [] }
    assert.equal(isSameGate(waiting, gate(2, 'Manager'), policyOf(gate(2, 'Manager'))), true)
  })

  it('is the same one where a request of an earlier release waits, which does not know its approvers', () => {
    const { gateApprovers: _gateApprovers, ...earlier } = BO
    assert.equal(isSameGate(earlier, of(2, 'cara'), policyOf(of(2, 'cara'))), true)
    assert.equal(isSameGate(earlier, of(3, 'bo'), policyOf(of(3, 'bo'))), false)
  })

  it('is another one where the request waits nowhere', () => {
    assert.equal(isSameGate({ ...BO, currentGate: null }, of(2, 'bo'), policyOf(of(2, 'bo'))), false)
  })
})
