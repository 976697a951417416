import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvalOutcome } from '../../functions/console/approval-outcome.ts'

const PERSON = '2a212754-5eaf-5476-901c-e31d12a49617'
const at = '2030-06-01T08:00:00.000+00:00'
const ASKED = [
  { status: 'Joined', actorId: PERSON, at },
  { status: 'PendingApproval', actorId: PERSON, at },
  { status: 'Approved', actorId: PERSON, at },
] as const

describe('An approver reads after an approval', () => {
  for (const [claim, last, expected] of [
    ['that the request is approved', { status: 'Joined', actorId: PERSON }, 'The request of Ola is approved.'],
    [
      'that the request is approved, where it waits at another gate now',
      { status: 'PendingApproval', actorId: PERSON },
      'The request of Ola is approved.',
    ],
    [
      'that a request, also one for a later end, was cancelled where the person may not join any more',
      { status: 'Cancelled', actorId: 'system', notes: 'NotEligible' },
      'The request of Ola was cancelled: the collection is not open to this person any more.',
    ],
  ] as const) {
    it(claim, () => {
      assert.equal(approvalOutcome({ lifecycle: [...ASKED, { ...last, at }], requesterName: 'Ola' }), expected)
    })
  }
})
