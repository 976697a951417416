import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { groupByPerson } from '../../../shared/domain/connectors/identity-resolver.ts'

const RANKS: Record<string, number> = { oldest: 0, middle: 1, youngest: 2 }
const RULES = { rankOf: (connectorId: string): number => RANKS[connectorId] ?? 9, bindsAccounts: () => true }

type Keys = { readonly nin?: string; readonly directoryObjectId?: string }

const identity = (id: string, data: Keys) => ({ id, connectorId: id.split(' ')[0] as string, data })

describe('identities of one person', () => {
  for (const [claim, identities, expected] of [
    [
      'are those with the same nin',
      { 'oldest a': { nin: '1' }, 'youngest b': { nin: '1' } },
      [['oldest a', 'youngest b']],
    ],
    [
      'are not those with different nin',
      { 'oldest a': { nin: '1' }, 'youngest b': { nin: '2' } },
      [['oldest a'], ['youngest b']],
    ],
    ['are not those without keys', { 'oldest a': {}, 'youngest b': {} }, [['oldest a'], ['youngest b']]],
    [
      'are those with the same account when one has no nin',
      { 'oldest a': { nin: '1', directoryObjectId: 'x' }, 'youngest b': { directoryObjectId: 'x' } },
      [['oldest a', 'youngest b']],
    ],
    [
      'are those with the same account when none has a nin',
      { 'middle a': { directoryObjectId: 'x' }, 'youngest b': { directoryObjectId: 'x' } },
      [['middle a', 'youngest b']],
    ],
    [
      'are never those with different nin, even with the same account',
      { 'oldest a': { nin: '1', directoryObjectId: 'x' }, 'youngest b': { nin: '2', directoryObjectId: 'x' } },
      [['oldest a'], ['youngest b']],
    ],
    [
      'include one without nin that shares its account with several: it joins the oldest connector',
      {
        'middle a': { nin: '2', directoryObjectId: 'x' },
        'oldest b': { nin: '1', directoryObjectId: 'x' },
        'youngest c': { directoryObjectId: 'x' },
      },
      [['oldest b', 'youngest c'], ['middle a']],
    ],
    [
      'are found by nin and account together',
      {
        'middle a': { nin: '1', directoryObjectId: 'x' },
        'oldest b': { directoryObjectId: 'x' },
        'youngest c': { nin: '1' },
      },
      [['oldest b', 'middle a', 'youngest c']],
    ],
    [
      'are not two objects of one connector',
      { 'middle a': { nin: '1' }, 'middle b': { nin: '1' } },
      [['middle a'], ['middle b']],
    ],
  ] as const) {
    it(claim, () => {
      const given = Object.entries(identities).map(([id, data]) => identity(id, data))
      assert.deepEqual(
        groupByPerson(given, RULES).map((person) => person.map(({ id }) => id)),
        expected,
      )
    })
  }

  it('are the same in any input order, and never have two different nin', () => {
    const key = fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined })
    const anyone = fc.tuple(fc.constantFrom('oldest', 'middle', 'youngest'), key, key)
    fc.assert(
      fc.property(fc.array(anyone, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (drawn, numbers) => {
        const all = drawn.map(([connector, nin, directoryObjectId], index) =>
          identity(`${connector} ${index}`, {
            ...(nin === undefined ? {} : { nin }),
            ...(directoryObjectId === undefined ? {} : { directoryObjectId }),
          }),
        )
        const shuffled = all.map((each) => [numbers.next().value, each] as const)
        shuffled.sort(([one], [other]) => one - other)
        const people = groupByPerson(all, RULES)
        const others = groupByPerson(
          shuffled.map(([, each]) => each),
          RULES,
        )
        assert.deepEqual(others, people)
        for (const person of people) {
          assert.ok(new Set(person.flatMap(({ data }) => data.nin ?? [])).size <= 1)
        }
      }),
    )
  })
})
