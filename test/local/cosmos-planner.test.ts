import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type Container, openCatalog } from '../../infra/local/cosmos/catalog.ts'
import { parsePartition } from '../../infra/local/cosmos/item-rules.ts'
import { createItem } from '../../infra/local/cosmos/items.ts'
import type { Position } from '../../infra/local/cosmos/query/continuation.ts'
import { compile } from '../../infra/local/cosmos/query/evaluator.ts'
import { runQuery } from '../../infra/local/cosmos/query/execute.ts'
import { compareText } from '../../infra/local/cosmos/query/semantics.ts'
import type { Expression, Query } from '../../infra/local/cosmos/query/syntax.ts'
import { openStorage, type Storage } from '../../infra/local/cosmos/storage.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'

/** Enough documents to create value indexes. */
const DOCUMENTS_COUNT = 1200
const PIECES = [
  'a',
  'A',
  'b',
  'k',
  'K',
  '\u212a',
  'i',
  '\u0130',
  'å',
  'Å',
  'σ',
  'ς',
  'Σ',
  '"',
  '\\',
  '%',
  '_',
  '\0',
  '\n',
]
const text = fc
  .array(fc.constantFrom(...PIECES, '\ud83d\ude00', '\ud7ff', '\ud800'), { maxLength: 3 })
  .map((all) => all.join(''))
const NUMBERS = [0, -0, 1, -1, 5, 1.5, 0.1 + 0.2, 2 ** 53, 2 ** 60, 1e21, 5e-324]
const scalar: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.constantFrom<Json>(...NUMBERS, true, false, null, '1', '5', 'true'),
)
const json: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom<Json[]>([], {}, [1], ['a'], { a: 1 }, { a: 'a' }, '{"a":1}') },
)
const PATHS = [['id'], ['_ts'], ['a'], ['b', 'a'], ['custom/x'], ['we"ird'], ['a', 'a'], ['none'], ['tenantId']]
const idText = text.map((each) => each.toWellFormed().replaceAll(/[\\]/g, ''))

const property: fc.Arbitrary<Expression> = fc.constantFrom(...PATHS).map((path) => ({ kind: 'property', path }))
const literal = (value: fc.Arbitrary<Json>): fc.Arbitrary<Expression> =>
  value.map((each) => ({ kind: 'literal', value: each }))
const constant = literal(fc.oneof(json, fc.constantFrom(0, 1000, 1001.5, 1600, 2000)))
const list = literal(fc.array(json, { maxLength: 12 }))

const leaf: fc.Arbitrary<Expression> = fc.oneof(
  fc
    .tuple(fc.constantFrom('=', '!=', '<', '<=', '>', '>=' as const), property, constant, fc.boolean())
    .map(([operator, one, other, isFlipped]): Expression => {
      const [left, right] = isFlipped ? [other, one] : [one, other]
      return { kind: 'compare', operator, left, right }
    }),
  fc
    .tuple(property, fc.array(constant, { minLength: 1, maxLength: 4 }))
    .map(([operand, options]): Expression => ({ kind: 'in', operand, options })),
  fc.tuple(list, property).map((operands): Expression => ({ kind: 'call', name: 'ARRAY_CONTAINS', operands })),
  fc
    .tuple(
      fc.constantFrom('CONTAINS', 'STARTSWITH', 'STRINGEQUALS' as const),
      property,
      literal(text),
      literal(fc.boolean()),
    )
    .map(([name, ...operands]): Expression => ({ kind: 'call', name, operands })),
)
const condition: fc.Arbitrary<Expression> = fc.oneof(
  { weight: 3, arbitrary: leaf },
  {
    weight: 2,
    arbitrary: fc
      .array(leaf, { minLength: 2, maxLength: 3 })
      .map((operands): Expression => ({ kind: 'and', operands })),
  },
  {
    weight: 1,
    arbitrary: fc.array(leaf, { minLength: 2, maxLength: 3 }).map((operands): Expression => ({ kind: 'or', operands })),
  },
  { weight: 1, arbitrary: leaf.map((operand): Expression => ({ kind: 'not', operand })) },
)

let storage: Storage
let container: Container
const stored: { id: string; pk: string; document: JsonObject }[] = []

