import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Container, openCatalog } from '../../infra/local/cosmos/catalog.ts'
import { parsePartition } from '../../infra/local/cosmos/item-rules.ts'
import { createItem } from '../../infra/local/cosmos/items.ts'
import { type Page, type PageRequest, runQuery } from '../../infra/local/cosmos/query/execute.ts'
import { parseQuery } from '../../infra/local/cosmos/query/parser.ts'
import { openStorage, type Storage } from '../../infra/local/cosmos/storage.ts'
import type { Json } from '../../shared/kernel/json.ts'

/** Three times the number of documents with one of the searched values. */
const DOCUMENTS_COUNT = 6000
const TYPES = ['identity', 'orgUnit', 'relationship']
const PARTITION = parsePartition('["t1"]')

const idOf = (index: number): string => String(index).padStart(6, '0')

let storage: Storage
let container: Container
describe('Plans of the local database', () => {
  before(() => {
    storage = openStorage(':memory:', () => 1_000_000)
    const catalog = openCatalog(storage)
    catalog.createDatabase('{"id":"d"}')
    container = catalog.createContainer('d', '{"id":"c","partitionKey":{"paths":["/tenantId"]}}')
    storage.write(() => {
      for (let index = 0; index < DOCUMENTS_COUNT; index += 1) {
        const target = { storage, container, partition: PARTITION, ifMatch: undefined, ifNoneMatch: undefined }
        const objectType = TYPES[index % TYPES.length] ?? ''
        createItem(target, { id: idOf(index), tenantId: 't1', objectType, deleted: false, key: `k${index % 2000}` })
      }
    })
  })
  after(() => storage.close())

  /** A page of a query, with the query plans of SQLite. */
  function explained(
    text: string,
    values: Record<string, Json>,
    request: PageRequest,
  ): { page: Page; steps: string[] } {
    const steps: string[] = []
    const observed: Storage = {
      ...storage,
      prepare(sql) {
        if (sql.startsWith('SELECT pk, id, body')) {
          const bound = new Array<null>(sql.split('?').length - 1).fill(null)
          for (const { detail } of storage.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bound))
            steps.push(String(detail))
        }
        return storage.prepare(sql)
      },
    }
    const place = { storage: observed, container, partition: PARTITION }
    const parameters = new Map(Object.entries(values).map(([name, value]) => [`@${name}`, value]))
    return { page: runQuery(parseQuery(text), place, parameters, request), steps }
  }

  describe('the plan of a page of one type', () => {
    const LIST = "SELECT TOP @count * FROM c WHERE c.objectType = 'identity' AND c.deleted = false"

    it('is a seek in the index of the type without a sort, on the first and later pages', () => {
      for (const [after, seek, first] of [
        [undefined, /^SEARCH docs USING INDEX docs_by_value_\d+_\d+ \(pk=\? AND <expr>=\?\)$/, idOf(0)],
        [idOf(3000), /^SEARCH docs USING INDEX docs_by_value_\d+_\d+ \(pk=\? AND <expr>=\? AND id>\?\)$/, idOf(3003)],
      ] as const) {
        const text = `${LIST} ${after === undefined ? '' : 'AND c.id > @after'} ORDER BY c.id`
        const values = { count: 51, ...(after === undefined ? {} : { after }) }
        const { page, steps } = explained(text, values, { rowCount: 51, after: undefined })
        assert.equal(steps.length, 1, steps.join('; '))
        assert.match(steps[0] ?? '', seek)
        assert.equal((JSON.parse(page.results[0] ?? '') as { id: string }).id, first)
        assert.equal(page.lookedAtCount, 51)
      }
    })

    it('is a seek to the position of a continuation', () => {
      const text = `${LIST} ORDER BY c.id`
      const { page } = explained(text, { count: 1000 }, { rowCount: 100, after: undefined })
      const next = explained(text, { count: 1000 }, { rowCount: 100, after: page.end })
      assert.match(
        next.steps.join('; '),
        /^SEARCH docs USING INDEX docs_by_value_\d+_\d+ \(pk=\? AND <expr>=\? AND id>\?\)$/,
      )
      assert.equal((JSON.parse(next.page.results[0] ?? '') as { id: string }).id, idOf(300))
    })
  })

  describe('the charge of a page in the order of a property', () => {
    it('is for the rows from the start of the page to its end, those that do not match included', () => {
      const charge = (text: string, values: Record<string, Json>) =>
        explained(text, values, { rowCount: 50, after: undefined }).page.chargedCount
      assert.equal(charge('SELECT TOP 50 c.id FROM c ORDER BY c.key', {}), 50)
      assert.equal(charge('SELECT TOP 50 c.id FROM c WHERE c.key > @after ORDER BY c.key', { after: 'k5' }), 50)
      const others = "SELECT TOP 50 c.id FROM c WHERE NOT STARTSWITH(c.key, 'k1') ORDER BY c.key"
      // Three documents have each key: k0, then 1,111 keys that begin with k1.
      assert.equal(charge(others, {}), 50 + 3 * 1111)
    })
  })

  describe('the plan of a search for many values', () => {
    it('is a seek for each value, even if several documents have it', () => {
      const keys = Array.from({ length: 1000 }, (_, index) => `k${index}`)
      const text = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@keys, c.key)'
      const { page, steps } = explained(text, { keys }, { rowCount: 5000, after: undefined })
      assert.equal(page.results.length, 3000)
      assert.equal(page.lookedAtCount, 3000)
      assert.match(steps[0] ?? '', /^SEARCH docs USING INDEX docs_by_value_\d+_\d+ \(pk=\? AND <expr>=\?\)$/)
    })
  })

  describe('the plan of a page of recent writes', () => {
    it('reads no older document, even if thousands are recent', () => {
      const text = 'SELECT * FROM c WHERE c._ts >= @since'
      const { page, steps } = explained(text, { since: 1000 }, { rowCount: 500, after: undefined })
      assert.deepEqual(steps, ['SEARCH docs USING INDEX docs_by_id_with_ts (container=? AND pk=?)'])
      const next = explained(text, { since: 1000 }, { rowCount: 500, after: page.end })
      assert.deepEqual(next.steps, ['SEARCH docs USING INDEX docs_by_id_with_ts (container=? AND pk=? AND id>?)'])
      assert.equal(next.page.lookedAtCount, 500)
    })
  })
})
