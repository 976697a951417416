import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AttributeKind } from '../../../shared/domain/core/core-object.ts'
import { CUSTOM_TYPES, type CustomType } from '../../../shared/domain/core/custom-types.ts'
import type { CheckedLeaf, Operator } from '../../../shared/domain/criteria/condition.ts'
import { DerivedTextCache } from '../../../shared/domain/criteria/derived-texts.ts'
import { holdsOn, isNegative, leafTest } from '../../../shared/domain/criteria/leaf-test.ts'
import { LeafVerdicts } from '../../../shared/domain/criteria/leaf-verdicts.ts'
import type { AttributeType } from '../../../shared/domain/criteria/schema.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { valuesOfKind, valuesOfType } from '../../../shared/domain/tenant-index/rows/column-values.ts'
import { IdTable } from '../../../shared/domain/tenant-index/rows/id-table.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { UTC } from '../../../shared/kernel/time-zone.ts'
import { TODAY_MS } from '../../support/domain/criteria/arbitrary-cases.ts'
import { GUID_CASES, LEAF_TABLES, leafOf, ONE, TWO } from '../../support/domain/criteria/leaf-cases.ts'

const TODAY = { daysFromToday: 0 }

/** The given values that match, tested one by one and then all at once. */
function matching(
  leaf: CheckedLeaf,
  kind: AttributeKind | CustomType,
  given: readonly unknown[],
): readonly (readonly unknown[])[] {
  const values = isCustomType(kind)
    ? valuesOfType(kind, DEFAULT_ROW_SETTINGS)
    : valuesOfKind(kind, new IdTable(), DEFAULT_ROW_SETTINGS)
  const codes = given.map((value) => values.encode(value))
  const verdicts = new LeafVerdicts(leafTest(leaf, values, new DerivedTextCache()), values)
  const found = () => given.filter((_, index) => verdicts.holds(codes[index] as number, TODAY_MS) !== isNegative(leaf))
  const oneByOne = found()
  runToCompletion(verdicts.holding(TODAY_MS))
  return [oneByOne, found()]
}

const isCustomType = (kind: string): kind is CustomType => (CUSTOM_TYPES as readonly string[]).includes(kind)

const referring = (objectId: string) => ({ objectId })

type KindOfValue = readonly [kind: AttributeKind, value: unknown]
const TEXT: KindOfValue = ['string', ONE]
const DATE: KindOfValue = ['date', '2024-02-29']
const REFERENCE: KindOfValue = ['reference', referring(ONE)]
const LIST: KindOfValue = ['guids', [ONE]]
/** Kinds of values that are not of a type. */
const FOREIGN_KINDS: readonly (readonly [AttributeType, ...KindOfValue[]])[] = [
  ['String', DATE, REFERENCE, LIST],
  ['Integer', DATE, REFERENCE, LIST],
  ['DateTime', TEXT, REFERENCE, LIST],
  ['Guid', DATE, LIST],
  ['List', TEXT, DATE, REFERENCE],
]
const EQUALITY = ['Equals', 'NotEquals'] as const

describe('A leaf', () => {
  for (const [what, { type, kind, given, cases }] of Object.entries(LEAF_TABLES)) {
    for (const [operator, operands, expected, ...functions] of cases) {
      const calls = functions.map(({ name }) => name).join(' ')
      it(`on ${what}: ${calls} ${operator} ${JSON.stringify(operands)} holds for ${expected.length} of ${given.length}`, () => {
        const leaf = leafOf(type, operator, operands, functions)
        assert.deepEqual(matching(leaf, kind, given), [expected, expected])
      })
    }
  }

  it('on a reference compares the id of the object that it refers to', () => {
    const given = [undefined, referring(ONE), referring(TWO)]
    for (const [operator, operands, expected] of GUID_CASES) {
      const references = expected.map((id) => (typeof id === 'string' ? referring(id) : id))
      const leaf = leafOf('Guid', operator, operands)
      assert.deepEqual(matching(leaf, 'reference', given), [references, references])
    }
  })

  it('on references looks for the id of an object among them', () => {
    const given = [undefined, [], [referring(ONE)], [referring(TWO), referring(ONE)]]
    const found = matching(leafOf('List', 'Contains', [TWO]), 'references', given)
    assert.deepEqual(found[1], [given[3]])
  })

  it('holds for no value of another kind than its type, and for each when it is negative', () => {
    for (const [type, ...kinds] of FOREIGN_KINDS) {
      const [positive, negative] = type === 'List' ? (['Contains', 'NotContains'] as const) : EQUALITY
      for (const [kind, value] of kinds) {
        const given = [undefined, value]
        const found = (operator: Operator) => matching(leafOf(type, operator, [ONE]), kind, given)
        const expected = { positive: [[], []], negative: [given, given], isNull: [[undefined], [undefined]] }
        assert.deepEqual({ positive: found(positive), negative: found(negative), isNull: found('IsNull') }, expected)
      }
    }
  })
})

describe('The field Today()', () => {
  for (const [operator, operands, expected] of [
    ['Equals', [TODAY], true],
    ['Equals', [{ daysFromToday: 1 }], false],
    ['NotEquals', [TODAY], false],
    ['NotEquals', [{ daysFromToday: -1 }], true],
    ['In', [{ daysFromToday: 1 }, TODAY], true],
    ['In', [{ daysFromToday: 1 }], false],
    ['GreaterThan', [TODAY_MS], false],
    ['GreaterThan', [TODAY_MS - 1], true],
    ['GreaterThanOrEqual', [TODAY_MS], true],
    ['GreaterThanOrEqual', [TODAY_MS + 1], false],
    ['LessThan', [TODAY_MS], false],
    ['LessThan', [TODAY_MS + 1], true],
    ['LessThanOrEqual', [TODAY_MS], true],
    ['LessThanOrEqual', [TODAY_MS - 1], false],
    ['IsNull', [], false],
  ] as const) {
    it(`${operator} ${JSON.stringify(operands)} ${expected ? 'holds' : 'does not hold'} on this day`, () => {
      assert.equal(holdsOn(TODAY_MS, leafOf('DateTime', operator, operands, [{ name: 'Today' }]), UTC), expected)
    })
  }
})
