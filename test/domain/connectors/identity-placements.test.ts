import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorRules } from '../../../shared/domain/connectors/connector-rules.ts'
import type { WrittenIdentity } from '../../../shared/domain/connectors/identity-index.ts'
import { IdentityResolver } from '../../../shared/domain/connectors/identity-resolver.ts'

const RANKS: Readonly<Record<string, number>> = { oldest: 0, middle: 1, youngest: 2, supplement: 3 }
const RULES: ConnectorRules = {
  rankOf: (connectorId) => RANKS[connectorId] ?? 9,
  bindsAccounts: (id) => id !== 'supplement',
  supplements: (id) => id === 'supplement',
  joinsOn: () => true,
  findsBy: () => true,
  typeOf: () => 'String',
  joinKeys: ['nin', 'directoryObjectId'],
}
const DELETED_AT_MS = Date.parse('2030-01-01T00:00:00Z')

const written = (id: string, data: ConnectorObject['data']): WrittenIdentity => ({
  ...{ id, connectorId: id.split(' ')[0] as string, data },
  ...{ objectType: 'identity', externalId: id, references: {} },
})
const stored = (id: string, data: ConnectorObject['data'], coreObjectId: string, deletedAtMs?: number) => ({
  ...written(id, data),
  coreObjectId,
  ...(deletedAtMs === undefined ? {} : { deletedAtMs }),
})
const resolverOf = (...identities: readonly ConnectorObject[]) =>
  new IdentityResolver(identities, { rules: RULES, ownCoreObjectId: (id) => `own of ${id}`, newId: () => 'new' })

describe('A placement that is undone', () => {
  it('leaves the identity with the keys that it had', () => {
    const resolver = resolverOf(stored('oldest a', { nin: '1' }, 'of a'), stored('youngest b', { nin: '2' }, 'of b'))
    const placement = resolver.place(written('youngest b', { nin: '1' }))
    assert.equal(placement.coreObjectId, 'of a')
    placement.undo()
    assert.equal(resolver.place(written('middle c', { nin: '2' })).coreObjectId, 'of b')
    assert.equal(resolver.place(written('middle d', { nin: '1' })).coreObjectId, 'of a')
  })

  it('leaves no identity that was new', () => {
    const resolver = resolverOf()
    resolver.place(written('middle a', { nin: '1' })).undo()
    assert.equal(resolver.place(written('youngest b', { nin: '1' })).coreObjectId, 'own of youngest b')
  })

  it('leaves what was placed before it', () => {
    const resolver = resolverOf()
    resolver.place(written('middle a', { nin: '1' }))
    resolver.place(written('middle b', { nin: '2' })).undo()
    assert.equal(resolver.place(written('youngest c', { nin: '1' })).coreObjectId, 'own of middle a')
  })

  it('leaves an identity under its former name', () => {
    const resolver = resolverOf(stored('middle old', { nin: '1' }, 'of a'))
    resolver.place(written('middle new', { nin: '1' }), { formerId: 'middle old' }).undo()
    const { coreObjectId, movers } = resolver.place(written('oldest b', { nin: '1' }))
    assert.deepEqual([coreObjectId, movers], ['of a', []])
  })
})

describe('An identity under a new name', () => {
  it('keeps its core object, and the former name has none any more', () => {
    const resolver = resolverOf(stored('middle old', { nin: '1' }, 'of a'))
    assert.equal(resolver.place(written('middle new', { nin: '1' }), { formerId: 'middle old' }).coreObjectId, 'of a')
    assert.equal(resolver.place(written('middle old', { nin: '2' })).coreObjectId, 'own of middle old')
  })
})

