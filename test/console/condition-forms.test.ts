import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  conditionOf,
  type EditedLeaf,
  editedGroup,
  isComplete,
  newLeaf,
} from '../../functions/console/condition/condition-tree.ts'
import {
  dayForm,
  dayValue,
  fieldForm,
  fieldOf,
  formsOf,
  listText,
  listValues,
  newForm,
} from '../../functions/console/condition/field-form.ts'
import { operandTypes, withAttribute, withOperator } from '../../functions/console/condition/leaf-changes.ts'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { GROUP_OPERATORS, type WireGroup } from '../../shared/domain/criteria/condition.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF } from '../../shared/domain/criteria/operators-of-types.ts'
import { MEMBER_OF_COLLECTION, storedConditionSchema } from '../../shared/domain/criteria/schema.ts'

const SCHEMA = new Map([
  ...storedConditionSchema(),
  ['identityCustom/a,b', 'String'],
  ['identityCustom/(c)', 'String'],
  ['identityCustom/grade', 'Integer'],
  ['identityCustom/courses', 'StringList'],
] as const)

const wholeNumber = fc.integer({ min: 0, max: 99 })
/** Fields of any depth, valid or not. */
const fieldAround = (id: string) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom<(inner: string) => string>(
          (inner) => `ToUpper(${inner})`,
          (inner) => `tolower( ${inner} )`,
          () => 'Today()',
        ),
        fc.tuple(wholeNumber, wholeNumber).map(
          ([start, length]) =>
            (inner: string) =>
              `Substring(${inner},${start},${length})`,
        ),
        fc.integer().map((days) => (inner: string) => `AddDays(${inner},${days})`),
      ),
      { maxLength: 3 },
    )
    .map((calls) => calls.reduce((inner, call) => call(inner), id))

const text = fc.oneof(fc.string(), fc.constantFrom('', '2026-02-11', 'Today()', 'AddDays(Today(),-30)', 'true', '7'))
const scalar = fc.oneof(text, fc.uuid(), fc.integer(), fc.boolean())
const leaf = fc.constantFrom(...SCHEMA).chain(([id, type]) =>
  fc
    .record({
      id: fc.constant(id),
      field: fc.oneof(fc.constant(id), fieldAround(id)),
      operator: fc.constantFrom(...(id === MEMBER_OF_COLLECTION ? MEMBERSHIP_OPERATORS : OPERATORS_OF[type])),
      value: fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })),
    })
    .map(({ value, ...rest }) => (rest.operator === 'IsNull' ? rest : { ...rest, value })),
)
const { group } = fc.letrec<{ group: object; node: object }>((tie) => ({
  group: fc.record({
    groupOperator: fc.constantFrom(...GROUP_OPERATORS),
    conditions: fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
  }),
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('group')),
}))

