import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectedIdentities } from '../../../shared/domain/connectors/connected-identities.ts'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import type { ConnectorObjectLookup } from '../../../shared/domain/connectors/connector-object-store.ts'
import type { ConnectorRules } from '../../../shared/domain/connectors/connector-rules.ts'
import type { WrittenIdentity } from '../../../shared/domain/connectors/identity-index.ts'
import { IdentityResolver } from '../../../shared/domain/connectors/identity-resolver.ts'

const RANKS: Readonly<Record<string, number>> = { oldest: 0, youngest: 1, supplement: 2 }
const RULES: ConnectorRules = {
  rankOf: (connectorId) => RANKS[connectorId] ?? 9,
  bindsAccounts: (id) => id !== 'supplement',
  supplements: (id) => id === 'supplement',
  joinsOn: () => true,
  findsBy: () => true,
  typeOf: () => 'String',
  joinKeys: ['nin', 'email'],
}
const PLACEHOLDER = { nin: '0' }
const DELETED_AT_MS = Date.parse('2030-01-01T00:00:00Z')

type Data = { readonly nin?: string; readonly email?: string }

const written = (id: string, data: Data): WrittenIdentity => ({
  ...{ id, connectorId: id.split(' ')[0] as string, data },
  ...{ objectType: 'identity', externalId: id, references: {} },
})
const stored = (id: string, data: Data, coreObjectId = `own of ${id}`): ConnectorObject => ({
  ...written(id, data),
  coreObjectId,
})
const deleted = (identity: ConnectorObject): ConnectorObject => ({ ...identity, deletedAtMs: DELETED_AT_MS })
const many = (count: number, data: Data = PLACEHOLDER) =>
  Array.from({ length: count }, (_, index) => stored(`oldest ${index}`, data))
const resolverOf = (identities: readonly ConnectorObject[], rules = RULES) =>
  new IdentityResolver(identities, { rules, ownCoreObjectId: (id) => `own of ${id}`, newId: () => 'new' })

describe('A value of a join key that more than 100 live identities have', () => {
  it('costs the same for each that has it, however many others do', () => {
    let calls = 0
    const typeOf: ConnectorRules['typeOf'] = () => {
      calls += 1
      return 'String'
    }
    const resolver = resolverOf([], { ...RULES, typeOf })
    const costs = Array.from({ length: 400 }, (_, index) => {
      calls = 0
      resolver.place(written(`${index % 2 === 0 ? 'oldest' : 'youngest'} ${index}`, PLACEHOLDER))
      return calls
    })
    assert.deepEqual([costs[200], costs[399]], [costs[150], costs[150]])
  })

  it('joins nobody, and is a conflict of each, whether they come one by one or were there', () => {
    const byOne = resolverOf([])
    for (const { id } of many(150)) {
      const { coreObjectId, conflictKeys } = byOne.place(written(id, PLACEHOLDER))
      assert.deepEqual([coreObjectId, conflictKeys], [`own of ${id}`, id === 'oldest 0' ? undefined : ['nin 0']])
    }
    for (const resolver of [byOne, resolverOf(many(150))]) {
      for (const id of ['oldest 0', 'oldest 149', 'youngest a']) {
        const { coreObjectId, conflictKeys } = resolver.place(written(id, PLACEHOLDER))
        assert.deepEqual([coreObjectId, conflictKeys], [`own of ${id}`, ['nin 0']])
      }
    }
  })

  it('leaves those together whom it or another key has joined', () => {
    for (const data of [PLACEHOLDER, { ...PLACEHOLDER, email: 'x' }]) {
      const resolver = resolverOf([...many(150), stored('oldest a', data, 'of a'), stored('youngest a', data, 'of a')])
      for (const id of ['youngest a', 'oldest a']) {
        const { coreObjectId, movers } = resolver.place(written(id, data))
        assert.deepEqual([coreObjectId, movers.filter((mover) => mover.coreObjectId !== 'of a')], ['of a', []])
      }
    }
  })

  it('lets a deleted identity continue in nobody, except by another key', () => {
    for (const [data, expected] of [
      [PLACEHOLDER, 'own of oldest new'],
      [{ ...PLACEHOLDER, email: 'x' }, 'of a'],
    ] as const) {
      const resolver = resolverOf([...many(150), deleted(stored('oldest a', data, 'of a'))])
      assert.equal(resolver.place(written('oldest new', data)).coreObjectId, expected)
    }
  })

  it('still joins nobody when a batch deletes some of those who are known, since others can have it', () => {
    const known = many(101)
    const resolver = resolverOf(known)
    for (const identity of known.slice(1)) resolver.remove(deleted(identity))
    assert.equal(resolver.place(written('youngest a', PLACEHOLDER)).coreObjectId, 'own of youngest a')
  })

  it('lets one that supplements others add nothing by it, except to whom it belongs or whom another key finds', () => {
    const data = { ...PLACEHOLDER, email: 'x' }
    const place = (...identities: readonly ConnectorObject[]) =>
      resolverOf([...many(150), ...identities]).place(written('supplement a', data)).coreObjectId
    assert.equal(place(stored('oldest a', data, 'of a')), 'own of supplement a')
    assert.equal(place(stored('oldest a', { email: 'x' }, 'of a')), 'of a')
    assert.equal(place(stored('oldest a', PLACEHOLDER, 'of a'), stored('supplement a', data, 'of a')), 'of a')
  })

  it('begins with the 101st', () => {
    const continuesBeside = (count: number) => {
      const resolver = resolverOf([...many(count), deleted(stored('youngest a', PLACEHOLDER, 'of a'))])
      return resolver.place(written('youngest new', PLACEHOLDER)).coreObjectId
    }
    assert.deepEqual([continuesBeside(99), continuesBeside(100)], ['of a', 'own of youngest new'])
  })

  it('leads to none of those who have it', async () => {
    const others = many(101).map((identity, index) => ({ ...identity, data: { ...PLACEHOLDER, email: `e${index}` } }))
    const asked: string[] = []
    const objects = {
      async identitiesByKeys(_tenantId: string, values: ReadonlyMap<string, readonly string[]>) {
        asked.push(...[...values.values()].flat())
        return others
          .filter(({ data }) => values.get('nin')?.includes(data.nin) || values.get('email')?.includes(data.email))
          .map((value) => ({ value, version: '1' }))
      },
      async ofCoreObjects(_tenantId: string, ids: readonly string[]) {
        asked.push(...ids)
        return []
      },
    } as unknown as ConnectorObjectLookup
    const names = { objectType: 'identity', externalId: 'a', operation: 'upsert' } as const
    const search = async (data: Data) => {
      asked.length = 0
      const deps = { objects, deriveId: (_kind: string, id = '') => `own of ${id}` }
      await connectedIdentities('tenant', ['a'], [{ ...names, data }], [], RULES, deps)
      return asked
    }
    assert.deepEqual(await search(PLACEHOLDER), ['0', 'own of a'])
    assert.deepEqual(await search({ ...PLACEHOLDER, email: 'e5' }), ['0', 'e5', 'own of a', 'own of oldest 5'])
  })
})
