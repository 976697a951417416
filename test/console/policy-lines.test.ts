import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JoinPolicyWire } from '../../functions/console/pages/edited-policy.ts'
import { gateLines, namedIn, requestLimit, waitLines } from '../../functions/console/policy-lines.ts'

const MANAGER = { order: 1, type: 'Manager', approvers: [] } as const
const PEOPLE = { afterDays: 7, type: 'Identity', approvers: ['kari', 'ola'] } as const
const BOARD = { afterDays: 1, type: 'Collection', approvers: ['board'] } as const
const NAMES = new Map([
  ['kari', 'Kari Vik'],
  ['board', 'The board'],
])

type Gates = readonly (Pick<Gate, 'reminderDays'> & { readonly fallback?: typeof PEOPLE | typeof BOARD })[]
type Gate = JoinPolicyWire['approvalGates'][number]

function policyOf(gates: Gates, limits: Partial<JoinPolicyWire> = {}): JoinPolicyWire {
  const approvalGates = gates.map(({ fallback, ...gate }) => ({
    ...MANAGER,
    ...gate,
    approvers: [],
    ...(fallback && { fallback: { ...fallback, approvers: [...fallback.approvers] } }),
  }))
  return { approvalRequired: true, approvalGates, joinableBy: { collectionIds: ['staff'] }, ...limits }
}

describe('A gate of a policy', () => {
  for (const [claim, gate, expected] of [
    [
      'names the people who decide as well, and when',
      { fallback: PEOPLE },
      ['After 7 days, or at once if nobody else can decide, also decided by: Kari Vik, ola'],
    ],
    [
      'names the collections whose members decide as well',
      { fallback: BOARD },
      ['After 1 day, or at once if nobody else can decide, also decided by members of: The board'],
    ],
    ['tells how often it reminds', { reminderDays: 3 }, ['Those who decide are reminded every 3 days.']],
    ['has no lines without either', {}, []],
  ] satisfies readonly (readonly [string, Gates[number], readonly string[]])[]) {
    it(claim, () => {
      const lines = policyOf([gate]).approvalGates.flatMap((shown) => gateLines(shown, NAMES))
      assert.deepEqual(lines, expected)
    })
  }
})

describe('A policy', () => {
  it('names those who decide as well among those whose names are read', () => {
    const named = namedIn(policyOf([{ fallback: PEOPLE }, { fallback: BOARD }]))
    assert.deepEqual(named, { identityIds: ['kari', 'ola'], collectionIds: ['board', 'staff'] })
  })

  it('tells when a request ends that nobody decides', () => {
    const text = 'A request without a decision is cancelled after 14 days.'
    assert.equal(requestLimit(policyOf([{}], { requestDays: 14 })), text)
    assert.equal(requestLimit(policyOf([{}])), undefined)
    assert.equal(requestLimit(policyOf([], { requestDays: 14, approvalRequired: false })), undefined)
  })

  it('tells a requester once who decides as well, without names, and when the request ends', () => {
    const gates = [{ fallback: PEOPLE }, { reminderDays: 3 }, { fallback: PEOPLE }, { fallback: BOARD }]
    assert.deepEqual(waitLines(policyOf(gates, { requestDays: 1 })), [
      'After 7 days, or at once if nobody else can decide, also decided by: named people',
      'After 1 day, or at once if nobody else can decide, also decided by: members of a collection',
      'A request without a decision is cancelled after 1 day.',
    ])
  })

  it('has no gates where no approval is required', () => {
    assert.deepEqual(waitLines(policyOf([{ fallback: PEOPLE }], { requestDays: 1, approvalRequired: false })), [])
  })
})