describe('The identities of a person', () => {
  const long = 'x'.repeat(600 * 1024)

  it('are too large when their merged data exceed a core object', () => {
    const resolver = resolverOf(stored('oldest a', { nin: '1', first: long }, 'of a'))
    assert.equal(resolver.place(written('youngest b', { nin: '1', second: long })).isTooLarge, true)
    assert.equal(resolver.place(written('youngest b', { nin: '1', second: 'short' })).isTooLarge, false)
    assert.equal(resolver.place(written('youngest b', { nin: '2', second: long })).isTooLarge, false)
  })

  it('are merged by the order of their connectors before they are too large', () => {
    const resolver = resolverOf(stored('oldest a', { nin: '1', first: 'short', second: long }, 'of a'))
    assert.equal(resolver.place(written('youngest b', { nin: '1', first: long })).isTooLarge, false)
    const other = resolverOf(stored('youngest b', { nin: '1', first: long }, 'of b'))
    assert.equal(other.place(written('oldest a', { nin: '1', first: 'short', second: long })).isTooLarge, false)
  })

  it('are not too large by what supplements them, which is refused itself', () => {
    const supplement = stored('supplement s', { nin: '1', first: long }, 'of a')
    const resolver = resolverOf(supplement, stored('oldest a', { nin: '1' }, 'of a'))
    assert.equal(resolver.place(written('oldest a', { nin: '1', second: long })).isTooLarge, false)
    assert.equal(resolver.place(written('supplement s', { nin: '1', first: long })).isTooLarge, true)
  })
})

describe('A supplementing identity that finds no person', () => {
  it('stays where it is while others carry nothing there', () => {
    const resolver = resolverOf(stored('supplement s', { nin: '1' }, 'of s'))
    assert.equal(resolver.place(written('supplement s', { nin: '2' })).coreObjectId, 'of s')
  })

  it('leaves the core object of another person', () => {
    const resolver = resolverOf(stored('supplement s', { nin: '1' }, 'of a'), stored('oldest a', { nin: '1' }, 'of a'))
    assert.equal(resolver.place(written('supplement s', { nin: '2' })).coreObjectId, 'own of supplement s')
  })
})

describe('An identity under another external id', () => {
  const former = stored('middle old', { nin: '1', directoryObjectId: 'x' }, 'of a')
  const other = stored('youngest b', { directoryObjectId: 'x' }, 'of a')

  it('goes on with the person, also when it joins the others no more', () => {
    const resolver = resolverOf(former, other)
    assert.deepEqual(resolver.remove({ ...former, deletedAtMs: DELETED_AT_MS }), { movers: [] })
    const { coreObjectId, movers } = resolver.place(written('middle new', { nin: '1' }))
    assert.equal(coreObjectId, 'of a')
    assert.deepEqual(movers, [{ ...other, coreObjectId: 'own of youngest b' }])
  })

  it('goes on with the person also when that had another external id before', () => {
    const first = stored('middle first', { nin: '1' }, 'of a', DELETED_AT_MS)
    const resolver = resolverOf(first, former, other)
    resolver.remove({ ...former, deletedAtMs: DELETED_AT_MS })
    const { coreObjectId, movers } = resolver.place(written('middle new', { nin: '1' }))
    assert.equal(coreObjectId, 'of a')
    assert.deepEqual(movers, [{ ...other, coreObjectId: 'own of youngest b' }])
  })

  it('goes on with the person by its other key, while another connector has the first one', () => {
    const supplement = stored('supplement s', { nin: '1' }, 'of a')
    const resolver = resolverOf(former, supplement)
    resolver.remove({ ...former, deletedAtMs: DELETED_AT_MS })
    assert.equal(resolver.place(written('middle new', { directoryObjectId: 'x' })).coreObjectId, 'of a')
  })

  it('leaves the person to an older one whom it joins no more', () => {
    const older = stored('oldest c', { directoryObjectId: 'x' }, 'of a')
    const resolver = resolverOf(former, older)
    resolver.remove({ ...former, deletedAtMs: DELETED_AT_MS })
    const { coreObjectId, movers } = resolver.place(written('middle new', { nin: '1' }))
    assert.deepEqual([coreObjectId, movers], ['own of middle new', []])
  })

  it('leaves the person to the others when the former one was deleted before', () => {
    const resolver = resolverOf({ ...former, deletedAtMs: DELETED_AT_MS }, other)
    const { coreObjectId, movers } = resolver.place(written('middle new', { nin: '1' }))
    assert.deepEqual([coreObjectId, movers], ['own of middle new', []])
  })
})

