import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoreObjectPageQuery, cursors, PageQuery, pagedResult } from '../../shared/http/paging.ts'

const [ONE, TWO] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
const { sign, open } = cursors([ONE])
const position = fc.record(
  { after: fc.string(), pageSize: fc.integer({ min: 1, max: 5000 }) },
  { noNullPrototype: true },
)
const binding = fc.array(fc.option(fc.string(), { nil: undefined }))

describe('cursors', () => {
  it('open to the position that was signed', () => {
    fc.assert(fc.property(position, binding, (made, bound) => assert.deepEqual(open(sign(made, bound), bound), made)))
  })

  it('start with v1_ and need no escaping in a URL', () => {
    fc.assert(fc.property(position, binding, (made, bound) => assert.match(sign(made, bound), /^v1_[\w-]+$/)))
  })

  it('do not open for another list', () => {
    fc.assert(
      fc.property(position, binding, binding, (made, bound, other) => {
        fc.pre(JSON.stringify(bound.map((part) => part ?? null)) !== JSON.stringify(other.map((part) => part ?? null)))
        assert.throws(() => open(sign(made, bound), other), { code: 'InvalidCursor' })
      }),
    )
  })

  it('do not open for another list whose binding has the same length', () => {
    const cursor = sign({ after: 'a', pageSize: 1 }, ['tenant', 'one'])
    for (const other of [
      ['tenant', 'two'],
      ['tenanu', 'one'],
      ['one', 'tenant'],
    ]) {
      assert.throws(() => open(cursor, other), { code: 'InvalidCursor' }, String(other))
    }
  })

  it('do not open after a character is altered, removed or added', () => {
    const cursor = sign({ after: 'a0000000-0000-4000-8000-000000000000', pageSize: 2000 }, ['tenant'])
    for (let index = 0; index < cursor.length; index += 1) {
      for (const character of ['A', 'B', '_', '%', '']) {
        const altered = cursor.slice(0, index) + character + cursor.slice(index + 1)
        if (altered === cursor) continue
        assert.throws(() => open(altered, ['tenant']), { code: 'InvalidCursor' }, altered)
      }
    }
    for (const added of ['A', '=', '==', ' ', '\n']) {
      assert.throws(() => open(cursor + added, ['tenant']), { code: 'InvalidCursor' })
    }
  })

  it('are verified with any of the keys and signed with the first', () => {
    const made = { after: 'a', pageSize: 1 }
    const changed = cursors([TWO, ONE])
    assert.deepEqual(changed.open(sign(made, []), []), made)
    assert.throws(() => open(changed.sign(made, []), []), { code: 'InvalidCursor' })
  })
})

describe('a page of a list', () => {
  const asked: (readonly [string | undefined, number])[] = []
  const keys = cursors([ONE])
  const page = (query: { pageSize?: number; nextCursor?: string }, continueAfter?: string, defaultSize?: number) =>
    pagedResult(
      query,
      ['list'],
      async () => keys,
      async (after, size) => {
        asked.push([after, size])
        return { items: ['item'], ...(continueAfter === undefined ? {} : { continueAfter }) }
      },
      ...(defaultSize === undefined ? [] : [defaultSize]),
    )

  it('has the size of the query, else of its cursor, else the default of the list, else 2,000', async () => {
    const { nextCursor } = await page({ pageSize: 7 }, 'last')
    assert.ok(nextCursor !== undefined)
    asked.length = 0
    await page({})
    await page({}, undefined, 50)
    await page({ pageSize: 3 }, undefined, 50)
    await page({ nextCursor }, undefined, 50)
    await page({ nextCursor, pageSize: 3 })
    assert.deepEqual(asked, [
      [undefined, 2000],
      [undefined, 50],
      [undefined, 3],
      ['last', 7],
      ['last', 3],
    ])
  })

  it('has a cursor only when another page follows, which begins after it with the same size', async () => {
    assert.deepEqual(await page({}), { data: ['item'] })
    const { data, nextCursor } = await page({ pageSize: 7 }, 'last')
    assert.deepEqual([data, keys.open(nextCursor ?? '', ['list'])], [['item'], { after: 'last', pageSize: 7 }])
  })

  it('has 1 to 10,000 items in lists of core objects', () => {
    const { pageSize } = JSON.parse(JSON.stringify(CoreObjectPageQuery.properties))
    assert.deepEqual([pageSize.minimum, pageSize.maximum], [1, 10_000])
  })

  it('has 1 to 5,000 items, and a cursor of up to 1,000 characters', () => {
    const { pageSize, nextCursor } = JSON.parse(JSON.stringify(PageQuery.properties))
    assert.deepEqual([pageSize.minimum, pageSize.maximum, nextCursor.maxLength], [1, 5000, 1000])
  })
})

describe('Cursors without a key', () => {
  it('are a fault', () => assert.throws(() => cursors([]), /need a key/))
})
