import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Container, openCatalog } from '../../infra/local/cosmos/catalog.ts'
import { parsePartition } from '../../infra/local/cosmos/item-rules.ts'
import { createItem } from '../../infra/local/cosmos/items.ts'
import type { Position } from '../../infra/local/cosmos/query/continuation.ts'
import { runQuery } from '../../infra/local/cosmos/query/execute.ts'
import { parseQuery } from '../../infra/local/cosmos/query/parser.ts'
import { compareText } from '../../infra/local/cosmos/query/semantics.ts'
import { openStorage, type Storage } from '../../infra/local/cosmos/storage.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'

type Item = { readonly id: string; readonly text?: unknown; readonly name?: unknown }

const PARTITION = parsePartition('["t"]')
const POLICIES = {
  'the text alone': { includedPaths: [{ path: '/*' }, { path: '/text/?' }] },
  'the name, with the text': { compositeIndexes: [[{ path: '/name' }, { path: '/text' }]] },
}
const SEARCH = "SELECT VALUE c.id FROM c WHERE CONTAINS(c.text, @text) AND c.name >= '' ORDER BY c.name"

/** Names repeat without order. There are three kinds of texts. Some documents have no strings or other types. */
const ITEMS: readonly Item[] = Array.from({ length: 26_000 }, (_, index): Item => {
  const id = `i${String((index * 7) % 26_000).padStart(5, '0')}`
  if (index % 100 === 0) return { id }
  if (index % 101 === 0) return { id, text: ['common'], name: index }
  if (index % 103 === 0) return { id, text: 'common', name: index % 2 === 0 ? null : { x: 1 } }
  const text = `${index % 1000 === 1 ? 'rare' : 'common'} ${index}`
  return { id, text, name: `${['å', 'z', '😀', '\uffff', 'A'][index % 5]}${(index * 13) % 2000}` }
})

let storage: Storage
let container: Container

function add(item: Item): void {
  const target = { storage, container, partition: PARTITION, ifMatch: undefined, ifNoneMatch: undefined }
  createItem(target, { ...item, tenantId: 't' } as JsonObject)
}

function page(text: string, rowCount: number, position?: Position) {
  const parameters = new Map([['@text', text]])
  return runQuery(parseQuery(SEARCH), { storage, container, partition: PARTITION }, parameters, {
    rowCount,
    after: position,
  })
}

function searched(text: string): string[] {
  const ids: string[] = []
  let position: Position | undefined
  do {
    const { results, end } = page(text, 5000, position)
    ids.push(...results.map((result) => String(JSON.parse(result))))
    position = end
  } while (position !== undefined)
  return ids
}

const expected = (items: readonly Item[], text: string): string[] =>
  items
    .filter((item) => typeof item.text === 'string' && item.text.includes(text) && typeof item.name === 'string')
    .sort((left, right) => compareText(String(left.name), String(right.name)) || compareText(left.id, right.id))
    .map(({ id }) => id)

for (const [indexed, policy] of Object.entries(POLICIES)) {
  describe(`a search ordered by name, with an index of ${indexed}`, () => {
    before(() => {
      storage = openStorage(':memory:', Date.now)
      const catalog = openCatalog(storage)
      catalog.createDatabase('{"id":"d"}')
      const definition = { id: 'c', partitionKey: { paths: ['/tenantId'] }, indexingPolicy: policy }
      container = catalog.createContainer('d', JSON.stringify(definition))
      storage.write(() => ITEMS.forEach(add))
    })
    after(() => storage.close())

    for (const [claim, text, count] of [
      ['what is common', 'common', 20_000],
      ['what is rare', 'rare', 20],
      ['one', ' 77', 1],
    ] as const) {
      it(`finds ${claim}, in order`, () => {
        const found = searched(text)
        assert.ok(found.length >= count)
        assert.deepEqual(found, expected(ITEMS, text))
      })
    }

    it('returns nothing without a match', () => assert.deepEqual(searched('absent'), []))

    it('reads few documents for the first of many matches, and for all of few', () => {
      assert.ok(page('common', 100).lookedAtCount < 300)
      assert.ok(page('rare', 100).lookedAtCount < 40)
      assert.equal(page('absent', 100).lookedAtCount, 0)
    })

    it('finds text after a NUL, and keeps the order with lone surrogates', () => {
      const odd = [
        { id: 'odd1', text: 'x\u0000common', name: 'A\u0000' },
        { id: 'odd2', text: 'common', name: '\ud800' },
      ]
      storage.write(() => odd.forEach(add))
      for (const text of ['common', 'rare']) assert.deepEqual(searched(text), expected([...ITEMS, ...odd], text))
    })
  })
}
