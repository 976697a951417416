import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mainPositionText } from '../../functions/console/main-position.ts'

const position = (id: string, title: string | undefined, unit: string | undefined) => {
  return { id, externalId: `hr-${id}`, title, unit, from: undefined, until: undefined }
}
const POSITIONS = [
  position('1', 'Nurse', 'Ward 3'),
  position('2', 'Cook', undefined),
  position('3', undefined, undefined),
]

describe('The main position that a source names', () => {
  for (const [claim, externalId, usedId, expected] of [
    ['is named by title and unit', 'hr-1', undefined, 'Nurse, Ward 3'],
    ['is the one that the person has, if the value is used', 'payroll-77', '2', 'Cook'],
    ['is shown by its id in the source while nobody knows it', 'payroll-77', undefined, 'payroll-77'],
    ['is shown by its id in the source when it has neither', 'hr-3', undefined, 'hr-3'],
  ] as const) {
    it(claim, () => assert.equal(mainPositionText(externalId, usedId, POSITIONS), expected))
  }
})
