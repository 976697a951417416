import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import { type DefinitionDependencies, hasDefinedSince } from '../../../shared/domain/group-links/defined-since.ts'
import type { AuditRecord } from '../../../shared/domain/history/audit.ts'

const SINCE = '2030-01-01T12:00:00.000+00:00'
const [BEFORE, LATER, LATEST] = [
  '2030-01-01T11:59:59.999+00:00',
  '2030-01-01T12:00:01.000+00:00',
  '2030-01-02T00:00:00.000+00:00',
]

type Entry = { readonly at: string; readonly actorId: string; readonly field?: string }
type Stored = Pick<Collection, 'kind' | 'definedBy'> & {
  readonly refersTo?: readonly string[]
  readonly updatedAt?: string
  /** Newest first. */
  readonly audit?: readonly Entry[]
}

/** Whether Ada has defined the members of collection `own` since, and the collections whose audit was read. */
async function byAda(stored: Readonly<Record<string, Stored>>): Promise<[boolean, string[]]> {
  const read: string[] = []
  const all = Object.entries(stored).map(([id, { kind, definedBy, refersTo = [], updatedAt = LATEST }]) => {
    return { id, kind, definedBy, refersTo, updatedAtMs: Date.parse(updatedAt) } as Collection
  })
  const recordOf = ({ field = 'condition', ...entry }: Entry) => ({ ...entry, after: { [field]: {} } }) as AuditRecord
  const deps = {
    collections: { list: async () => all },
    auditTrail: {
      async page(_tenantId: string, id: string, _after: undefined, size: number) {
        read.push(id)
        return { items: (stored[id]?.audit ?? []).slice(0, size).map(recordOf) }
      },
    },
  } as unknown as DefinitionDependencies
  const search = { tenantId: 'tenant', collectionId: 'own', actorIds: ['ada'], sinceMs: Date.parse(SINCE) }
  return [await hasDefinedSince(search, deps), read]
}

const ofAda = { kind: 'criteria', definedBy: 'ada' } as const

describe('The last change of a definition since a time', () => {
  for (const [name, audit, expected] of [
    ['is one at that time', [{ at: SINCE, actorId: 'ada' }], true],
    ['is none before', [{ at: BEFORE, actorId: 'ada' }], false],
    ['is one of a join policy', [{ at: LATER, actorId: 'ada', field: 'joinPolicy' }], true],
    ['is no change of a name', [{ at: LATER, actorId: 'ada', field: 'name' }], false],
  ] as const)
    it(name, async () => assert.deepEqual(await byAda({ own: { ...ofAda, audit } }), [expected, ['own']]))

  it('is that of a person, also when the service has put a merged identity into it later', async () => {
    const merged = [{ at: LATEST, actorId: 'system' }]
    const own = { kind: 'criteria', definedBy: 'system' } as const
    assert.equal((await byAda({ own: { ...own, audit: [...merged, { at: LATER, actorId: 'ada' }] } }))[0], true)
    assert.equal((await byAda({ own: { ...own, audit: [...merged, { at: LATER, actorId: 'bo' }] } }))[0], false)
  })

  it('may be behind more other changes than are read', async () => {
    const others = (count: number) => Array.from({ length: count }, () => ({ at: LATER, actorId: 'bo', field: 'name' }))
    assert.equal((await byAda({ own: { ...ofAda, audit: others(20) } }))[0], true)
    assert.equal((await byAda({ own: { ...ofAda, audit: others(19) } }))[0], false)
  })

  it('is looked for where the collection was saved since, and defined last by one of the actors', async () => {
    const audit = [{ at: LATER, actorId: 'ada' }]
    assert.deepEqual(await byAda({ own: { ...ofAda, updatedAt: BEFORE, audit } }), [false, []])
    assert.deepEqual(await byAda({ own: { ...ofAda, definedBy: 'bo', audit } }), [false, []])
  })

  it('can be that of a collection behind the condition, in a circle too, and of none behind a join policy', async () => {
    const ofBo = { kind: 'criteria', definedBy: 'bo' } as const
    const audit = [{ at: LATER, actorId: 'ada' }]
    const chain = { own: { ...ofBo, refersTo: ['next'] }, next: { ...ofBo, refersTo: ['own', 'last', 'gone'] } }
    assert.deepEqual(await byAda({ ...chain, last: { ...ofAda, audit } }), [true, ['last']])
    const choir = { kind: 'joinable', definedBy: 'bo', refersTo: ['last'] } as const
    assert.deepEqual(await byAda({ ...chain, next: choir, last: { ...ofAda, audit } }), [false, []])
    assert.deepEqual(await byAda({ ...chain, other: { ...ofAda, audit } }), [false, []])
  })
})
