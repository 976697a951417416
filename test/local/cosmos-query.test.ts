import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Container, JSONValue } from '@azure/cosmos'
import { docsOf, openAccount, send } from '../support/local/cosmos-account.ts'

const ROW = {
  id: 'row',
  tenantId: 't1',
  n: 5,
  text: 'Åse Straße',
  nothing: null,
  no: false,
  list: [1, 'a', { k: [null] }],
  inner: { deep: 'x' },
  'custom/x': 7,
  kelvin: '\u212a\u0130',
  sigma: 'ΟΔΟΣ',
}

async function ask(container: Container, query: string, parameters: Record<string, JSONValue> = {}) {
  const values = Object.entries(parameters).map(([name, value]) => ({ name, value }))
  const spec = { query, parameters: values }
  return (await container.items.query(spec, { partitionKey: 't1' }).fetchAll()).resources
}

/** true: the row is found by the condition; false: by its negation; undefined: by neither. */
const MEANINGS: readonly (readonly [condition: string, meaning: boolean | undefined])[] = [
  ['c.n = 5', true],
  ['c.n = "5"', undefined],
  ['c.n != "5"', undefined],
  ['c.none = 5', undefined],
  ['c.none != 5', undefined],
  ['c.none = null', undefined],
  ['c.none = c.none', undefined],
  ['c.nothing = null', true],
  ['c.nothing != null', false],
  ['c.nothing = 0', undefined],
  ['c.nothing <= null', true],
  ['c.no = false', true],
  ['c.no = 0', undefined],
  ['c.no < true', true],
  ['c.n < "a"', undefined],
  ['c.list < c.list', undefined],
  ['c.inner = { "deep": "x" }', true],
  ['c.list = [1, "a", { k: [null] }]', true],
  ['c.none = 1 OR c.n = 5', true],
  ['c.none = 1 OR c.n = 6', undefined],
  ['c.none = 1 AND c.n = 5', undefined],
  ['c.none = 1 AND c.n = 6', false],
  ['NOT c.none', undefined],
  ['NOT c.n', undefined],
  ['c.n', undefined],
  ['c.n IN (4, 5)', true],
  ['c.n IN ("a")', undefined],
  ['c.none IN (1)', undefined],
  ['IS_DEFINED(c.none)', false],
  ['IS_DEFINED(c.nothing)', true],
  ['IS_DEFINED(c.list.length)', false],
  ['IS_DEFINED(c.toString)', false],
  ['IS_NULL(c.none)', false],
  ['IS_NULL(c.nothing)', true],
  ['ARRAY_CONTAINS(c.list, { k: [null] })', true],
  ['ARRAY_CONTAINS(c.list, "1")', false],
  ['ARRAY_CONTAINS(c.none, 1)', undefined],
  ['ARRAY_CONTAINS(c.list, c.none)', undefined],
  ['ARRAY_CONTAINS([1, 2, 3, 4, 5, 6, 7, 8, 9], c.n)', true],
  ['ARRAY_CONTAINS([1, 2, 3, 4, "5", 6, 7, 8, 9], c.n)', false],
  ['CONTAINS(c.text, "åse")', false],
  ['CONTAINS(c.text, "ÅSE s", true)', true],
  ['CONTAINS(c.text, "STRASSE", true)', false],
  ['CONTAINS(c.kelvin, "k", true)', false],
  ['CONTAINS(c.kelvin, "i", true)', false],
  ['STRINGEQUALS(c.sigma, "οδοσ", true)', true],
  ['CONTAINS(c.n, "5")', undefined],
  ['CONTAINS(c.none, "5", true)', undefined],
  ['STARTSWITH(c.text, "åSE", true)', true],
  ['STARTSWITH(c.id, "ro")', true],
  ['stringequals(c.inner["deep"], "X", true)', true],
  ['c["custom/x"] >= 7', true],
  ["c.id > 'ro' AND 'rox' > c.id", true],
  ['c._ts > 0 AND c._ts < "x"', undefined],
]

