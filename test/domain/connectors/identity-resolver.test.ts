import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { groupByPerson } from '../../../shared/domain/connectors/identity-resolver.ts'

const RANKS: Record<string, number> = { oldest: 0, middle: 1, youngest: 2 }
const rankOf = (connectorId: string): number => RANKS[connectorId] ?? 9

type Keys = { readonly nin?: string; readonly directoryObjectId?: string }

const identity = (id: string, data: Keys) => ({ id, connectorId: id.split(' ')[0] as string, data })

describe('who of several identities is one person', () => {
  for (const [claim, identities, expected] of [
    ['those of one nin', { 'oldest a': { nin: '1' }, 'youngest b': { nin: '1' } }, [['oldest a', 'youngest b']]],
    [
      'nobody with another nin',
      { 'oldest a': { nin: '1' }, 'youngest b': { nin: '2' } },
      [['oldest a'], ['youngest b']],
    ],
    ['nobody without keys', { 'oldest a': {}, 'youngest b': {} }, [['oldest a'], ['youngest b']]],
    [
      'those of one account, where a nin is unknown',
      { 'oldest a': { nin: '1', directoryObjectId: 'x' }, 'youngest b': { directoryObjectId: 'x' } },
      [['oldest a', 'youngest b']],
    ],
    [
      'those of one account, where nobody has a nin',
      { 'middle a': { directoryObjectId: 'x' }, 'youngest b': { directoryObjectId: 'x' } },
      [['middle a', 'youngest b']],
    ],
    [
      'never two nin, whatever account they share',
      { 'oldest a': { nin: '1', directoryObjectId: 'x' }, 'youngest b': { nin: '2', directoryObjectId: 'x' } },
      [['oldest a'], ['youngest b']],
    ],
    [
      'of several with an account, the oldest connector\u2019s',
      {
        'middle a': { nin: '2', directoryObjectId: 'x' },
        'oldest b': { nin: '1', directoryObjectId: 'x' },
        'youngest c': { directoryObjectId: 'x' },
      },
      [['oldest b', 'youngest c'], ['middle a']],
    ],
    [
      'by nin and account together',
      {
        'middle a': { nin: '1', directoryObjectId: 'x' },
        'oldest b': { directoryObjectId: 'x' },
        'youngest c': { nin: '1' },
      },
      [['oldest b', 'middle a', 'youngest c']],
    ],
    [
      'not what one connector says twice',
      { 'middle a': { nin: '1' }, 'middle b': { nin: '1' } },
      [['middle a'], ['middle b']],
    ],
  ] as const) {
    it(`is ${claim}`, () => {
      const given = Object.entries(identities).map(([id, data]) => identity(id, data))
      assert.deepEqual(
        groupByPerson(given, rankOf).map((person) => person.map(({ id }) => id)),
        expected,
      )
    })
  }

  it('does not depend on the order in which they are given, and never puts two nin together', () => {
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
        const people = groupByPerson(all, rankOf)
        const others = groupByPerson(
          shuffled.map(([, each]) => each),
          rankOf,
        )
        assert.deepEqual(others, people)
        for (const person of people) {
          assert.ok(new Set(person.flatMap(({ data }) => data.nin ?? [])).size <= 1)
        }
      }),
    )
  })
})
