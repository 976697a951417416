import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isActive } from '../../functions/console/core-objects.ts'
import { ledPositions } from '../../functions/console/led-positions.ts'

const NOW_MS = Date.parse('2030-03-01T12:00:00Z')

const reference = (objectId: string) => ({ objectId })
const person = (id: string) => ({ id, externalId: id })
const unit = (id: string, parent: string | undefined, manager: string | undefined) => ({
  ...person(id),
  ...(parent && { parent: reference(parent) }),
  ...(manager && { manager: reference(manager) }),
  deputies: [reference('deputy')],
})
const position = (id: string, holder: string, orgUnit: string, more: object = {}) => {
  return { ...person(id), identity: reference(holder), orgUnit: reference(orgUnit), ...more }
}

/** `head` manages `top`, `middle` manages `inner`; `open` has no manager, and that of `left` is deleted. */
const UNITS = [
  unit('top', undefined, 'head'),
  unit('inner', 'top', 'middle'),
  unit('innermost', 'inner', undefined),
  unit('open', 'top', undefined),
  unit('left', 'top', 'gone'),
]
const IDENTITIES = ['head', 'middle', 'deputy', 'one', 'two'].map(person)

const led = (ownId: string, ...relationships: ReturnType<typeof position>[]) =>
  ledPositions(ownId, { relationships, identities: IDENTITIES, units: UNITS }, NOW_MS, 'UTC').map(({ id }) => id)

describe('The positions that a person leads', () => {
  for (const [claim, ownId, held, isLed] of [
    ['are those of the unit', 'head', position('p', 'one', 'top'), true],
    ['are those of a unit below without a manager', 'head', position('p', 'one', 'open'), true],
    ['are those of a unit below whose manager cannot be read', 'head', position('p', 'one', 'left'), true],
    ['are not those of a unit below with a manager', 'head', position('p', 'one', 'innermost'), false],
    ['are those of the manager of a unit below', 'head', position('p', 'middle', 'inner'), true],
    ['are those that name the person', 'one', position('p', 'two', 'unknown', { manager: reference('one') }), true],
    ['are not those that name another', 'head', position('p', 'two', 'top', { manager: reference('one') }), false],
    ['are not those of a unit with the person as deputy', 'deputy', position('p', 'one', 'top'), false],
    ['are not the own ones', 'head', position('p', 'head', 'top'), false],
    ['are not those that have ended', 'head', position('p', 'one', 'top', { endDate: '2030-02-28' }), false],
  ] as const) {
    it(claim, () => assert.deepEqual(led(ownId, held), isLed ? ['p'] : []))
  }

  it('end where units are in a circle', () => {
    const circle = [unit('a', 'b', undefined), unit('b', 'a', undefined)]
    const relationships = [position('p', 'one', 'a')]
    assert.deepEqual(ledPositions('head', { relationships, identities: IDENTITIES, units: circle }, NOW_MS, 'UTC'), [])
  })
})

describe('A position', () => {
  for (const [claim, endDate, zone, expected] of [
    ['without an end is active', undefined, 'UTC', true],
    ['is active on its last day', '2030-03-01', 'UTC', true],
    ['is not active after its last day', '2030-02-28', 'UTC', false],
    ['is active on the last day of its time zone', '2030-02-28T23:30:00Z', 'Europe/Oslo', true],
    ['is not active after the last day of its time zone', '2030-03-01T09:00:00Z', 'Pacific/Kiritimati', false],
  ] as const) {
    it(claim, () => assert.equal(isActive(endDate, NOW_MS, zone), expected))
  }
})
