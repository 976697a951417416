import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { compareBytes } from '../tenant-index/rows/code-point-bytes.ts'
import type { ColumnValues, InstantValues, TextValues } from '../tenant-index/rows/column-values.ts'
import { grownInt32 } from '../tenant-index/rows/growable-array.ts'
import type { CheckedLeaf } from './condition.ts'
import type { DerivedTextCache } from './derived-texts.ts'
import { isList } from './field-expression.ts'
import { addedDays, compareNumbers } from './leaf-test.ts'
import { textTest } from './text-test.ts'

/**
 * Whether two values of a row satisfy a leaf that compares two attributes. Negative operators are tested as their
 * opposites. Both codes stand for a value.
 */
export type PairTest = ((code: number, otherCode: number, todayMs: number) => boolean) & {
  /** Of a test for equality: by code, the code of the equal one among the other values; negative without one. */
  readonly counterparts?: () => Task<Int32Array>
}

/** The values of both columns. `values` is undefined for the field `Today()`. */
type ComparedColumns = { readonly values: ColumnValues | undefined; readonly others: ColumnValues }

/** The test of a leaf with an attribute as its value. Values of another kind than the leaf's type never match. */
export function pairTest(leaf: CheckedLeaf, columns: ComparedColumns, derivedTexts: DerivedTextCache): PairTest {
  const { values, others } = columns
  if (leaf.type === 'DateTime') return others.kind === 'instant' ? instantPairTest(leaf, values, others) : NEVER
  if (values === undefined) return NEVER
  if (isList(leaf.type)) return listPairTest(values, others)
  if (leaf.type === 'Integer') return integerPairTest(leaf, values, others)
  const isEquality = leaf.operator === 'Equals' || leaf.operator === 'NotEquals'
  if (isEquality) return equalityPairTest(leaf, values, others, derivedTexts)
  return values.kind === 'text' && others.kind === 'text' ? textPairTest(leaf, values, others, derivedTexts) : NEVER
}

const NEVER: PairTest = () => false

function instantPairTest(leaf: CheckedLeaf, values: ColumnValues | undefined, others: InstantValues): PairTest {
  const { operator } = leaf
  if (values === undefined) {
    return (_code, otherCode, todayMs) => compareNumbers(operator, todayMs, others.instantsMs[otherCode] as number)
  }
  if (values.kind !== 'instant') return NEVER
  const { zone } = values
  const days = addedDays(leaf)
  return (code, otherCode) => {
    const instantMs = zone.addDays(values.instantsMs[code] as number, days)
    return compareNumbers(operator, instantMs, others.instantsMs[otherCode] as number)
  }
}

function integerPairTest({ operator }: CheckedLeaf, values: ColumnValues, others: ColumnValues): PairTest {
  if (values.kind !== 'text' || others.kind !== 'text') return NEVER
  return (code, otherCode) => {
    const value = Number(values.dictionary.textOf(code))
    return compareNumbers(operator, value, Number(others.dictionary.textOf(otherCode)))
  }
}

function listPairTest(values: ColumnValues, others: ColumnValues): PairTest {
  if (values.kind !== 'list' || others.kind === 'list') return NEVER
  const elements = new Translation(
    () => values.elementCount,
    (code) => values.codeOfElement(textOf(others, code)),
  )
  return (code, otherCode) => {
    const element = elements.of(otherCode)
    return element !== 0 && values.contains(code, element)
  }
}

/** Each distinct value is looked up among the other ones once. */
function equalityPairTest(
  leaf: CheckedLeaf,
  values: ColumnValues,
  others: ColumnValues,
  derivedTexts: DerivedTextCache,
): PairTest {
  if (values.kind === 'list' || others.kind === 'list') return NEVER
  if (values === others && leaf.functions.length === 0) return (code, otherCode) => code === otherCode
  const isSameTarget = values.kind === 'reference' && others.kind === 'reference' && values.target === others.target
  if (isSameTarget) return (code, otherCode) => code === otherCode
  const translation = new Translation(() => others.size, lookUpOf(leaf, values, others, derivedTexts))
  const test: PairTest = (code, otherCode) => translation.of(code) === otherCode
  return Object.assign(test, { counterparts: () => translation.all(values.size) })
}