describe('An identity with one of the keys of a person who gets another external id', () => {
  it('keeps its core object, whatever the deletion alone would mean', () => {
    const former = stored('middle old', { nin: '1', directoryObjectId: 'x' }, 'of a')
    const similar = stored('middle z', { directoryObjectId: 'x' }, 'of z')
    const resolver = resolverOf(former, similar)
    const core = ({ id, coreObjectId }: ConnectorObject) => [id, coreObjectId]
    const { movers } = resolver.remove({ ...former, deletedAtMs: DELETED_AT_MS })
    assert.deepEqual(movers.map(core), [['middle z', 'of a']])
    const placed = resolver.place(written('middle new', { nin: '1', directoryObjectId: 'x' }))
    assert.equal(placed.coreObjectId, 'of a')
    assert.deepEqual(placed.movers.map(core), [['middle z', 'of z']])
  })

  it('does not take it back when another one has come to it meanwhile', () => {
    const alone = stored('middle c', { nin: '1' }, 'own of middle c')
    const others = [stored('youngest b', { nin: '2' }, 'of b'), stored('oldest a', { nin: '3' }, 'of a')]
    const resolver = resolverOf(alone, ...others)
    assert.equal(resolver.place(written('youngest b', { nin: '1' })).coreObjectId, 'own of middle c')
    assert.equal(resolver.place(written('oldest a', { nin: '1' })).coreObjectId, 'of a')
    assert.equal(resolver.place(written('middle c', { nin: '4' })).coreObjectId, 'new')
  })
})

describe('An identity that has joined a person at the same time as another one of its connector', () => {
  const person = stored('youngest b', { nin: '1' }, 'of b')
  const [one, other] = [stored('oldest c', { nin: '1' }, 'of b'), stored('oldest d', { nin: '1' }, 'of b')]

  it('leaves the person to the other one, with which it shares a key, when it was created a moment ago', () => {
    const resolver = resolverOf(person, one, other)
    const { coreObjectId, movers, conflictKeys } = resolver.place(other, { isNew: true })
    assert.deepEqual([coreObjectId, conflictKeys], ['own of oldest d', ['nin 1']])
    assert.deepEqual(
      movers.map((mover) => mover.coreObjectId),
      ['of b', 'of b'],
    )
  })

  it('stays when it was there before, or shares no key with the other one', () => {
    assert.equal(resolverOf(person, one, other).place(other).coreObjectId, 'of b')
    const joint = stored('youngest b', { nin: '1', directoryObjectId: 'x' }, 'of b')
    const byAccount = stored('oldest d', { directoryObjectId: 'x' }, 'of b')
    assert.equal(resolverOf(joint, one, byAccount).place(byAccount, { isNew: true }).coreObjectId, 'of b')
  })
})

