import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import { updateDocument } from '../../infra/definitions/merge-comments.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'

function updated(text: string, value: JsonObject): string {
  const document = parseDocument(text)
  updateDocument(document, value)
  return document.toString({ lineWidth: 0 })
}

describe('a document that gets a new value', () => {
  const text = `# who
name: 'Staff' # the key

# tags of the school
tags:
  - a # first
  # the second
  - b
  - c
`

  it('stays as it is where the value is equal', () => {
    assert.equal(updated(text, { tags: ['a', 'b', 'c'], name: 'Staff' }), text)
  })

  it('keeps the comments of changed values, and of items wherever they are now', () => {
    assert.equal(
      updated(text, { name: 'Crew', tags: ['c', 'a', 'x'] }),
      `# who
name: Crew # the key

# tags of the school
tags:
  - c
  - a # first
  - x
`,
    )
  })

  it('puts new members last, and drops those that are gone', () => {
    assert.equal(updated('b: 1\na: 2 # two\n', { c: 3, a: 2, d: { e: [] } }), 'a: 2 # two\nc: 3\nd:\n  e: []\n')
  })

  it('replaces a value of another type', () => {
    assert.equal(updated('a: [1, 2] # list\n', { a: { b: 1 } }), 'a:\n  b: 1\n')
    assert.equal(updated('a:\n  b: 1\n', { a: 'text' }), 'a: text\n')
  })

  it('keeps equal items apart', () => {
    assert.equal(
      updated('a:\n  - x # one\n  - x # two\n', { a: ['x', 'x', 'x'] }),
      'a:\n  - x # one\n  - x # two\n  - x\n',
    )
  })

  it('replaces aliases by their values, since what they refer to may change or go', () => {
    const shared = 'a: &all\n  b: 1\nc: *all\n'
    assert.equal(updated(shared, { a: { b: 1 }, c: { b: 1 } }), shared)
    assert.deepEqual(parseDocument(updated(shared, { a: { b: 1 }, c: { b: 2 } })).toJS(), { a: { b: 1 }, c: { b: 2 } })
    assert.deepEqual(parseDocument(updated(shared, { a: { b: 3 }, c: { b: 1 } })).toJS(), { a: { b: 3 }, c: { b: 1 } })
    assert.deepEqual(parseDocument(updated(shared, { c: { b: 1 } })).toJS(), { c: { b: 1 } })
  })

  it('reads as the new value, whatever it was before', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd')
    const leaf = fc.oneof(
      fc.constantFrom('x', 'yes', '007', 'a: b', '# no', ''),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    const object = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonObject>
    fc.assert(
      fc.property(object, object, (before, after) => {
        const first = updated('# top\n{}\n', before)
        assert.deepEqual(parseDocument(updated(first, after)).toJS(), after)
      }),
    )
  })
})