function lookUpOf(
  leaf: CheckedLeaf,
  values: ColumnValues,
  others: ColumnValues,
  derivedTexts: DerivedTextCache,
): (code: number) => number {
  if (others.kind === 'instant' || others.kind === 'list') return () => 0
  if (values.kind !== 'text' || others.kind !== 'text') return (code) => others.codeOf(textOf(values, code))
  const read = readerOf(leaf, values, derivedTexts)
  const { entries } = others.dictionary
  return (code) => {
    const { bytes, start, end } = read(code)
    return entries.find(bytes, start, end)
  }
}

type Bytes = { readonly bytes: Uint8Array<ArrayBuffer>; readonly start: number; readonly end: number }

/** Reads a text after the functions of the leaf. */
function readerOf(
  leaf: CheckedLeaf,
  { dictionary }: TextValues,
  derivedTexts: DerivedTextCache,
): (code: number) => Bytes {
  if (leaf.functions.length === 0) return (code) => bytesOf(dictionary, code)
  const derived = derivedTexts.of(leaf.name, dictionary, leaf.functions)
  return (code) => {
    derived.read(code)
    return derived
  }
}

function bytesOf({ entries: { bytes, offsets } }: TextValues['dictionary'], code: number): Bytes {
  return { bytes, start: offsets[code] as number, end: offsets[code + 1] as number }
}

function textPairTest(
  leaf: CheckedLeaf,
  values: TextValues,
  others: TextValues,
  derivedTexts: DerivedTextCache,
): PairTest {
  const read = readerOf(leaf, values, derivedTexts)
  const { operator } = leaf
  if (operator !== 'Contains' && operator !== 'NotContains' && operator !== 'StartsWith' && operator !== 'EndsWith') {
    return (code, otherCode) => {
      const [left, right] = [read(code), bytesOf(others.dictionary, otherCode)]
      const order = compareBytes(left.bytes, left.start, left.end, right.bytes, right.start, right.end)
      return compareNumbers(operator, order, 0)
    }
  }
  return (code, otherCode) => {
    const { bytes, start, end } = read(code)
    return textTest({ ...leaf, values: [others.dictionary.textOf(otherCode)] })(bytes, start, end)
  }
}

function textOf(values: ColumnValues, code: number): string {
  if (values.kind === 'reference') return values.target.idOf(code)
  return values.kind === 'text' ? values.dictionary.textOf(code) : ''
}

const CODES_PER_STEP_COUNT = 1024

/** The codes of values in another dictionary, looked up once. Values that it does not have may be added later. */
class Translation {
  readonly #size: () => number
  readonly #lookUp: (code: number) => number
  /** By code; 0 for one that was not looked up yet, -1 for one without a counterpart. */
  #codes = new Int32Array(64)
  #lookedUpSize = 0

  constructor(size: () => number, lookUp: (code: number) => number) {
    this.#size = size
    this.#lookUp = lookUp
  }

  /**
   * By code, negative for 0 and for values without a counterpart. A copy: look-ups between two steps, on a fork of the
   * rows, may reset what is cached.
   */
  *all(codeCount: number): Task<Int32Array> {
    const codes = new Int32Array(codeCount).fill(-1)
    for (let code = 1; code < codeCount; code += 1) {
      if (code % CODES_PER_STEP_COUNT === 0) yield
      codes[code] = this.of(code) || -1
    }
    return codes
  }

  /** 0 when the other dictionary does not have the value. */
  of(code: number): number {
    const known = this.#codes[code] ?? 0
    if (known > 0) return known
    const size = this.#size()
    if (size !== this.#lookedUpSize) {
      this.#codes.forEach((code, at) => {
        if (code < 0) this.#codes[at] = 0
      })
      this.#lookedUpSize = size
    } else if (known < 0) return 0
    this.#codes = grownInt32(this.#codes, code + 1)
    const found = this.#lookUp(code)
    this.#codes[code] = found === 0 ? -1 : found
    return found
  }
}