describe('An identity that was created while a double of it was deleted in another request', () => {
  const person = stored('youngest b', { nin: '1' }, 'of b')
  const deleted = {
    ...stored('oldest a', { nin: '1' }, 'of b', DELETED_AT_MS),
    createdAtMs: DELETED_AT_MS - 86_400_000,
  }
  const created = {
    ...stored('oldest c', { nin: '1' }, 'own of oldest c'),
    conflictKeys: ['nin 1'],
    createdBesideId: 'oldest a',
    createdAtMs: DELETED_AT_MS - 1_000,
  }
  const coreObjectOf = (identity: ConnectorObject, ...others: readonly ConnectorObject[]) => {
    const { coreObjectId, movers } = resolverOf(identity, ...others).place(identity, { isNew: true })
    return [coreObjectId, ...movers.map(({ id, coreObjectId }) => `${id} in ${coreObjectId}`)]
  }

  it('joins the person, whose core object stays', () => {
    assert.deepEqual(coreObjectOf(created, person, deleted), ['of b'])
  })

  it('leads to the same core object when another identity of the person is placed', () => {
    const { coreObjectId, movers } = resolverOf(created, person, deleted).place(person)
    assert.equal(coreObjectId, 'of b')
    assert.deepEqual(
      movers.map((mover) => [mover.id, mover.coreObjectId]),
      [['oldest c', 'of b']],
    )
  })

  it('continues the core object of the double also alone', () => {
    assert.deepEqual(coreObjectOf(created, deleted), ['of b'])
  })

  it('keeps its own core object when there was no double, or when it was deleted long before', () => {
    assert.deepEqual(coreObjectOf(created), ['own of oldest c'])
    const before = { ...deleted, deletedAtMs: DELETED_AT_MS - 240_000 }
    assert.deepEqual(coreObjectOf(created, before), ['own of oldest c'])
  })

  it('keeps its own core object when it gets the key of the deleted one later', () => {
    const { conflictKeys: _, ...colleague } = created
    const before = { ...colleague, data: { nin: '2' } }
    const { coreObjectId } = resolverOf(before, deleted).place(colleague)
    assert.equal(coreObjectId, 'own of oldest c')
    assert.deepEqual(coreObjectOf(colleague, deleted), ['own of oldest c'])
    const inConflict = { ...created, conflictKeys: ['email c'] }
    assert.deepEqual(coreObjectOf(inConflict, deleted), ['own of oldest c'])
  })

  it('keeps its own core object when its creation has not seen the deleted one', () => {
    const { createdBesideId: _, ...aloneAtFirst } = created
    assert.deepEqual(coreObjectOf(aloneAtFirst, deleted), ['own of oldest c'])
    assert.deepEqual(coreObjectOf({ ...created, createdBesideId: 'oldest d' }, deleted), ['own of oldest c'])
  })

  it('names the only one of its connector that had its key then, until the deletion of that one sees it', () => {
    const [one, other] = [stored('oldest a', { nin: '1' }, 'of a'), stored('oldest b', { nin: '1' }, 'of b')]
    const besideOf = (...identities: readonly ConnectorObject[]) => {
      const resolver = resolverOf(...identities)
      const { createdBesideId } = resolver.place(written('oldest c', { nin: '1' }))
      const placedAgain = resolver.place(written('oldest c', { nin: '1' }))
      resolver.remove({ ...one, deletedAtMs: DELETED_AT_MS })
      const placedLater = resolver.place(written('oldest c', { nin: '2' }))
      return [createdBesideId, placedAgain.createdBesideId, placedLater.createdBesideId]
    }
    assert.deepEqual(besideOf(one), ['oldest a', 'oldest a', undefined])
    assert.deepEqual(besideOf(one, other), [undefined, undefined, undefined])
    assert.deepEqual(besideOf({ ...one, connectorId: 'middle' }), [undefined, undefined, undefined])
    assert.deepEqual(besideOf({ ...one, deletedAtMs: DELETED_AT_MS }), [undefined, undefined, undefined])
  })

  it('keeps its own core object when the deletion has seen it and another one with the same key', () => {
    const third = { ...stored('oldest d', { nin: '1' }, 'of d'), conflictKeys: ['nin 1'] }
    const { deletedAtMs: _, ...live } = { ...deleted, conflictKeys: ['nin 1'] }
    const resolver = resolverOf(live, created, third)
    const { createdBesideId: _beside, ...decided } = created
    assert.deepEqual(resolver.remove(deleted), { movers: [decided] })
    resolver.place(written('oldest d', { nin: '2' }))
    assert.equal(resolver.place(written('oldest c', { nin: '1' })).coreObjectId, 'own of oldest c')
  })

  it('keeps its own core object when it is the older one', () => {
    const older = { ...created, createdAtMs: DELETED_AT_MS - 86_400_001 }
    assert.deepEqual(coreObjectOf(older, deleted), ['own of oldest c'])
  })

  it('keeps the core object of another person to which it has come since', () => {
    const joined = { ...created, coreObjectId: 'of d' }
    assert.deepEqual(coreObjectOf(joined, deleted), ['of d'])
  })

  it('leaves the core object to other people who carry it', () => {
    const other = stored('youngest b', { nin: '2' }, 'of b')
    assert.deepEqual(coreObjectOf(created, other, deleted), ['own of oldest c'])
  })

  it('leaves the core object to another identity with the same key', () => {
    const second = { ...stored('oldest d', { nin: '1' }, 'own of oldest d'), createdAtMs: DELETED_AT_MS - 2_000 }
    assert.deepEqual(coreObjectOf(created, second, deleted), ['own of oldest c', 'oldest d in own of oldest d'])
  })

  it('does not choose between two doubles of different people', () => {
    const other = { ...deleted, id: 'oldest e', coreObjectId: 'of e' }
    assert.deepEqual(coreObjectOf(created, deleted, other), ['own of oldest c'])
  })
})

