import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type EditedPolicy,
  editedPolicy,
  isPolicyComplete,
  type JoinPolicyWire,
  policyDto,
  withTheirHiddenParts,
} from '../../functions/console/pages/edited-policy.ts'

const PERSON = '2a212754-5eaf-5476-901c-e31d12a49617'
const OTHER = '9c1f4f0e-5a53-4a39-8d0c-6f1f2d3f7a10'
const COLLECTION = '5e0b1a52-93c6-4d0c-8f5e-2c1d7a94b3e6'

const MANAGER = { type: 'Manager', approvers: [] } as const
const ONE = { type: 'Identity', approvers: [PERSON] } as const

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

  it('gives a gate of another type nothing of what it does not show, until it has its former type again', () => {
    const fallback: NonNullable<Gate['fallback']> = { afterDays: 7, type: 'Collection', approvers: [COLLECTION] }
    const stored = policyOf([{ ...MANAGER, reminderDays: 3, fallback }], 14)
    const edited = editedPolicy(stored, new Map())
    const withType = (type: Gate['type'], approvers: string[]) => {
      const gates = edited.gates.map((gate) => ({
        ...gate,
        type,
        approvers: approvers.map((id) => ({ id, name: id })),
      }))
      return policyDto({ ...edited, gates })
    }
    assert.deepEqual(withType('Identity', [PERSON]), policyOf([ONE], 14))
    assert.deepEqual(withType('Manager', []), stored)
  })

  it('is complete without approval, and sends no gate then that is not', () => {
    const stored = policyOf([MANAGER, { ...ONE, approvers: [] }, ONE], 14)
    const edited = editedPolicy(stored, new Map())
    assert.equal(isPolicyComplete(edited), false)
    const unapproved: EditedPolicy = { ...edited, isApprovalRequired: false }
    assert.equal(isPolicyComplete(unapproved), true)
    assert.deepEqual(policyDto(unapproved), { ...policyOf([MANAGER, ONE], 14), approvalRequired: false })
    assert.equal(isPolicyComplete({ ...edited, gates: [] }), false)
  })

  for (const [claim, mine, theirs, expected] of [
    [
      'keeps what another person has set for the same gate, wherever it is',
      [MANAGER, { ...ONE, reminderDays: 3 }],
      [{ ...ONE, reminderDays: 5 }, MANAGER],
      [MANAGER, { ...ONE, reminderDays: 5 }],
    ],
    [
      'keeps what another person has set for a gate whose approvers are changed',
      [MANAGER, { ...ONE, approvers: [PERSON, OTHER] }],
      [MANAGER, { ...ONE, reminderDays: 5 }],
      [MANAGER, { ...ONE, approvers: [PERSON, OTHER], reminderDays: 5 }],
    ],
    [
      'gives a new gate nothing of the gate in whose place it is',
      [{ ...ONE, approvers: [OTHER] }, ONE],
      [{ ...ONE, reminderDays: 5 }],
      [
        { ...ONE, approvers: [OTHER] },
        { ...ONE, reminderDays: 5 },
      ],
    ],
    [
      'leaves a gate as it is that the other person has removed',
      [{ ...ONE, reminderDays: 3 }],
      [MANAGER],
      [{ ...ONE, reminderDays: 3 }],
    ],
  ] satisfies readonly (readonly [string, Gates, Gates, Gates])[]) {
    it(claim, () => {
      const [own, other] = [policyOf(mine, 30), policyOf(theirs, 14)].map((policy) => editedPolicy(policy, new Map()))
      assert.ok(own !== undefined && other !== undefined)
      assert.deepEqual(policyDto(withTheirHiddenParts(own, other)), policyOf(expected, 14))
    })
  }
})

type Gate = JoinPolicyWire['approvalGates'][number]
type Gates = readonly (Pick<Gate, 'type' | 'reminderDays' | 'fallback'> & { readonly approvers: readonly string[] })[]

function policyOf(gates: Gates, requestDays: number): JoinPolicyWire {
  const approvalGates = gates.map((gate, index) => ({ ...gate, order: index + 1, approvers: [...gate.approvers] }))
  return { approvalRequired: true, approvalGates, joinableBy: { collectionIds: [] }, requestDays }
}
