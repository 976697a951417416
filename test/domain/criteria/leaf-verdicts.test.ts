import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FieldFunction } from '../../../shared/domain/criteria/condition.ts'
import { DerivedTextCache } from '../../../shared/domain/criteria/derived-texts.ts'
import { type LeafTest, leafTest } from '../../../shared/domain/criteria/leaf-test.ts'
import { LeafVerdicts } from '../../../shared/domain/criteria/leaf-verdicts.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { TextValues, valuesOfKind } from '../../../shared/domain/tenant-index/rows/column-values.ts'
import { ListValues } from '../../../shared/domain/tenant-index/rows/list-values.ts'
import { TextDictionary } from '../../../shared/domain/tenant-index/rows/text-dictionary.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { leafOf, ONE, TWO } from '../../support/domain/criteria/leaf-cases.ts'

const MONDAY_MS = Date.parse('2024-02-26T00:00:00Z')
const TUESDAY_MS = Date.parse('2024-02-27T00:00:00Z')
const TO_UPPER: FieldFunction = { name: 'ToUpper' }

/** Texts of one length; a longer one first where it is wanted. */
function textsOf(count: number, length = 4, firstLength = length): TextValues {
  const values = new TextValues(String)
  for (let index = 0; index < count; index += 1)
    values.encode(String(index).padStart(index === 0 ? firstLength : length, '0'))
  return values
}

/** A test that holds for odd codes on Monday and for even codes on Tuesday, and the codes that it has tested. */
function recorded({ dependsOnDay = false, operandCount = 1 } = {}) {
  const tested: number[] = []
  const holds = (code: number, todayMs: number): boolean => {
    tested.push(code)
    return (code % 2 === 1) === (todayMs === MONDAY_MS)
  }
  return { tested, test: { kind: 'scan', dependsOnDay, operandCount, holds } satisfies LeafTest }
}

/** The number of values that each step tests. */
function stepsOn(values: TextValues, operandCount = 1): number[] {
  const { test, tested } = recorded({ operandCount })
  const task = new LeafVerdicts(test, values).holding(MONDAY_MS)
  const counts: number[] = []
  for (;;) {
    const before = tested.length
    const { done } = task.next()
    counts.push(tested.length - before)
    if (done === true) return counts
  }
}

describe('The test of a leaf', () => {
  const values = textsOf(1)
  const kindOf = (test: LeafTest) =>
    test.kind === 'scan' ? [test.kind, test.dependsOnDay, test.operandCount] : [test.kind]
  const testOn = (kind: 'string' | 'guid' | 'guids' | 'date', ...leaf: Parameters<typeof leafOf>) =>
    kindOf(leafTest(leafOf(...leaf), valuesOfKind(kind, undefined, DEFAULT_ROW_SETTINGS), new DerivedTextCache()))

  it('looks values up where it compares texts or ids as they are', () => {
    for (const operator of ['Equals', 'NotEquals', 'In'] as const) {
      assert.deepEqual(testOn('string', 'String', operator, ['a']), ['listed'])
      assert.deepEqual(testOn('guid', 'Guid', operator, [ONE]), ['listed'])
      assert.deepEqual(testOn('string', 'Integer', operator, [7]), ['listed'])
    }
    const repeated = leafTest(leafOf('String', 'In', ['a', 'b', 'a']), values, new DerivedTextCache())
    assert.deepEqual(repeated.kind === 'listed' && repeated.texts, ['a', 'b'])
  })

  it('tests each value with its operands where it cannot look them up', () => {
    assert.deepEqual(testOn('string', 'String', 'StartsWith', ['a']), ['scan', false, 1])
    assert.deepEqual(testOn('string', 'String', 'Equals', ['A'], [TO_UPPER]), ['scan', false, 1])
    assert.deepEqual(testOn('string', 'Integer', 'GreaterThan', [1]), ['scan', false, 1])
    assert.deepEqual(testOn('guids', 'List', 'Contains', [ONE]), ['scan', false, 1])
    assert.deepEqual(testOn('guids', 'Integer', 'Equals', [1]), ['scan', false, 0])
  })

  it('depends on the day where a date is compared with Today()', () => {
    assert.deepEqual(testOn('date', 'DateTime', 'In', [MONDAY_MS, TUESDAY_MS]), ['scan', false, 2])
    assert.deepEqual(testOn('date', 'DateTime', 'In', [MONDAY_MS, { daysFromToday: 0 }]), ['scan', true, 2])
  })

  it('finds the lists with an element that is in no list until later', () => {
    const elements = new TextDictionary()
    const lists = new ListValues(elements)
    const test = leafTest(leafOf('List', 'Contains', [TWO]), lists, new DerivedTextCache())
    const verdicts = new LeafVerdicts(test, lists)
    const first = lists.encode([ONE])
    runToCompletion(verdicts.holding(MONDAY_MS))
    const second = lists.encode([TWO])
    assert.deepEqual([verdicts.holds(first, MONDAY_MS), verdicts.holds(second, MONDAY_MS)], [false, true])
    assert.equal(runToCompletion(verdicts.holding(MONDAY_MS)).onlyCode(), second)
  })

  it('looks an element of lists up again only when there are more elements', (t) => {
    const lists = new ListValues(new TextDictionary())
    const lookUp = t.mock.method(lists, 'codeOfElement')
    const test = leafTest(leafOf('List', 'Contains', [TWO]), lists, new DerivedTextCache())
    const holdsFor = (...ids: string[]) => new LeafVerdicts(test, lists).holds(lists.encode(ids), MONDAY_MS)
    assert.deepEqual([holdsFor(ONE), holdsFor(ONE), holdsFor(TWO), holdsFor(TWO, ONE)], [false, false, true, true])
    assert.equal(lookUp.mock.callCount(), 2)
  })
})

