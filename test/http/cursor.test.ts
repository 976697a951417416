import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cursors } from '../../shared/http/paging.ts'

const [ONE, TWO] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')]
const { seal, open } = cursors([ONE])
const position = fc.record(
  { after: fc.string(), pageSize: fc.integer({ min: 1, max: 5000 }) },
  { noNullPrototype: true },
)
const binding = fc.array(fc.option(fc.string(), { nil: undefined }))

describe('cursors', () => {
  it('open to the position that was sealed', () => {
    fc.assert(fc.property(position, binding, (made, bound) => assert.deepEqual(open(seal(made, bound), bound), made)))
  })

  it('start with v1_ and need no escaping in a URL', () => {
    fc.assert(fc.property(position, binding, (made, bound) => assert.match(seal(made, bound), /^v1_[\w-]+$/)))
  })

  it('do not open for another list', () => {
    fc.assert(
      fc.property(position, binding, binding, (made, bound, other) => {
        fc.pre(JSON.stringify(bound.map((part) => part ?? null)) !== JSON.stringify(other.map((part) => part ?? null)))
        assert.throws(() => open(seal(made, bound), other), { code: 'InvalidCursor' })
      }),
    )
  })

  it('do not open for another list whose binding has the same length', () => {
    const cursor = seal({ after: 'a', pageSize: 1 }, ['tenant', 'one'])
    for (const other of [
      ['tenant', 'two'],
      ['tenanu', 'one'],
      ['one', 'tenant'],
    ]) {
      assert.throws(() => open(cursor, other), { code: 'InvalidCursor' }, String(other))
    }
  })

  it('do not open after a character is altered, removed or added', () => {
    const cursor = seal({ after: 'a0000000-0000-4000-8000-000000000000', pageSize: 2000 }, ['tenant'])
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
    assert.deepEqual(changed.open(seal(made, []), []), made)
    assert.throws(() => open(changed.seal(made, []), []), { code: 'InvalidCursor' })
  })
})