describe('the meaning of conditions', () => {
  it('is true, false or undefined, and only true matches the row', async (t) => {
    const container = await (await openAccount(t)).container('things')
    await container.items.create(ROW)
    for (const [condition, meaning] of MEANINGS) {
      const found = await ask(container, `SELECT VALUE 1 FROM c WHERE ${condition}`)
      const negated = await ask(container, `SELECT VALUE 1 FROM c WHERE NOT (${condition})`)
      assert.deepEqual([found.length, negated.length], [Number(meaning === true), Number(meaning === false)], condition)
    }
  })

  it('omits undefined from results', async (t) => {
    const container = await (await openAccount(t)).container('things')
    await container.items.create(ROW)
    assert.deepEqual(await ask(container, 'SELECT VALUE c.none FROM c'), [])
    assert.deepEqual(await ask(container, 'SELECT c.none, c.nothing, c.n AS m FROM c'), [{ nothing: null, m: 5 }])
    assert.deepEqual(await ask(container, 'SELECT VALUE { a: c.none, "b c": [c.n, c.none] } FROM c'), [{ 'b c': [5] }])
    assert.deepEqual(await ask(container, 'SELECT VALUE COUNT(1) FROM c WHERE c.none = 1'), [0])
  })

  it('sorts by type and value, in code point order, and omits rows without the property', async (t) => {
    const container = await (await openAccount(t)).container('things')
    const values = ['\u{1F600}', '\uFFFD', 'a', 'B', 10, 9, true, false, null]
    for (const [n, value] of values.entries()) await container.items.create({ id: `${n}`, tenantId: 't1', value })
    await container.items.create({ id: 'lacks', tenantId: 't1' })
    const sorted = [null, false, true, 9, 10, 'B', 'a', '\uFFFD', '\u{1F600}']
    assert.deepEqual(await ask(container, 'SELECT VALUE c["value"] FROM c ORDER BY c["value"]'), sorted)
    const descending = await ask(container, 'SELECT VALUE c["value"] FROM c ORDER BY c["value"] DESC OFFSET 2 LIMIT 3')
    assert.deepEqual(descending, ['a', 'B', 10])
  })
})

describe('the limits of queries', () => {
  const indexingPolicy = {
    includedPaths: [{ path: '/*' }, { path: '/data/nin/?' }],
    excludedPaths: [{ path: '/data/*' }, { path: '/notes/?' }, { path: '/"_etag"/?' }],
  }

  it('refuse the order of a property without an index', async (t) => {
    const container = await (await openAccount(t)).container('things', { indexingPolicy })
    for (const property of ['id', '_ts', 'n', 'data.nin', 'notes.deep', 'other.data']) {
      assert.deepEqual(await ask(container, `SELECT * FROM c ORDER BY c.${property}`), [], property)
    }
    for (const property of ['data', 'data.other', 'data.nin.deep', 'notes', '_etag']) {
      const refused = ask(container, `SELECT * FROM c ORDER BY c.${property} DESC`)
      await assert.rejects(refused, { code: 400, message: /order-by item is excluded/ }, property)
    }
  })

  it('refuse the order of what no path includes', async (t) => {
    const only = { includedPaths: [{ path: '/n/?' }], excludedPaths: [{ path: '/*' }] }
    const container = await (await openAccount(t)).container('things', { indexingPolicy: only })
    assert.deepEqual(await ask(container, 'SELECT * FROM c ORDER BY c.n'), [])
    await assert.rejects(ask(container, 'SELECT * FROM c ORDER BY c.m'), { code: 400 })
  })

  it('are 512 KB with the parameters', async (t) => {
    const { cosmos, container } = await openAccount(t)
    await container('things')
    const query = 'SELECT * FROM c WHERE c.n = @n'
    const emptyBytes = JSON.stringify({ query, parameters: [{ name: '@n', value: '' }] }).length
    for (const [moreBytes, status] of [
      [0, 200],
      [1, 400],
    ] as const) {
      const value = 'x'.repeat(524_288 - emptyBytes + moreBytes)
      const headers = {
        'content-type': 'application/query+json',
        'x-ms-documentdb-isquery': 'true',
        'x-ms-documentdb-partitionkey': '["t1"]',
      }
      const body = JSON.stringify({ query, parameters: [{ name: '@n', value }] })
      assert.equal((await send(cosmos, 'POST', docsOf('things'), headers, body)).status, status)
    }
  })
})