describe('The results of a leaf', () => {
  it('are found in steps of 1,024 values', () => {
    assert.deepEqual(stepsOn(textsOf(1024)), [1024])
    assert.deepEqual(stepsOn(textsOf(1025)), [1024, 1])
    assert.deepEqual(stepsOn(textsOf(2500), 0), [1024, 1024, 452])
  })

  it('are found in steps of 16,384 comparisons, and of 32 values at least', () => {
    assert.deepEqual(stepsOn(textsOf(1030), 16), [1024, 6])
    assert.deepEqual(stepsOn(textsOf(1200), 29), [564, 564, 72])
    assert.deepEqual(stepsOn(textsOf(70), 16_384), [32, 32, 6])
  })

  it('are found in steps of 32 KiB, or of 32 long values', () => {
    assert.deepEqual(stepsOn(textsOf(2048, 32)), [1024, 1024])
    assert.deepEqual(stepsOn(textsOf(2048, 32, 33)), [512, 1024, 512])
    assert.deepEqual(stepsOn(textsOf(1200, 200)).slice(0, 2), [128, 128])
    assert.deepEqual(stepsOn(textsOf(1100, 2000)).slice(0, 2), [32, 32])
  })

  it('are kept: no value is tested twice, also by tasks that run in turn', () => {
    const { test, tested } = recorded()
    const verdicts = new LeafVerdicts(test, textsOf(3000))
    const [first, second] = [verdicts.holding(MONDAY_MS), verdicts.holding(MONDAY_MS)]
    first.next()
    second.next()
    assert.equal(runToCompletion(first), runToCompletion(second))
    verdicts.holds(1, TUESDAY_MS)
    assert.deepEqual(
      tested,
      Array.from({ length: 3000 }, (_, index) => index + 1),
    )
  })

  it('are found one by one for values that came later', () => {
    const { test, tested } = recorded()
    const values = textsOf(2)
    const verdicts = new LeafVerdicts(test, values)
    runToCompletion(verdicts.holding(MONDAY_MS))
    const later = values.encode('later')
    assert.deepEqual([later, verdicts.holds(later, MONDAY_MS), tested], [3, true, [1, 2, 3]])
    assert.deepEqual([...runToCompletion(verdicts.holding(MONDAY_MS)).asBitmap(4)], [0b1010])
    assert.deepEqual(tested, [1, 2, 3, 3])
  })

  it('are those of each day where they depend on it, also for a task that began the day before', () => {
    const { test } = recorded({ dependsOnDay: true })
    const verdicts = new LeafVerdicts(test, textsOf(2000))
    const early = verdicts.holding(MONDAY_MS)
    early.next()
    const late = runToCompletion(verdicts.holding(TUESDAY_MS))
    const monday = runToCompletion(early)
    for (const code of [1, 2, 1999, 2000]) {
      const isOdd = code % 2 === 1
      assert.deepEqual([monday.has(code), late.has(code)], [isOdd, !isOdd])
      assert.deepEqual([verdicts.holds(code, MONDAY_MS), verdicts.holds(code, TUESDAY_MS)], [isOdd, !isOdd])
    }
    assert.equal(runToCompletion(verdicts.holding(TUESDAY_MS)), late)
  })

  it('hold for no missing value, except those of IsNull, which hold for no other', () => {
    const holding: LeafTest = { kind: 'scan', dependsOnDay: false, operandCount: 1, holds: () => true }
    for (const [test, expected] of [
      [holding, [false, false, true]],
      [{ kind: 'null' }, [true, true, false]],
      [{ kind: 'listed', codeOf: () => 1, texts: ['a'] }, [false, false, true]],
    ] as const) {
      const verdicts = new LeafVerdicts(test, textsOf(1))
      const found = [verdicts.holdsWithoutValue, verdicts.holds(0, MONDAY_MS), verdicts.holds(1, MONDAY_MS)]
      assert.deepEqual(found, expected)
    }
  })

  it('look a listed value up until there is one, and again only when there are more values', () => {
    const values = new TextValues(String)
    const lookedUp: string[] = []
    const codeOf = (text: string): number => {
      lookedUp.push(text)
      return values.codeOf(text)
    }
    const verdicts = new LeafVerdicts({ kind: 'listed', codeOf, texts: ['a', 'b'] }, values)
    const holdsFor = (text: string): boolean => verdicts.holds(values.encode(text), MONDAY_MS)
    assert.deepEqual([holdsFor('a'), holdsFor('a'), lookedUp], [true, true, ['a', 'b']])
    assert.equal(runToCompletion(verdicts.holding(MONDAY_MS)).onlyCode(), 1)
    assert.deepEqual([holdsFor('c'), lookedUp], [false, ['a', 'b', 'b']])
    assert.deepEqual([holdsFor('b'), holdsFor('d'), lookedUp], [true, false, ['a', 'b', 'b', 'b']])
  })

  it('take 40 bytes for each value that holds', () => {
    const verdicts = new LeafVerdicts(recorded().test, textsOf(4))
    assert.equal(verdicts.sizeBytes, 0)
    runToCompletion(verdicts.holding(MONDAY_MS))
    assert.equal(verdicts.sizeBytes, 80)
  })
})
