import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import { groupByPerson, IdentityResolver } from '../../../shared/domain/connectors/identity-resolver.ts'

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

describe('The core object of an identity', () => {
  const DELETED_AT_MS = Date.parse('2030-01-01T00:00:00Z')
  type Stored = Keys & { readonly core: string; readonly deletedAtMs?: number }
  const object = (id: string, { core, deletedAtMs, ...data }: Stored): ConnectorObject => ({
    ...identity(id, data),
    ...{ objectType: 'identity', externalId: id, references: {}, coreObjectId: core },
    ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
  })
  const resolverOf = (stored: Readonly<Record<string, Stored>>) =>
    new IdentityResolver(
      Object.entries(stored).map(([id, each]) => object(id, each)),
      { rules: RULES, ownCoreObjectId: (id) => `own of ${id}`, newId: () => 'new' },
    )
  const coreObjects = (moved: readonly ConnectorObject[]) =>
    Object.fromEntries(moved.map(({ id, coreObjectId }) => [id, coreObjectId]))

  for (const [claim, stored, id, data, expected] of [
    ['is its own when it joins no other', {}, 'oldest a', { nin: '1' }, { 'oldest a': 'own of oldest a' }],
    [
      'is that of the person it joins',
      { 'oldest a': { nin: '1', core: 'of a' } },
      'youngest b',
      { nin: '1' },
      { 'youngest b': 'of a' },
    ],
    [
      'is that of the oldest connector when two become one person, and the other moves to it',
      { 'oldest a': { core: 'of a' }, 'youngest b': { nin: '1', core: 'of b' } },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a', 'youngest b': 'of a' },
    ],
    [
      'stays with the oldest connector when two part',
      { 'oldest a': { nin: '1', core: 'of a' }, 'youngest b': { nin: '1', core: 'of a' } },
      'oldest a',
      { nin: '2' },
      { 'oldest a': 'of a', 'youngest b': 'own of youngest b' },
    ],
    [
      'is a new one when they part and another identity claims its own',
      { 'oldest a': { nin: '1', core: 'own of youngest b' }, 'youngest b': { nin: '1', core: 'own of youngest b' } },
      'oldest a',
      { nin: '2' },
      { 'oldest a': 'own of youngest b', 'youngest b': 'new' },
    ],
    [
      'stays with the live identity when the one it parted from returns, although that one is older',
      {
        'oldest a': { nin: '1', core: 'own of oldest a', deletedAtMs: DELETED_AT_MS },
        'youngest b': { nin: '2', core: 'own of oldest a' },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'new' },
    ],
    [
      'is the former one again when it returns and no other has it',
      { 'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a' },
    ],
    [
      'is the former one again when it returns to the person that has it',
      { 'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS }, 'youngest b': { nin: '1', core: 'of a' } },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a' },
    ],
  ] as const) {
    it(claim, () => {
      const { coreObjectId: _none, ...written } = object(id, { ...data, core: '' })
      const { coreObjectId, movers } = resolverOf(stored).place(written)
      assert.deepEqual({ ...coreObjects(movers), [id]: coreObjectId }, expected)
    })
  }

  it('is another one for each part of a person when the identity between them is deleted', () => {
    const between = { nin: '1', directoryObjectId: 'x', core: 'of a' }
    const others = { 'middle b': { nin: '1', core: 'of a' }, 'youngest c': { directoryObjectId: 'x', core: 'of a' } }
    const resolver = resolverOf({ 'oldest a': between, ...others })
    const movers = resolver.remove(object('oldest a', { ...between, deletedAtMs: DELETED_AT_MS }))
    assert.deepEqual(coreObjects(movers), { 'youngest c': 'own of youngest c' })
  })
})
