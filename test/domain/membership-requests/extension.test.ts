import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  askedExtension,
  waitingPart,
  waitingSinceMs,
  withDecidedExtension,
} from '../../../shared/domain/membership-requests/extension.ts'
import type {
  LifecycleEntry,
  MembershipRequest,
} from '../../../shared/domain/membership-requests/membership-request.ts'
import { requestIn } from '../../support/domain/membership-requests/requests.ts'

const at = (day: number) => `2030-01-0${day}T00:00:00.000+00:00`
const GATE = { order: 1, type: 'Identity', approverCount: 1 } as const
const APPROVAL = { type: 'Identity', approvers: ['approver'] } as const
const EXTENSION = {
  ...{ endsAt: at(9), requestedBy: 'subject', requestedAt: at(2) },
  ...{ currentGate: GATE, approvals: [APPROVAL], policyVersion: 4 },
}
const MEMBER = requestIn('Joined', { endsAt: at(5), approvals: [] })
const EXTENDING: MembershipRequest = { ...MEMBER, extension: EXTENSION }

describe('What waits at a gate', () => {
  it('is a request that is not decided', () => {
    const request = requestIn('PendingApproval')
    assert.equal(waitingPart(request), request)
  })

  it('is the extension of a membership, in the form of a request', () => {
    const expected = requestIn('PendingApproval', {
      ...{ endsAt: at(9), currentGate: GATE, approvals: [APPROVAL], policyVersion: 4 },
    })
    assert.deepEqual(waitingPart(EXTENDING), expected)
  })

  it('is nothing of a membership without an extension, nor of what has ended', () => {
    assert.equal(waitingPart(MEMBER), undefined)
    assert.equal(waitingPart({ ...EXTENDING, status: 'Left' }), undefined)
    assert.equal(waitingPart(requestIn('Rejected')), undefined)
  })
})

describe('A request waits', () => {
  const entry = (status: LifecycleEntry['status'], day: number) => ({ status, actorId: 'subject', at: at(day) })

  it('since it last came to a gate', () => {
    const lifecycle = [
      entry('Requested', 1),
      entry('PendingApproval', 2),
      entry('Approved', 3),
      entry('PendingApproval', 4),
    ]
    assert.equal(waitingSinceMs({ lifecycle, createdAt: at(1) }), Date.parse(at(4)))
  })

  it('since it was made when it never came to one', () => {
    assert.equal(waitingSinceMs({ lifecycle: [entry('Requested', 2)], createdAt: at(1) }), Date.parse(at(1)))
  })
})

describe('An extension', () => {
  it('is asked for as a new request for the same person', () => {
    const expected = { ...MEMBER, status: 'Requested', approvals: [], currentGate: null, endsAt: at(9) }
    assert.deepEqual(askedExtension({ ...EXTENDING, approvals: [APPROVAL], currentGate: GATE }, at(9)), expected)
  })

  const asked = { requestedBy: 'subject', requestedAt: at(2) }
  const lifecycle: readonly LifecycleEntry[] = [{ status: 'Approved', actorId: 'approver', at: at(3) }]
  const decided = (changes: Partial<MembershipRequest>): MembershipRequest => ({
    ...MEMBER,
    ...{ endsAt: at(9), lifecycle, updatedAt: at(3), ...changes },
  })
  const { endsAt: _endsAt, ...ENDLESS } = MEMBER
  const after = { ...ENDLESS, lifecycle, updatedAt: at(3) }

  it('that is granted makes the end later', () => {
    const membership = { ...EXTENDING, reminder: { days: 1, dueAtMs: 0 } }
    assert.deepEqual(withDecidedExtension(membership, decided({}), asked), { ...after, endsAt: at(9) })
  })

  it('that is granted never makes it earlier than a merge has made it meanwhile', () => {
    const merged = { ...EXTENDING, endsAt: '2030-02-01T00:00:00.000+00:00' }
    assert.deepEqual(withDecidedExtension(merged, decided({}), asked).endsAt, merged.endsAt)
    const { endsAt: _end, ...endless } = EXTENDING
    assert.deepEqual(withDecidedExtension(endless, decided({}), asked), after)
  })

  it('that is rejected leaves the end', () => {
    assert.deepEqual(withDecidedExtension(EXTENDING, decided({ status: 'Rejected' }), asked), {
      ...after,
      endsAt: at(5),
    })
  })

  it('that comes to the next gate waits there, with the reminders of that gate', () => {
    const gate = { order: 2, type: 'Manager', approverCount: 1 } as const
    const reminder = { days: 2, dueAtMs: 7 }
    const next = decided({
      status: 'PendingApproval',
      currentGate: gate,
      approvals: [APPROVAL],
      policyVersion: 5,
      reminder,
    })
    const extension = { endsAt: at(9), ...asked, currentGate: gate, approvals: [APPROVAL], policyVersion: 5 }
    const known = withDecidedExtension(EXTENDING, { ...next, gateApprovers: ['boss'] }, asked)
    assert.deepEqual(known.extension, { ...extension, gateApprovers: ['boss'] })
    assert.deepEqual(waitingPart(known)?.gateApprovers, ['boss'])
    assert.deepEqual(withDecidedExtension(EXTENDING, next, asked), { ...after, endsAt: at(5), extension, reminder })
    const { reminder: _reminder, approvals: _approvals, policyVersion: _version, ...plain } = next
    const earlier = { ...extension, approvals: [], policyVersion: 0 }
    assert.deepEqual(withDecidedExtension(EXTENDING, plain, asked), { ...after, endsAt: at(5), extension: earlier })
  })

  it('waits nowhere without a gate or an end', () => {
    const gateless = decided({ status: 'PendingApproval', currentGate: null })
    assert.deepEqual(withDecidedExtension(EXTENDING, gateless, asked), { ...after, endsAt: at(5) })
    const { endsAt: _end, ...endless } = decided({ status: 'PendingApproval', currentGate: GATE })
    assert.deepEqual(withDecidedExtension(EXTENDING, endless, asked), { ...after, endsAt: at(5) })
  })
})