describe('An identity that is alone again', () => {
  const together = stored('middle b', { nin: '1' }, 'own of youngest c')
  const core = ({ id, coreObjectId }: ConnectorObject) => [id, coreObjectId]

  it('does not take the core object that it has left to others, who leave it now', () => {
    const left = { ...stored('youngest c', { nin: '2' }, 'of a'), formerCoreObjectIds: ['own of youngest c'] }
    const resolver = resolverOf(stored('oldest a', { nin: '2' }, 'of a'), together, left)
    const { coreObjectId, movers } = resolver.place(written('oldest a', { nin: '1' }))
    assert.equal(coreObjectId, 'of a')
    assert.deepEqual(movers.map(core), [
      ['middle b', 'of a'],
      ['youngest c', 'new'],
    ])
  })

  it('does not take it either when an earlier write of the batch has made it leave', () => {
    const alone = stored('youngest c', { nin: '1' }, 'own of youngest c')
    const resolver = resolverOf(stored('oldest a', { nin: '2' }, 'of a'), together, alone)
    assert.equal(resolver.place(written('youngest c', { nin: '2' })).coreObjectId, 'of a')
    const { movers } = resolver.place(written('oldest a', { nin: '1' }))
    assert.deepEqual(movers.map(core), [
      ['middle b', 'of a'],
      ['youngest c', 'new'],
    ])
  })
})

describe('A deleted identity', () => {
  const deleted = stored('youngest d', { nin: '3' }, 'of a', DELETED_AT_MS)

  it('goes with those who carried its core object, which it had before', () => {
    const resolver = resolverOf(
      stored('oldest b', { nin: '2' }, 'of b'),
      stored('middle a', { nin: '1' }, 'of a'),
      deleted,
    )
    const { coreObjectId, movers } = resolver.place(written('middle a', { nin: '2' }))
    assert.equal(coreObjectId, 'of b')
    assert.deepEqual(movers, [{ ...deleted, coreObjectId: 'of b', formerCoreObjectIds: ['of a'] }])
  })

  it('stays while its core object is carried', () => {
    const resolver = resolverOf(
      stored('oldest b', { nin: '2' }, 'of b'),
      stored('middle a', { nin: '1' }, 'of a'),
      stored('youngest a', { nin: '1' }, 'of a'),
      deleted,
    )
    const { coreObjectId, movers } = resolver.place(written('youngest a', { nin: '2' }))
    assert.deepEqual([coreObjectId, movers], ['of b', []])
  })

  it('stays when those who carried it part', () => {
    const resolver = resolverOf(
      stored('oldest b', { nin: '2' }, 'of b'),
      stored('oldest c', { directoryObjectId: 'x' }, 'of c'),
      stored('middle a', { nin: '1' }, 'of a'),
      stored('youngest a', { nin: '1', directoryObjectId: 'x' }, 'of a'),
      deleted,
    )
    const { movers } = resolver.place(written('middle a', { nin: '2' }))
    assert.ok(movers.every(({ id }) => id !== 'youngest d'))
  })
})
