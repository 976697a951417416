import type { CheckedLeaf } from '../condition.ts'

/** Work that an analysis may spend; what is left out makes no proof. */
export type Budget = { stepCount: number }

/** A finite automaton that reads a text and knows whether the text so far satisfies a leaf. */
type Reader = {
  readonly start: number
  next(state: number, point: number): number
  holds(state: number): boolean
}

/**
 * The combinations of results that positive tests of texts can have on one text, bit by bit: those of the states that
 * the automata of all leaves reach together. Undefined when the budget is used up.
 */
export function possibleTextResults(leaves: readonly CheckedLeaf[], budget: Budget): Set<number> | undefined {
  const texts = leaves.flatMap(({ values }) => values.map(String))
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  budget.stepCount -= length
  if (budget.stepCount < 0 || length > MAX_TEXT_LENGTH) return undefined
  const readers = leaves.map(readerOf)
  const alphabet = alphabetOf(texts)
  const found = new Set<number>()
  const seen = new Set<string>()
  const open = [readers.map(({ start }) => start)]
  for (let states = open.pop(); states !== undefined; states = open.pop()) {
    const key = String.fromCharCode(...states.map((state) => state + NEGATIVE_STATES_COUNT))
    if (seen.has(key)) continue
    seen.add(key)
    budget.stepCount -= alphabet.length * readers.length
    if (budget.stepCount < 0) return undefined
    found.add(
      readers.reduce((mask, reader, index) => mask | (Number(reader.holds(states[index] as number)) << index), 0),
    )
    for (const point of alphabet) {
      const next = states.slice()
      for (let index = 0; index < next.length; index += 1) {
        next[index] = (readers[index] as Reader).next(states[index] as number, point)
      }
      open.push(next)
    }
  }
  return found
}

/** Characters of all texts together: states fit into the characters of a key. Longer ones exceed the budget as well. */
const MAX_TEXT_LENGTH = 10_000

/** States of automata from which no text comes back have numbers below 0. */
const NEGATIVE_STATES_COUNT = 2

/** The code points of the texts, and one from each gap between them, where there is one. */
function alphabetOf(texts: readonly string[]): number[] {
  const points = [...new Set(texts.flatMap(pointsOf))].sort((left, right) => left - right)
  const between = [0, ...points.map((point) => point + 1)].filter(
    (point) => point <= MAX_POINT && !points.includes(point),
  )
  return [...points, ...new Set(between)]
}

const MAX_POINT = 0x10ffff

function pointsOf(text: string): number[] {
  return [...text].map((point) => point.codePointAt(0) as number)
}

function readerOf({ operator, values }: CheckedLeaf): Reader {
  const points = pointsOf(String(values[0] ?? ''))
  switch (operator) {
    case 'Contains':
    case 'NotContains':
      return patternReader(points, true)
    case 'EndsWith':
      return patternReader(points, false)
    case 'StartsWith':
      return prefixReader(points)
    case 'GreaterThan':
      return orderReader(points, (order) => order > 0)
    case 'GreaterThanOrEqual':
      return orderReader(points, (order) => order >= 0)
    case 'LessThan':
      return orderReader(points, (order) => order < 0)
    case 'LessThanOrEqual':
      return orderReader(points, (order) => order <= 0)
    default:
      return equalityReader(values.map((value) => pointsOf(String(value))))
  }
}

/** Knuth–Morris–Pratt: the state is the number of points that match. @param isKept Whether a match anywhere counts. */
function patternReader(pattern: readonly number[], isKept: boolean): Reader {
  const { length } = pattern
  const borders = bordersOf(pattern)
  // After a mismatch, a border that continues with the same point fails as well. Without these, few are left to try.
  const fallbacks = [-1]
  for (let at = 1; at < length; at += 1) {
    const border = borders[at] as number
    fallbacks.push(pattern[border] === pattern[at] ? (fallbacks[border] as number) : border)
  }
  return {
    start: 0,
    next(state, point) {
      if (isKept && state === length) return length
      let matched = state === length ? (borders[length] as number) : state
      while (matched >= 0 && pattern[matched] !== point) matched = fallbacks[matched] as number
      return matched + 1
    },
    holds: (state) => state === length,
  }
}

/** By length of a prefix, the length of its longest proper prefix that is also a suffix. */
function bordersOf(pattern: readonly number[]): number[] {
  const borders = [0, 0]
  for (let length = 1; length < pattern.length; length += 1) {
    let border = borders[length] as number
    while (border > 0 && pattern[border] !== pattern[length]) border = borders[border] as number
    borders.push(pattern[border] === pattern[length] ? border + 1 : 0)
  }
  return borders
}

function prefixReader(prefix: readonly number[]): Reader {
  return {
    start: 0,
    next: (state, point) => (state === prefix.length ? state : prefix[state] === point ? state + 1 : -1),
    holds: (state) => state === prefix.length,
  }
}

/** States: the number of equal points, -1 for a text that is less, -2 for one that is greater. */
function orderReader(wanted: readonly number[], isHolding: (order: number) => boolean): Reader {
  return {
    start: 0,
    next(state, point) {
      if (state < 0) return state
      const expected = wanted[state]
      if (expected === undefined || point > expected) return -2
      return point < expected ? -1 : state + 1
    },
    // A text that ends early is less.
    holds: (state) => isHolding(state === -2 ? 1 : state === wanted.length ? 0 : -1),
  }
}

/** A tree of the texts by their points; -1 where none of them continues. */
function equalityReader(texts: readonly (readonly number[])[]): Reader {
  const children: Map<number, number>[] = [new Map()]
  const ends = new Set<number>()
  for (const text of texts) {
    let node = 0
    for (const point of text) {
      const child = children[node]?.get(point) ?? children.length
      if (child === children.length) children.push(new Map())
      children[node]?.set(point, child)
      node = child
    }
    ends.add(node)
  }
  return {
    start: 0,
    next: (state, point) => children[state]?.get(point) ?? -1,
    holds: (state) => ends.has(state),
  }
}
