import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { netChange } from '../../../shared/domain/evaluation/member-accounts.ts'
import { withVerdicts } from '../../../shared/domain/evaluation/members-now.ts'

const someIds = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 })

describe('the verdicts on some objects', () => {
  it('leave all other members unchanged, and report that nothing changed', () => {
    const verdicts = fc.dictionary(fc.constantFrom(...'abcdefgh'), fc.boolean())
    fc.assert(
      fc.property(someIds, verdicts, (before, isMember) => {
        const ids = before.toSorted()
        const expected = new Set(ids)
        for (const [id, member] of Object.entries(isMember)) {
          if (member) expected.add(id)
          else expected.delete(id)
        }
        const after = withVerdicts(ids, new Map(Object.entries(isMember)))
        assert.deepEqual(after ?? ids, [...expected].sort())
        assert.equal(after === undefined, expected.size === ids.length && ids.every((id) => expected.has(id)))
      }),
    )
  })
})

describe('the net change of a history', () => {
  it('leads from the first membership to the last, with each id once', () => {
    fc.assert(
      fc.property(fc.array(someIds, { minLength: 1, maxLength: 6 }), (memberships) => {
        const changes = memberships.slice(1).map((after, index) => {
          const before = memberships[index] ?? []
          return {
            added: after.filter((id) => !before.includes(id)),
            removed: before.filter((id) => !after.includes(id)),
          }
        })
        const { added, removed } = netChange(changes)
        const replayed = new Set(memberships[0])
        for (const id of removed) replayed.delete(id)
        for (const id of added) replayed.add(id)
        assert.deepEqual([...replayed].sort(), memberships.at(-1)?.toSorted())
        assert.equal(new Set([...added, ...removed]).size, added.length + removed.length)
      }),
    )
  })
})