const UNSUPPORTED: readonly (readonly [query: string, named: RegExp])[] = [
  ['SELECT DISTINCT c.n FROM c', /DISTINCT/],
  ['SELECT c.n, COUNT(1) AS m FROM c', /COUNT/],
  ['SELECT VALUE COUNT(c.n) FROM c', /'c'/],
  ['SELECT VALUE SUM(c.n) FROM c', /SUM/],
  ['SELECT VALUE COUNT(1) FROM c ORDER BY c.n', /COUNT/],
  ['SELECT c.n FROM c GROUP BY c.n', /GROUP/],
  ['SELECT * FROM c JOIN x IN c.list', /JOIN/],
  ['SELECT * FROM x IN c.list', /IN/],
  ['SELECT * FROM c.list', /'\.'/],
  ['SELECT *', /FROM/],
  ['SELECT c.n + 1 AS m FROM c', /\+/],
  ['SELECT c.n - 1 AS m FROM c', /-/],
  ['SELECT c.n ?? 1 AS m FROM c', /\?/],
  ['SELECT "a" FROM c', /AS/],
  ['SELECT c.n, c.inner.n FROM c', /same name/],
  ['SELECT TOP 1.5 * FROM c', /1\.5/],
  ['SELECT TOP -1 * FROM c', /-1/],
  ['SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1', /TOP/],
  ['SELECT * FROM c OFFSET 1', /LIMIT/],
  ['SELECT * FROM c LIMIT 1', /LIMIT/],
  ['SELECT * FROM c ORDER BY c.a, c.b', /composite index/],
  ['SELECT * FROM c ORDER BY c', /ORDER BY/],
  ['SELECT * FROM c WHERE c.n BETWEEN 1 AND 2', /BETWEEN/],
  ['SELECT * FROM c WHERE c.n NOT IN (4, 6)', /NOT/],
  ['SELECT * FROM c WHERE c.text LIKE "a%"', /LIKE/],
  ['SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM c)', /EXISTS/],
  ['SELECT * FROM c WHERE ARRAY_CONTAINS(c.list, 1, true)', /ARRAY_CONTAINS/],
  ['SELECT * FROM c WHERE ENDSWITH(c.text, "a")', /ENDSWITH/],
  ['SELECT * FROM c WHERE udf.mine(c)', /'\('/],
  ['SELECT * FROM c WHERE c.list[0] = 1', /\[0\]/],
  ['SELECT * FROM c WHERE c[@p] = 1', /@p/],
  ['SELECT * FROM c WHERE c.order = 1', /\["order"\]/],
  ['SELECT * FROM c WHERE c.n == 5', /'='/],
  ['SELECT * FROM c WHERE d.n = 5', /identifier d/],
  ['SELECT * FROM c WHERE c.n = undefined', /undefined/],
  ['SELECT * FROM c WHERE c.n = @missing', /@missing/],
  ['SELECT * FROM c WHERE c.n = "\\x"', /\\x/],
  ['SELECT * FROM c WHERE c.n = 1e999', /1e999/],
  ['SELECT * FROM c -- comment', /--/],
  ['SELECT * FROM c;', /;/],
  [`SELECT * FROM c WHERE ${'('.repeat(10_000)}`, /nested/],
]

describe('an unsupported part of a query', () => {
  it('is refused with a 400 that names it', async (t) => {
    const account = await openAccount(t)
    const container = await account.container('things')
    await container.items.create(ROW)
    for (const [query, named] of UNSUPPORTED) {
      await assert.rejects(ask(container, query), { code: 400, message: named }, query.slice(0, 80))
    }
  })

  it('is also refused in members and headers of a request', async (t) => {
    const account = await openAccount(t)
    await account.container('things')
    const headers = { 'x-ms-documentdb-isquery': 'true', 'x-ms-documentdb-partitionkey': '["t1"]' }
    const post = async (body: object, more: Record<string, string> = {}) =>
      (await send(account.cosmos, 'POST', docsOf('things'), { ...headers, ...more }, JSON.stringify(body))).status
    const query = 'SELECT * FROM c'
    assert.equal(await post({ query }), 200)
    assert.equal(await post({ query, options: {} }), 400)
    assert.equal(await post({ query, parameters: [{ name: 'p', value: 1 }] }), 400)
    assert.equal(await post({ query }, { 'x-ms-max-item-count': '0' }), 400)
    assert.equal(await post({ query }, { 'x-ms-documentdb-partitionkey': '["a","b"]' }), 400)
  })
})

describe('SELECT DISTINCT VALUE', () => {
  /** Enough documents for an index over the property. */
  const COUNT = 1_500

  it('returns each value once, over all pages, with and without an index', async (t) => {
    const { container } = await openAccount(t)
    const things = await container('things')
    const documents = Array.from({ length: COUNT }, (_, index) => ({
      id: `${index}`,
      tenantId: 't1',
      key: index % 3 === 0 ? index % 7 : `key ${index % 7}`,
      other: index % 2 === 0,
    }))
    for (let start = 0; start < COUNT; start += 100) {
      const operations = documents.slice(start, start + 100)
      await things.items.batch(
        operations.map((resourceBody) => ({ operationType: 'Create' as const, resourceBody })),
        't1',
      )
    }
    const keys = ['key 1', 'key 2', 'key 5', 'none']
    const query = 'SELECT DISTINCT VALUE c.key FROM c WHERE ARRAY_CONTAINS(@keys, c.key)'
    const spec = { query, parameters: [{ name: '@keys', value: keys }] }
    for (const maxItemCount of [1000, 2]) {
      const { resources } = await things.items.query<string>(spec, { partitionKey: 't1', maxItemCount }).fetchAll()
      assert.deepEqual(resources.sort(), ['key 1', 'key 2', 'key 5'])
    }
    assert.deepEqual((await ask(things, query, { '@keys': [1, 'key 2'] })).sort(), [1, 'key 2'])
    assert.deepEqual((await ask(things, 'SELECT DISTINCT VALUE c.other FROM c')).sort(), [false, true])
    assert.deepEqual((await ask(things, `${query} AND c.other = true`, { '@keys': keys })).sort(), [
      'key 1',
      'key 2',
      'key 5',
    ])
  })

  it('is refused together with TOP and ORDER BY', async (t) => {
    const { container } = await openAccount(t)
    const things = await container('things')
    for (const query of ['SELECT DISTINCT c.n FROM c', 'SELECT DISTINCT VALUE c.n FROM c ORDER BY c.n']) {
      await assert.rejects(ask(things, query), { code: 400 })
    }
  })
})