describe('The condition builder', () => {
  it('opens and saves each valid condition unchanged', () => {
    let validCount = 0
    fc.assert(
      fc.property(group, (input) => {
        const check = checkCondition(input, SCHEMA)
        if (!check.ok) return
        validCount += 1
        const wire: WireGroup = check.condition.wire
        const tree = editedGroup(wire)
        assert.ok(isComplete(tree), 'can be saved')
        assert.deepEqual(conditionOf(tree), wire)
      }),
      { numRuns: 3000 },
    )
    assert.ok(validCount > 300, `${validCount} valid conditions`)
  })

  it('shows a field in a form that writes the same field again', () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(...SCHEMA.keys())
          .chain((id) => fc.tuple(fc.constant(id), fc.oneof(fieldAround(id), fc.string()))),
        ([id, field]) => assert.equal(fieldOf(fieldForm(field, id), id), field),
      ),
    )
  })

  it('shows the value of a date in a form that writes the same value again', () => {
    fc.assert(fc.property(text, (value) => assert.equal(dayValue(dayForm(value)), value)))
  })

  it('takes no blank line of a list for a value, and shows it while the list is typed', () => {
    for (const [written, values] of [
      ['10\n11\n', ['10', '11']],
      ['\n10\n \n\n11', ['10', '11']],
      ['10\n', ['10']],
      ['\n', undefined],
      ['', undefined],
    ] as const) {
      assert.deepEqual(listValues(written), values, JSON.stringify(written))
      assert.equal(listText(values ?? [], written), written)
    }
    assert.equal(listText(['10', '12'], '10\n11\n'), '10\n12', 'after a change that was not typed')
    assert.equal(listText(['', '10'], undefined), '\n10', 'an empty text of an opened condition')
  })

  it('offers only functions that the service accepts for the type', () => {
    for (const [id, type] of [
      ['relationshipTitle', 'String'],
      ['relationshipStartDate', 'DateTime'],
      ['identityId', 'Guid'],
    ] as const) {
      for (const name of formsOf(type)) {
        const field = fieldOf(newForm(name, id), id)
        const conditions = [{ id, field, operator: 'IsNull' }]
        assert.ok(checkCondition({ groupOperator: 'AND', conditions }, SCHEMA).ok, field)
      }
    }
  })

  it('keeps of a leaf with a new attribute what the type of the attribute allows', () => {
    const types = Object.fromEntries(SCHEMA)
    const before = { ...newLeaf(), id: 'relationshipTitle', field: 'ToUpper(relationshipTitle)' }
    const starts = { ...before, operator: 'StartsWith', value: '2026' } as const
    const changed = (leaf: EditedLeaf, next: string) => {
      const { id, field, operator, value } = { ...leaf, ...withAttribute(leaf, next, types) }
      return [id, field, operator, value]
    }
    assert.deepEqual(changed(starts, 'identityEmail'), [
      'identityEmail',
      'ToUpper(identityEmail)',
      'StartsWith',
      '2026',
    ])
    assert.deepEqual(changed(starts, 'identityEma'), ['identityEma', 'ToUpper(identityEma)', 'StartsWith', '2026'])
    const day = ['relationshipStartDate', 'relationshipStartDate', 'Equals', undefined]
    assert.deepEqual(changed(starts, 'relationshipStartDate'), day)
    const several = { ...before, operator: 'In', value: ['Nurse', 'Teacher'] } as const
    assert.deepEqual(changed(several, 'identityId'), ['identityId', 'identityId', 'In', undefined])
    assert.deepEqual(changed(several, 'orgUnitDeputies').slice(1), ['orgUnitDeputies', 'Contains', undefined])
    const courses = {
      ...several,
      id: 'identityCustom/courses',
      field: 'identityCustom/courses',
      operator: 'ContainsAny',
    } as const
    assert.deepEqual(changed(courses, 'identityCustom/grade').slice(2), ['Equals', undefined])
  })

  for (const [field, expected] of [
    ['relationshipTitle', 'identityEmail'],
    ['ToLower(relationshipTitle)', 'ToLower(identityEmail)'],
    ['Substring(relationshipTitle,0,1)', 'Substring(identityEmail,0,1)'],
    ['ToUpper( Substring(relationshipTitle,0,1) )', 'ToUpper( Substring(identityEmail,0,1) )'],
    ['tolower( relationshipTitle )', 'tolower( identityEmail )'],
  ] as const) {
    it(`keeps the functions of ${field} while another attribute is typed`, () => {
      const types = Object.fromEntries(SCHEMA)
      for (const typed of [[], ['e', 'em', 'ema'], ['', 'e'], ['r', '', 'S', 'Su', 's', '0', ')']]) {
        let leaf: EditedLeaf = { ...newLeaf(), id: 'relationshipTitle', field }
        for (const id of [...typed, 'identityEmail']) leaf = { ...leaf, ...withAttribute(leaf, id, types) }
        assert.equal(leaf.field, expected, `after ${typed.join(' ')}`)
      }
    })
  }

  it('keeps functions within functions as they are until an attribute is chosen, also in place of one that is gone', () => {
    const types = Object.fromEntries(SCHEMA)
    const field = 'ToUpper(Substring(identityCustom/gone,0,1))'
    const before = { ...newLeaf(), id: 'identityCustom/gone', field }
    assert.equal(withAttribute(before, 'e', types).field, field)
    assert.equal(withAttribute(before, 'identityEmail', types).field, 'ToUpper(Substring(identityEmail,0,1))')
  })

  it('has a list of values for the operators that compare with one, and offers texts to compare with a list of texts', () => {
    const contains = {
      ...newLeaf(),
      id: 'identityCustom/courses',
      field: 'identityCustom/courses',
      operator: 'Contains',
      value: 'a',
    } as const
    const several = withOperator(contains, 'ContainsAny')
    assert.deepEqual(several, { operator: 'ContainsAny', value: ['a'] })
    assert.deepEqual(withOperator({ ...contains, ...several }, 'NotContains'), { operator: 'NotContains', value: 'a' })
    assert.deepEqual(operandTypes(contains, 'StringList'), ['String'])
    assert.deepEqual(operandTypes({ ...contains, operator: 'ContainsAny' }, 'StringList'), [])
  })

  it('compares with no other attribute when the operator takes none', () => {
    const compared = { ...newLeaf(), id: 'identityEmail', field: 'identityEmail', value: { attribute: '' } }
    for (const operator of ['IsNull', 'In'] as const) {
      assert.deepEqual(withOperator(compared, operator), { operator, value: undefined })
    }
    assert.deepEqual(withOperator(compared, 'NotEquals').value, { attribute: '' })
  })
})
