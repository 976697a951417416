import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { connectedIdentities } from '../../../shared/domain/connectors/connected-identities.ts'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorObjectLookup } from '../../../shared/domain/connectors/connector-object-store.ts'
import { groupByPerson } from '../../../shared/domain/connectors/group-by-person.ts'
import { IdentityResolver } from '../../../shared/domain/connectors/identity-resolver.ts'
import type { WithKeys } from '../../../shared/domain/connectors/join-keys.ts'

const RANKS: Record<string, number> = { oldest: 0, middle: 1, youngest: 2 }
const RULES = {
  rankOf: (connectorId: string): number => RANKS[connectorId] ?? 9,
  bindsAccounts: (id: string) => id !== 'unbound' && id !== 'supplement',
  supplements: (id: string) => id === 'supplement',
  joinsOn: () => true,
  findsBy: () => true,
  typeOf: () => 'String' as const,
  joinKeys: ['nin', 'directoryObjectId'],
}

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
      'do not include one without nin that shares its account with two people',
      {
        'middle a': { nin: '2', directoryObjectId: 'x' },
        'oldest b': { nin: '1', directoryObjectId: 'x' },
        'youngest c': { directoryObjectId: 'x' },
      },
      [['oldest b'], ['middle a'], ['youngest c']],
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
        groupByPerson(given, RULES).people.map((person) => person.map(({ id }) => id)),
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
        shuffled.sort(([left], [right]) => left - right)
        const { people } = groupByPerson(all, RULES)
        const { people: others } = groupByPerson(
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

const DELETED_AT_MS = Date.parse('2030-01-01T00:00:00Z')
type Stored = Keys & {
  readonly core: string
  readonly createdAtMs?: number
  readonly deletedAtMs?: number
  readonly continuedIn?: string
  readonly renamedTo?: string
  readonly type?: 'relationship'
}
const object = (
  id: string,
  { core, createdAtMs, deletedAtMs, continuedIn, renamedTo, type = 'identity' as never, ...data }: Stored,
): ConnectorObject => ({
  ...identity(id, data),
  ...{ objectType: type, externalId: id, references: {}, coreObjectId: core },
  ...(createdAtMs === undefined ? {} : { createdAtMs }),
  ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
  ...(continuedIn === undefined ? {} : { continuedIn }),
  ...(renamedTo === undefined ? {} : { renamedTo }),
})

describe('The core object of an identity', () => {
  const resolverOf = (stored: Readonly<Record<string, Stored>>, arrivals: readonly WithKeys[] = []) =>
    new IdentityResolver(
      Object.entries(stored).map(([id, each]) => object(id, each)),
      { rules: RULES, arrivals, ownCoreObjectId: (id) => `own of ${id}`, newId: () => 'new' },
    )
  /** Others only share more or fewer keys. */
  const isMove =
    (stored: Readonly<Record<string, Stored>>) =>
    ({ id, coreObjectId }: ConnectorObject): boolean =>
      stored[id]?.core !== coreObjectId
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
      'becomes that of all who are connected to the person it joins',
      {
        'oldest a': { core: 'of a' },
        'middle b': { nin: '1', directoryObjectId: 'x', core: 'of b' },
        'youngest c': { directoryObjectId: 'x', core: 'of b' },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a', 'middle b': 'of a', 'youngest c': 'of a' },
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
    [
      'is that of all who are connected, over any number of keys and connectors',
      {
        'oldest a': { nin: '1', core: 'of a' },
        'middle b': { nin: '1', directoryObjectId: 'x', core: 'of a' },
        'youngest c': { directoryObjectId: 'x', core: 'of a' },
      },
      'another d',
      { nin: '1' },
      { 'another d': 'of a' },
    ],
    [
      'is shared by those that became one person when another one left',
      {
        'oldest a': { nin: '1', directoryObjectId: 'x', core: 'of a' },
        'middle b': { nin: '2', directoryObjectId: 'x', core: 'of b' },
        'oldest c': { directoryObjectId: 'x', core: 'of c' },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a', 'middle b': 'of c' },
    ],
    [
      'is the former one again when another deleted identity had it as well',
      {
        'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS },
        'youngest b': { nin: '2', core: 'of a', deletedAtMs: DELETED_AT_MS },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a' },
    ],
    [
      'does not change by a write of an identity with which it shares nothing',
      { 'oldest a': { nin: '1', core: 'of a' }, 'youngest b': { nin: '1', core: 'of b' } },
      'middle c',
      {},
      { 'middle c': 'own of middle c' },
    ],
    [
      'is its own when the account that it shares is of a connector that binds none',
      { 'oldest a': { directoryObjectId: 'x', core: 'of a' } },
      'unbound b',
      { directoryObjectId: 'x' },
      { 'unbound b': 'own of unbound b' },
    ],
    [
      'is that of the deleted identity of its connector with the same nin',
      { 'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'oldest b',
      { nin: '1' },
      { 'oldest b': 'of a' },
    ],
    [
      'is that of the deleted identity of its connector with the same account, when one has no nin',
      { 'oldest a': { directoryObjectId: 'x', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'oldest b',
      { nin: '1', directoryObjectId: 'x' },
      { 'oldest b': 'of a' },
    ],
    [
      'is its own when the deleted identity with the same account is another person',
      { 'oldest a': { nin: '2', directoryObjectId: 'x', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'oldest b',
      { nin: '1', directoryObjectId: 'x' },
      { 'oldest b': 'own of oldest b' },
    ],
    [
      'is its own when the deleted identity is of another connector',
      { 'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'middle b',
      { nin: '1' },
      { 'middle b': 'own of middle b' },
    ],
    [
      'is its own when the connector binds no accounts and the deleted identity shares only that',
      { 'unbound a': { directoryObjectId: 'x', core: 'of a', deletedAtMs: DELETED_AT_MS } },
      'unbound b',
      { directoryObjectId: 'x' },
      { 'unbound b': 'own of unbound b' },
    ],
    [
      'is its own when two deleted identities had its key',
      {
        'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS },
        'oldest c': { nin: '1', core: 'of c', deletedAtMs: DELETED_AT_MS },
      },
      'oldest b',
      { nin: '1' },
      { 'oldest b': 'own of oldest b' },
    ],
    [
      'is that in which the deleted double of the deleted identity has gone on',
      {
        'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS, continuedIn: 'of b' },
        'oldest b': { nin: '1', core: 'of b', deletedAtMs: DELETED_AT_MS },
      },
      'oldest c',
      { nin: '1' },
      { 'oldest c': 'of b' },
    ],
    [
      'is its own when another live identity has the core object of the deleted one',
      {
        'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS },
        'middle c': { core: 'of a' },
      },
      'oldest b',
      { nin: '1' },
      { 'oldest b': 'own of oldest b' },
    ],
    [
      'stays that of another connector when a record with a core object of its own returns in place of a deleted one',
      {
        'oldest a': { nin: '2', core: 'of z', deletedAtMs: DELETED_AT_MS },
        'oldest b': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS },
        'middle c': { nin: '1', core: 'of a' },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a' },
    ],
    [
      'is that of the person it joins under a name that another one had before a rename',
      {
        'oldest a': { core: 'of the free name', deletedAtMs: DELETED_AT_MS, renamedTo: 'oldest b' },
        'oldest b': { core: 'of a', deletedAtMs: DELETED_AT_MS },
        'middle c': { nin: '1', core: 'of a' },
      },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of a' },
    ],
    [
      'is the one that is kept for a free name when it joins nobody',
      { 'oldest a': { core: 'of the free name', deletedAtMs: DELETED_AT_MS, renamedTo: 'oldest b' } },
      'oldest a',
      { nin: '1' },
      { 'oldest a': 'of the free name' },
    ],
    [
      'is its own when another live identity of the connector has the key as well',
      {
        'oldest a': { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS },
        'oldest c': { nin: '1', core: 'of c' },
      },
      'oldest b',
      { nin: '1' },
      { 'oldest b': 'own of oldest b' },
    ],
  ] as const) {
    it(claim, () => {
      const { coreObjectId: _none, ...written } = object(id, { ...data, core: '' })
      const { coreObjectId, movers } = resolverOf(stored).place(written)
      const moved = coreObjects(movers.filter(isMove(stored)))
      assert.equal(Object.hasOwn(moved, id), false)
      assert.deepEqual({ ...moved, [id]: coreObjectId }, expected)
    })
  }

  it('is another one for each part of a person when the identity between them is deleted', () => {
    const between = { nin: '1', directoryObjectId: 'x', core: 'of a' }
    const others = { 'middle b': { nin: '1', core: 'of a' }, 'youngest c': { directoryObjectId: 'x', core: 'of a' } }
    const resolver = resolverOf({ 'oldest a': between, ...others })
    const { movers } = resolver.remove(object('oldest a', { ...between, deletedAtMs: DELETED_AT_MS }))
    assert.deepEqual(coreObjects(movers), { 'youngest c': 'own of youngest c' })
  })

  for (const [claim, others, expected] of [
    [
      'is that of the deleted one when one other of the connector has its key',
      { 'oldest b': { nin: '1', core: 'of b', createdAtMs: 2 } },
      { 'oldest b': 'of a' },
    ],
    [
      'is that of the deleted one for all of the person that has its key',
      {
        'oldest b': { directoryObjectId: 'x', core: 'of b', createdAtMs: 3 },
        'middle c': { directoryObjectId: 'x', core: 'of b' },
      },
      { 'oldest b': 'of a', 'middle c': 'of a' },
    ],
    ['stays when the other with its key is older', { 'oldest b': { nin: '1', core: 'of b', createdAtMs: 1 } }, {}],
    [
      'stays when two others of the connector have the key of the deleted one',
      {
        'oldest b': { nin: '1', core: 'of b', createdAtMs: 3 },
        'oldest c': { nin: '1', core: 'of c', createdAtMs: 4 },
      },
      {},
    ],
    [
      'stays when another connector carries the deleted one',
      { 'oldest b': { nin: '1', core: 'of b' }, 'middle c': { core: 'of a' } },
      {},
    ],
  ] as const) {
    it(claim, () => {
      const deleted = { nin: '1', directoryObjectId: 'x', core: 'of a', createdAtMs: 2 }
      const resolver = resolverOf({ 'oldest a': deleted, ...others })
      const { movers } = resolver.remove(object('oldest a', { ...deleted, deletedAtMs: DELETED_AT_MS }))
      assert.deepEqual(coreObjects(movers.filter(isMove(others))), expected)
    })
  }

  it('is that of the identity deleted in the same batch, whichever others had its key before', () => {
    const deleted = { nin: '1', core: 'of b', createdAtMs: 2 }
    const resolver = resolverOf({ 'oldest a': { nin: '1', core: 'of a', deletedAtMs: 1 }, 'oldest b': deleted })
    resolver.remove(object('oldest b', { ...deleted, deletedAtMs: DELETED_AT_MS }))
    const { coreObjectId: _none, ...written } = object('oldest c', { nin: '1', core: '' })
    assert.equal(resolver.place(written).coreObjectId, 'of b')
  })

  it('is that of the deleted one for the one that replaces it in the batch, not for another with its account', () => {
    const deleted = { nin: '1', directoryObjectId: 'x', core: 'of a', createdAtMs: 1 }
    const colleague = { directoryObjectId: 'x', core: 'of b', createdAtMs: 1 }
    const { coreObjectId: _none, ...arrival } = object('oldest c', { nin: '1', directoryObjectId: 'x', core: '' })
    const resolver = resolverOf({ 'oldest a': deleted, 'oldest b': colleague, 'middle b': colleague }, [arrival])
    resolver.remove(object('oldest a', { ...deleted, deletedAtMs: DELETED_AT_MS }))
    const { coreObjectId, movers } = resolver.place(arrival)
    assert.equal(coreObjectId, 'of a')
    assert.deepEqual(coreObjects(movers.filter(({ coreObjectId: moved }) => moved !== 'of b')), {})
  })

  it('is that of the deleted one for a live one with its nin, not for an arrival with another of its keys', () => {
    const rules = { ...RULES, joinKeys: ['email', 'nin'] }
    const ids = { ownCoreObjectId: (id: string) => `own of ${id}`, newId: () => 'new' }
    const [stored, live, { coreObjectId: _none, ...arrival }] = [
      { ...object('oldest a', { core: 'of a', createdAtMs: 1 }), data: { email: 'front', nin: '1' } },
      { ...object('oldest b', { core: 'of b', createdAtMs: 2 }), data: { nin: '1' } },
      { ...object('oldest c', { core: '' }), data: { email: 'front' } },
    ]
    const resolver = new IdentityResolver([stored, live], { rules, arrivals: [arrival], ...ids })
    const { movers } = resolver.remove({ ...stored, deletedAtMs: DELETED_AT_MS })
    assert.deepEqual(coreObjects(movers), { 'oldest b': 'of a' })
    assert.equal(resolver.place(arrival).coreObjectId, 'own of oldest c')
  })

  it('continues in that of the older one of its connector when it goes and nobody else carries it', () => {
    const older = { nin: '1', core: 'of b', createdAtMs: 1 }
    const young = { nin: '1', core: 'of a', createdAtMs: 2 }
    const removed = { ...young, deletedAtMs: DELETED_AT_MS }
    const { continuedIn } = resolverOf({ 'oldest a': young, 'oldest b': older }).remove(object('oldest a', removed))
    assert.equal(continuedIn, 'of b')
    const carried = resolverOf({ 'oldest a': young, 'oldest b': older, 'middle c': { core: 'of a' } })
    assert.equal(carried.remove(object('oldest a', removed)).continuedIn, undefined)
  })

  it('stays with the first id when another connector carries it as well and the new one joins that', () => {
    const first = { nin: '1', core: 'of a', createdAtMs: 1 }
    const resolver = resolverOf({
      'oldest a': first,
      'middle d': { nin: '1', core: 'of a', createdAtMs: 1 },
      'oldest b': { nin: '1', core: 'of b', createdAtMs: 2 },
    })
    const { movers } = resolver.remove(object('oldest a', { ...first, deletedAtMs: DELETED_AT_MS }))
    assert.deepEqual(
      movers
        .filter(({ id, coreObjectId }) => id !== 'middle d' || coreObjectId !== 'of a')
        .map(({ id, coreObjectId }) => [id, coreObjectId]),
      [['oldest b', 'of a']],
    )
  })

  it('comes with the keys that others share, which change with these', () => {
    const resolver = resolverOf({ 'oldest a': { nin: '1', core: 'of a' }, 'oldest b': { nin: '2', core: 'of b' } })
    const { coreObjectId: _none, ...written } = object('oldest b', { nin: '1', core: '' })
    const shared = resolver.place(written)
    assert.deepEqual(shared.conflictKeys, ['nin 1'])
    assert.deepEqual(
      shared.movers.map(({ id, conflictKeys }) => [id, conflictKeys]),
      [['oldest a', ['nin 1']]],
    )
    const { movers } = resolver.remove(object('oldest b', { nin: '1', core: 'of b', deletedAtMs: DELETED_AT_MS }))
    assert.deepEqual(
      movers.map(({ id, conflictKeys }) => [id, conflictKeys]),
      [['oldest a', undefined]],
    )
  })

  const placing = (stored: Readonly<Record<string, Stored>>) => {
    const resolver = resolverOf(stored)
    return (id: string, data: Keys) => {
      const { coreObjectId: _none, ...written } = object(id, { ...data, core: '' })
      return resolver.place(written).coreObjectId
    }
  }

  it('is another one than before when an earlier decision of the batch has moved the identity that went on with it', () => {
    const deleted = { nin: '1', core: 'of a', deletedAtMs: DELETED_AT_MS }
    const former = placing({
      'oldest a': deleted,
      'middle b': { nin: '2', core: 'of a' },
      'oldest c': { core: 'of c' },
    })
    assert.equal(former('oldest c', { nin: '2' }), 'of c')
    assert.equal(former('oldest a', { nin: '1' }), 'own of oldest a')
    const own = placing({ 'middle b': { nin: '2', core: 'own of oldest a' }, 'oldest c': { core: 'of c' } })
    assert.equal(own('oldest c', { nin: '2' }), 'of c')
    assert.equal(own('oldest a', { nin: '1' }), 'own of oldest a')
  })

  it('is that of the person under the new name alone, which others join', () => {
    const resolver = resolverOf({ 'oldest a': { nin: '1', core: 'of a' } })
    const placed = (id: string, formerId?: string) => {
      const { coreObjectId: _none, ...written } = object(id, { nin: '1', core: '' })
      const { coreObjectId, conflictKeys } = resolver.place(written, formerId === undefined ? {} : { formerId })
      return [coreObjectId, conflictKeys]
    }
    assert.deepEqual(placed('oldest b', 'oldest a'), ['of a', undefined])
    assert.deepEqual(placed('middle c'), ['of a', undefined])
  })

  it('moves with what the identity supplemented and had before, also after a write', () => {
    const [a, b] = [object('oldest a', { core: 'of a' }), object('middle b', { core: 'of b' })]
    const stored = { ...b, supplements: true as const, formerCoreObjectIds: ['of z'] }
    const deps = { rules: RULES, ownCoreObjectId: (id: string) => `own of ${id}`, newId: () => 'new' }
    const resolver = new IdentityResolver([a, stored], deps)
    for (const { coreObjectId: _former, ...written } of [b, a]) {
      const { movers } = resolver.place({ ...written, data: { nin: '1' } })
      assert.deepEqual(
        movers.map(({ id, coreObjectId, supplements, formerCoreObjectIds }) => [
          ...[id, coreObjectId],
          ...[supplements, formerCoreObjectIds],
        ]),
        written.id === 'oldest a' ? [['middle b', 'of a', true, ['of z']]] : [],
      )
    }
  })

  it('is decided on what earlier decisions of the batch have left', () => {
    const place = placing({ 'oldest a': { nin: '1', core: 'of a' }, 'middle b': { nin: '1', core: 'of a' } })
    assert.equal(place('middle b', { nin: '2' }), 'own of middle b')
    assert.equal(place('youngest c', { nin: '2' }), 'own of middle b')
    assert.equal(place('oldest a', { nin: '3' }), 'of a')
    assert.equal(place('another d', { nin: '1' }), 'own of another d')
    assert.equal(place('middle b', { nin: '3' }), 'of a')
  })
})

describe('The identities connected to written ones', () => {
  type Written = { readonly id: string; readonly type?: 'relationship'; readonly data: Keys | undefined }
  /** Their ids, and the number of reads, one after the other. Every key and core object is read once. */
  async function connected(all: Readonly<Record<string, Stored>>, written: readonly Written[]) {
    const stored = Object.entries(all).map(([id, each]) => ({ value: object(id, each), version: '1' }))
    let readCount = 0
    const asked = new Set<string>()
    const ask = (values: readonly string[]) => {
      for (const value of values) {
        assert.ok(!asked.has(value), `${value} is asked for twice`)
        asked.add(value)
      }
    }
    const objects = {
      async identitiesByKeys(_tenantId: string, values: ReadonlyMap<string, readonly string[]>) {
        readCount += 1
        ask([...values.values()].flat())
        return stored.filter(({ value: { data } }) =>
          [...values].some(([key, some]) => some.includes(String(data[key]))),
        )
      },
      async ofCoreObjects(_tenantId: string, ids: readonly string[]) {
        ask(ids)
        return stored.filter(({ value }) => ids.includes(value.coreObjectId))
      },
    } as unknown as ConnectorObjectLookup
    const writes = written.map(({ id, type = 'identity' as const, data }) => {
      const names = { objectType: type, externalId: id }
      return data === undefined
        ? { ...names, operation: 'delete' as const }
        : { ...names, operation: 'upsert' as const, data: data as ConnectorObject['data'] }
    })
    const ids = written.map(({ id }) => id)
    const found = stored.flatMap(({ value, version }) =>
      ids.includes(value.id) ? [{ value: { ...value, lastUpdatedS: 0 }, version }] : [],
    )
    const deriveId = (_kind: string, id = '') => `own of ${id}`
    const answer = await connectedIdentities('tenant', ids, writes, found, RULES, { objects, deriveId })
    return { ids: answer.map(({ value }) => value.id).sort(), readCount }
  }

  for (const [claim, all, written, expected] of [
    ['share a key with the new data', { b: { nin: '1', core: 'of b' } }, [{ id: 'a', data: { nin: '1' } }], ['b']],
    [
      'share a key with the data before',
      { a: { nin: '1', core: 'of a' }, b: { nin: '1', core: 'of b' } },
      [{ id: 'a', data: { nin: '2' } }],
      ['a', 'b'],
    ],
    [
      'shared a key with what is deleted',
      { a: { nin: '1', core: 'of a' }, b: { nin: '1', core: 'of b' } },
      [{ id: 'a', data: undefined }],
      ['a', 'b'],
    ],
    [
      'share the core object, soft-deleted ones included',
      { a: { core: 'of b' }, b: { core: 'of b' }, c: { core: 'of b', deletedAtMs: DELETED_AT_MS } },
      [{ id: 'a', data: {} }],
      ['a', 'b', 'c'],
    ],
    ['have the core object of its own', { b: { core: 'own of a' } }, [{ id: 'a', data: {} }], ['b']],
    [
      'have the core object of its own, which it has not',
      { a: { core: 'of a' }, b: { core: 'own of a' } },
      [{ id: 'a', data: {} }],
      ['a', 'b'],
    ],
    [
      'are connected over others, by keys and core objects',
      {
        b: { nin: '1', directoryObjectId: 'x', core: 'of b' },
        c: { directoryObjectId: 'x', core: 'own of d' },
        d: { core: 'own of d' },
        e: { nin: '5', core: 'own of c' },
        f: { nin: '5', core: 'of f' },
        stranger: { nin: '9', core: 'of stranger' },
      },
      [{ id: 'a', data: { nin: '1' } }],
      ['b', 'c', 'd', 'e', 'f'],
    ],
    [
      'are connected to any of them',
      { c: { nin: '1', core: 'of c' }, d: { nin: '2', core: 'of d' } },
      [
        { id: 'a', data: { nin: '1' } },
        { id: 'b', data: { nin: '2' } },
      ],
      ['c', 'd'],
    ],
    [
      'are none for objects of other types',
      { a: { type: 'relationship', nin: '1', core: 'of a' }, b: { nin: '1', core: 'own of a' } },
      [{ id: 'a', type: 'relationship', data: { nin: '1' } }],
      [],
    ],
  ] as const) {
    it(claim, async () => assert.deepEqual((await connected(all, written)).ids, expected))
  }

  it('are read at once where the written ones name them, and those that these name by the next read', async () => {
    const all = { a: { nin: '1', core: 'of a' }, b: { nin: '1', core: 'own of b' } }
    const readCount = async (id: string) => (await connected(all, [{ id, data: {} }])).readCount
    assert.deepEqual([await readCount('new'), await readCount('a')], [1, 2])
  })
})
