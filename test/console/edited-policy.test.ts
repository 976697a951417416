import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { editedPolicy, type JoinPolicyWire, policyDto } from '../../functions/console/pages/edited-policy.ts'

const PERSON = '2a212754-5eaf-5476-901c-e31d12a49617'
const COLLECTION = '5e0b1a52-93c6-4d0c-8f5e-2c1d7a94b3e6'

describe('The form of a join policy', () => {
  it('loses nothing of the policy, also what it does not show', () => {
    const policy: JoinPolicyWire = {
      approvalRequired: true,
      approvalGates: [
        { order: 1, type: 'Manager', approvers: [], reminderDays: 3 },
        {
          order: 2,
          type: 'Identity',
          approvers: [PERSON],
          fallback: { afterDays: 7, type: 'Collection', approvers: [COLLECTION] },
        },
      ],
      joinableBy: { collectionIds: [COLLECTION] },
      maxDays: 90,
      requestDays: 14,
      rejectionNeedsReason: true,
    }
    assert.deepEqual(policyDto(editedPolicy(policy, new Map())), policy)
  })
})
