import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { askedNotes } from '../../functions/console/asked-notes.ts'

const MEMBER = '2a212754-5eaf-5476-901c-e31d12a49617'
const APPROVER = '7b0d6f0a-5f7c-5f0e-9a54-1f6a2f3f9a11'
const GATE = { order: 1, type: 'Manager' } as const
const JOINED = [
  { status: 'Requested', actorId: MEMBER, at: '2030-06-01T08:00:00.000+00:00', notes: 'To sing' },
  { status: 'PendingApproval', actorId: MEMBER, at: '2030-06-01T08:00:00.000+00:00', gate: GATE },
  { status: 'Approved', actorId: APPROVER, at: '2030-06-02T08:00:00.000+00:00', gate: GATE, notes: 'Welcome' },
  { status: 'Joined', actorId: APPROVER, at: '2030-06-02T08:00:00.000+00:00' },
] as const
const ASKED_AT = '2030-07-01T08:00:00.000+00:00'
const ASKED = { status: 'PendingApproval', actorId: MEMBER, at: ASKED_AT, gate: GATE } as const
const EXTENSION = {
  endsAt: '2030-09-01T00:00:00.000+00:00',
  requestedBy: MEMBER,
  requestedAt: ASKED_AT,
  currentGate: { ...GATE, approverCount: 1 },
}

describe('The notes of a request', () => {
  it('are those of the person who asks for the membership', () => {
    assert.equal(askedNotes({ notes: 'To sing', lifecycle: [...JOINED], extension: null }), 'To sing')
    assert.equal(askedNotes({ notes: null, lifecycle: [...JOINED], extension: null }), null)
  })

  for (const [claim, later, expected] of [
    ['say why the membership is to last longer', [{ ...ASKED, notes: 'To sing on' }], 'To sing on'],
    ['are none where nobody says why the membership is to last longer', [ASKED], null],
    [
      'are those of an extension that has come to another gate',
      [
        { ...ASKED, notes: 'To sing on' },
        { status: 'Approved', actorId: MEMBER, at: '2030-07-02T08:00:00.000+00:00', gate: GATE, notes: 'Fine' },
        { status: 'PendingApproval', actorId: MEMBER, at: '2030-07-02T08:00:00.000+00:00', gate: GATE },
      ],
      'To sing on',
    ],
    [
      'are not those of the service where an extension came from another record of the person',
      [{ ...ASKED, actorId: 'system', at: '2030-07-02T08:00:00.000+00:00', notes: 'Merged' }],
      null,
    ],
  ] as const) {
    it(claim, () => {
      const lifecycle = [...JOINED, ...later]
      assert.equal(askedNotes({ notes: 'To sing', lifecycle, extension: EXTENSION }), expected)
    })
  }
})