describe('The planner of the local database', () => {
  before(() => {
    let nowMs = 1_000_000
    storage = openStorage(':memory:', () => nowMs)
    const catalog = openCatalog(storage)
    catalog.createDatabase('{"id":"d"}')
    container = catalog.createContainer('d', '{"id":"c","partitionKey":{"paths":["/tenantId"]}}')
    const members = fc.record(
      { a: json, b: fc.record({ a: json }), 'custom/x': json, 'we"ird': json },
      { requiredKeys: [] },
    )
    const drawn = fc.sample(fc.tuple(idText, members), { numRuns: DOCUMENTS_COUNT, seed: 1 })
    for (const [n, [name, own]] of drawn.entries()) {
      nowMs += 1000
      const [id, tenantId] = [`${name}${n}`, n % 50 === 0 ? 't2' : 't1']
      const pk = parsePartition(JSON.stringify([tenantId]))
      const target = { storage, container, partition: pk, ifMatch: undefined, ifNoneMatch: undefined }
      const { body } = storage.write(() => createItem(target, { ...own, id, tenantId }))
      stored.push({ id, pk, document: JSON.parse(String(body)) as JsonObject })
    }
  })
  after(() => storage.close())

  /** All pages of a query, with the planner. */
  function planned(where: Expression, partition: string | undefined, order?: Query['order']): Json[] {
    const query: Query = {
      select: { kind: 'value', expression: { kind: 'property', path: ['id'] } },
      isDistinct: false,
      where,
      order,
      top: undefined,
      offset: undefined,
      limit: undefined,
    }
    const results: string[] = []
    let position: Position | undefined
    do {
      const page = runQuery(query, { storage, container, partition }, new Map(), { rowCount: 100, after: position })
      results.push(...page.results)
      position = page.end
    } while (position !== undefined)
    return results.map((result) => JSON.parse(result) as Json)
  }

  /** The rows that match the condition by evaluation of each row, ordered by partition and id. */
  function asked(where: Expression, partition: string | undefined): string[] {
    const evaluate = compile(where, new Map())
    return stored
      .filter(({ pk }) => partition === undefined || pk === partition)
      .filter((row) => evaluate(row) === true)
      .sort((left, right) => compareText(left.pk, right.pk) || compareText(left.id, right.id))
      .map(({ id }) => id)
  }

  it('returns the same rows in the same order as an evaluation of every row', () => {
    const partition = fc.constantFrom('["t1"]', '["t2"]', undefined)
    fc.assert(
      fc.property(condition, partition, (where, inPartition) => {
        assert.deepEqual(planned(where, inPartition), asked(where, inPartition))
      }),
      { numRuns: 600, interruptAfterTimeLimit: 20_000 },
    )
    const made = storage.prepare('SELECT count(*) AS count FROM value_indexes').get()
    assert.ok(Number(made?.count) >= 4, 'the indexes over values were never put to use')
  })

  it('returns every row with the property exactly once, in any order', () => {
    fc.assert(
      fc.property(condition, fc.constantFrom(...PATHS), fc.boolean(), (where, path, isDescending) => {
        const isThere: Expression = { kind: 'call', name: 'IS_DEFINED', operands: [{ kind: 'property', path }] }
        const expected = asked({ kind: 'and', operands: [where, isThere] }, '["t1"]')
        const sorted = planned(where, '["t1"]', { path, isDescending }).map(String)
        assert.deepEqual(sorted.sort(compareText), expected)
      }),
      { numRuns: 200 },
    )
  })

  it('finds every stored value by equality, and every text by any character in it', () => {
    const property: Expression = { kind: 'property', path: ['a'] }
    const values = new Map(stored.map(({ document }) => [JSON.stringify(document.a), document.a]))
    assert.ok(values.size > 200)
    for (const value of values.values()) {
      if (value === undefined) continue
      const where: Expression = { kind: 'compare', operator: '=', left: property, right: { kind: 'literal', value } }
      assert.deepEqual(planned(where, '["t1"]'), asked(where, '["t1"]'), JSON.stringify(value))
    }
    for (const name of ['CONTAINS', 'STARTSWITH'] as const) {
      for (const value of PIECES) {
        const operands: Expression[] = [property, { kind: 'literal', value }, { kind: 'literal', value: true }]
        const where: Expression = { kind: 'call', name, operands }
        assert.deepEqual(planned(where, '["t1"]'), asked(where, '["t1"]'), JSON.stringify(value))
      }
    }
  })
})
