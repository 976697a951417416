import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkJoinPolicy } from '../../../shared/domain/membership-requests/check-join-policy.ts'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'

const faultsOf = (...args: Parameters<typeof checkJoinPolicy>) =>
  checkJoinPolicy(...args).faults.map(({ code, target }) => `${code} ${target}`)

describe('a join policy', () => {
  it('is stored with gates in order, without duplicate ids, with all members', () => {
    const { policy, faults } = checkJoinPolicy({
      approvalRequired: true,
      approvalGates: [
        { order: 5, type: 'Manager' },
        { order: 2, type: 'Identity', approvers: [ID, ID] },
      ],
    })
    assert.deepEqual(faults, [])
    assert.deepEqual(policy, {
      approvalRequired: true,
      approvalGates: [
        { order: 2, type: 'Identity', approvers: [ID] },
        { order: 5, type: 'Manager', approvers: [] },
      ],
      joinableBy: { collectionIds: [] },
    })
  })

  it('needs no gates when no approval is required', () => {
    assert.deepEqual(faultsOf({ approvalRequired: false }), [])
  })

  it('needs a gate when approval is required', () => {
    assert.deepEqual(faultsOf({ approvalRequired: true }), ['GateRequired /joinPolicy/approvalGates'])
    assert.deepEqual(faultsOf({ approvalRequired: true, approvalGates: [] }), [
      'GateRequired /joinPolicy/approvalGates',
    ])
  })

  it('does not open a collection to everybody by a member that it does not know', () => {
    const joinableBy = { collections: [ID] } as object
    assert.deepEqual(faultsOf({ approvalRequired: false, joinableBy }), [
      'MissingMember /joinPolicy/joinableBy/collectionIds',
    ])
    assert.deepEqual(faultsOf({ approvalRequired: false, joinableBy: {} }), [])
  })

  it('reports all faults at once, each with its JSON pointer', () => {
    const approvalGates = [
      { order: 0, type: 'Identity', approvers: [] },
      { order: 3, type: 'Committee', approvers: [ID] },
      { order: 3, type: 'Manager' },
      { order: 4, type: 'Manager', approvers: [ID] },
      { order: 5, type: 'Collection' },
    ]
    assert.deepEqual(faultsOf({ approvalRequired: true, approvalGates }), [
      'InvalidGateOrder /joinPolicy/approvalGates/0/order',
      'ApproversRequired /joinPolicy/approvalGates/0/approvers',
      'UnknownGateType /joinPolicy/approvalGates/1/type',
      'DuplicateGateOrder /joinPolicy/approvalGates/2/order',
      'DuplicateManagerGate /joinPolicy/approvalGates/3/type',
      'ApproversNotAllowed /joinPolicy/approvalGates/3/approvers',
      'ApproversRequired /joinPolicy/approvalGates/4/approvers',
    ])
  })

  it('returns its references with JSON pointers', () => {
    const { references } = checkJoinPolicy({
      approvalRequired: true,
      approvalGates: [{ order: 1, type: 'Collection', approvers: [ID] }],
      joinableBy: { collectionIds: [ID] },
    })
    assert.deepEqual(references, [
      { to: 'collection', id: ID, pointer: '/joinPolicy/approvalGates/0/approvers/0', place: 'Collection 1' },
      { to: 'collection', id: ID, pointer: '/joinPolicy/joinableBy/collectionIds/0', place: 'joinableBy' },
    ])
  })
})
