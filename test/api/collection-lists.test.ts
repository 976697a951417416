import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MemberDto } from '../../shared/domain/collections/list-members.ts'
import type { PreviewReply } from '../../shared/domain/collections/preview.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { CollectionCounts } from '../../shared/domain/insight/collection-counts.ts'
import type { CallerDto } from '../../shared/domain/object-access/read-caller.ts'
import { chunk } from '../../shared/kernel/chunk.ts'
import { equals, type JoinableFixture, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'
import { operationsDuring } from '../support/contract/local-database.ts'

const COLLECTIONS = '/collections/beta'

const isNull = (id: string) => ({ groupOperator: 'AND', conditions: [{ id, field: id, operator: 'IsNull' }] })
const isPresent = (id: string) => ({ groupOperator: 'NOT', conditions: [{ id, field: id, operator: 'IsNull' }] })

/** Writes identities in as few operations as possible. Returns their ids. */
async function manyPeople({ tenantId, container }: JoinableFixture, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID())
  for (const batch of chunk(ids, 100)) {
    const operations = batch.map((id, index) => {
      const attributes = { displayName: `Person ${index}` }
      const resourceBody = { id, tenantId, objectType: 'identity', externalId: id, attributes, contributors: [] }
      return { operationType: 'Create' as const, resourceBody: { ...resourceBody, deleted: false } }
    })
    await container('coreObjects').items.batch(operations, tenantId)
  }
  return ids
}

describe('who the caller is', () => {
  it('is answered to a user with the core identity of the account, its name and the roles that count', async () => {
    const { tenantId, person, call } = await joinableFixture()
    const { token, identityId, account } = await person(['User', 'Administrator'], { displayName: 'Kari Nordmann' })
    const { status, data } = await call<CallerDto>(token, 'GET', `${COLLECTIONS}/me`)
    assert.equal(status, 200)
    assert.deepEqual(data, {
      tenantId,
      objectId: account,
      kind: 'User',
      identityId,
      displayName: 'Kari Nordmann',
      roles: ['Administrator', 'User'],
      timeZone: 'UTC',
    })
  })

  it('is answered without a role and without a core identity, to users and applications', async () => {
    const { caller, call } = await joinableFixture()
    for (const [kind, expected] of [
      ['user', 'User'],
      ['application', 'Application'],
    ] as const) {
      const { status, data } = await call<CallerDto>(caller(kind, []), 'GET', `${COLLECTIONS}/me`)
      assert.equal(status, 200)
      const { kind: answered, identityId, displayName, roles } = data
      assert.deepEqual([answered, identityId, displayName, roles], [expected, null, null, []])
    }
  })

  it('is not answered without a token', async () => {
    const { call } = await joinableFixture()
    assert.deepEqual((await call('nobody', 'GET', `${COLLECTIONS}/me`)).codes, ['TokenMissing'])
  })

  it('never waits for the rows of the tenant', async () => {
    const fixture = await joinableFixture()
    const { token } = await fixture.person()
    await fixture.call(token, 'GET', `${COLLECTIONS}/me`)
    assert.equal(fixture.deps.snapshots.holds(fixture.tenantId), false)
  })
})

describe('the counts of collections', () => {
  const countsOf = async ({ call, admin }: JoinableFixture, query = '') => {
    const { data } = await call<CollectionCounts[]>(admin, 'GET', `${COLLECTIONS}/counts${query}`)
    return new Map(data.map(({ collectionId, ...counts }) => [collectionId, counts]))
  }

  it('are those of members and links, of all collections or of one', async () => {
    const fixture = await joinableFixture()
    const people = [await fixture.person(), await fixture.person(), await fixture.person()]
    const everybody = await fixture.criteria('Identity', isPresent('identityId'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const notEvaluated = await fixture.criteria('Identity', isPresent('identityId'))
    const [choir, empty] = [await fixture.joinable(OPEN), await fixture.joinable(OPEN)]
    for (const person of people) {
      const { data } = await fixture.submit(person, choir)
      if (person === people[0]) await fixture.act(person.token, data, 'leave')
    }
    for (const collectionId of [everybody, everybody, choir]) {
      const ids = { id: randomUUID(), tenantId: fixture.tenantId, collectionId, directoryGroupId: randomUUID() }
      await fixture.deps.linkStore.add(newLink({ ...ids, directoryGroupDisplayName: null }, fixture.nowMs()))
    }
    const counts = await countsOf(fixture)
    assert.deepEqual(
      [everybody, notEvaluated, choir, empty].map((id) => counts.get(id)),
      [
        { memberCount: 3, linkCount: 2 },
        { memberCount: null, linkCount: 0 },
        { memberCount: 2, linkCount: 1 },
        { memberCount: 0, linkCount: 0 },
      ],
    )
    assert.equal(counts.size, 4)
    for (const [id, expected] of counts) {
      assert.deepEqual([...(await countsOf(fixture, `?collectionId=${id}`))], [[id, expected]])
    }
    assert.deepEqual(await countsOf(fixture, `?collectionId=${randomUUID()}`), new Map())
  })

  it('are read with as many queries for many collections as for one', async () => {
    const fixture = await joinableFixture()
    await fixture.joinable(OPEN)
    const few = await operationsDuring(fixture, () => countsOf(fixture))
    for (let made = 0; made < 20; made++) await fixture.joinable(OPEN)
    assert.deepEqual(await operationsDuring(fixture, () => countsOf(fixture)), few)
  })

  it('of members who joined under a former version of the service are known after the next change', async () => {
    const fixture = await joinableFixture()
    const choir = await fixture.joinable(OPEN)
    for (let joined = 0; joined < 3; joined++) await fixture.submit(await fixture.person(), choir)
    const head = fixture.container('requests').item(`head:${choir}`, fixture.tenantId)
    const { memberCount, ...former } = (await head.read()).resource
    assert.equal(memberCount, 3)
    await head.replace(former)
    assert.equal((await countsOf(fixture)).get(choir)?.memberCount, null)
    await fixture.submit(await fixture.person(), choir)
    assert.equal((await countsOf(fixture)).get(choir)?.memberCount, 4)
  })
})

describe('the named members of a collection', () => {
  it('of identities have their name and whether they have an account, ordered by name', async () => {
    const fixture = await joinableFixture()
    const ids = new Map<string, string>()
    for (const [displayName, more] of [
      ['Öberg', {}],
      ['oak', { directoryObjectId: '11111111-0000-4000-8000-000000000001' }],
      ['Zoe', {}],
      ['Adam', {}],
    ] as const) {
      ids.set(displayName, await fixture.put('identity', { displayName, ...more }))
    }
    ids.set('', await fixture.put('identity', { email: 'nameless@example.org' }))
    const collectionId = await fixture.criteria('Identity', isPresent('identityId'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { data } = await fixture.call<MemberDto[]>(fixture.admin, 'GET', `${COLLECTIONS}/${collectionId}/members`)
    const expected = (name: string, hasAccount = false): MemberDto => ({
      objectId: String(ids.get(name)),
      relationshipId: null,
      displayName: name === '' ? null : name,
      title: null,
      orgUnitName: null,
      hasAccount,
    })
    assert.deepEqual(data, [expected('Adam'), expected('oak', true), expected('Öberg'), expected('Zoe'), expected('')])
  })

  it('of positions have the name of the holder, the title and the org unit', async () => {
    const fixture = await joinableFixture()
    const holder = await fixture.person(['User'], { displayName: 'Kari' })
    const ward = await fixture.put('orgUnit', { displayName: 'Ward' })
    const position = await fixture.position(holder, { title: 'Nurse', orgUnit: { objectId: ward } })
    const [positions, units] = [
      await fixture.criteria('Relationship', isPresent('relationshipId')),
      await fixture.criteria('OrgUnit', isPresent('orgUnitId')),
    ]
    await fixture.evaluator.evaluate(fixture.tenantId)
    const members = async (id: string) =>
      (await fixture.call<MemberDto[]>(fixture.admin, 'GET', `${COLLECTIONS}/${id}/members`)).data
    const ofPosition = { displayName: 'Kari', title: 'Nurse', orgUnitName: 'Ward', hasAccount: true }
    assert.deepEqual(await members(positions), [{ objectId: position, relationshipId: position, ...ofPosition }])
    const ofUnit = { displayName: 'Ward', title: null, orgUnitName: null, hasAccount: false }
    assert.deepEqual(await members(units), [{ objectId: ward, relationshipId: null, ...ofUnit }])
    const joinable = await fixture.joinable(OPEN, { objectType: 'Relationship' })
    await fixture.submit(holder, joinable)
    const joined = [{ objectId: holder.identityId, relationshipId: position, ...ofPosition }]
    assert.deepEqual(await members(joinable), joined)
  })

  it('can be narrowed to a text in the name or title, whatever its case', async () => {
    const fixture = await joinableFixture()
    for (const [displayName, title] of [
      ['İpek', 'Nurse'],
      ['Kari', 'Head NURSE'],
      ['Nursel', 'Cook'],
      ['Ola', 'Cook'],
    ] as const) {
      await fixture.position(await fixture.person(['User'], { displayName }), { title })
    }
    const id = await fixture.criteria('Relationship', isPresent('relationshipId'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const found = async (text: string) => {
      const path = `${COLLECTIONS}/${id}/members?text=${encodeURIComponent(text)}`
      const { status, data, codes } = await fixture.call<MemberDto[]>(fixture.admin, 'GET', path)
      return status === 200 ? data.map(({ displayName }) => displayName) : codes
    }
    assert.deepEqual(await found(' nurse '), ['İpek', 'Kari', 'Nursel'])
    assert.deepEqual(await found('ipek'), ['İpek'])
    assert.deepEqual(await found('nobody'), [])
    assert.deepEqual(await found(' '), ['InvalidLength'])
    assert.deepEqual(await found('x'.repeat(201)), ['InvalidLength'])
  })

  it('come in pages that hold each member once, whatever names they share', async () => {
    const fixture = await joinableFixture()
    const names = ['Ada', 'Ada', 'ada', 'Ada'.repeat(200), 'Bo', 'Bo', '', '\u0000', 'Åse', 'ase']
    for (const displayName of names) await fixture.put('identity', displayName === '' ? {} : { displayName })
    const id = await fixture.criteria('Identity', isPresent('identityId'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const path = `${COLLECTIONS}/${id}/members`
    const whole = await fixture.call<MemberDto[]>(fixture.admin, 'GET', path)
    for (const pageSize of [1, 3, 9, 10]) {
      const paged: MemberDto[] = []
      let cursor: string | undefined
      do {
        const more = cursor === undefined ? '' : `&nextCursor=${cursor}`
        const page = await fixture.call<MemberDto[]>(fixture.admin, 'GET', `${path}?pageSize=${pageSize}${more}`)
        assert.ok(page.data.length === pageSize || page.nextCursor === undefined)
        paged.push(...page.data)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      assert.deepEqual(paged, whole.data, String(pageSize))
    }
    assert.equal(whole.data.length, names.length)
  })

  it('have cursors that are valid for the same collection and text only', async () => {
    const fixture = await joinableFixture()
    for (const displayName of ['Ada', 'Adam']) await fixture.put('identity', { displayName })
    const [first, second] = [
      await fixture.criteria('Identity', isPresent('identityId')),
      await fixture.criteria('Identity', isNull('relationshipId')),
    ]
    await fixture.evaluator.evaluate(fixture.tenantId)
    const page = await fixture.call(fixture.admin, 'GET', `${COLLECTIONS}/${first}/members?pageSize=1&text=ada`)
    const next = async (id: string, text: string) => {
      const path = `${COLLECTIONS}/${id}/members?nextCursor=${page.nextCursor}${text}`
      return (await fixture.call(fixture.admin, 'GET', path)).codes
    }
    assert.deepEqual(await next(first, '&text=ada'), [])
    for (const [id, text] of [
      [first, ''],
      [first, '&text=adam'],
      [second, '&text=ada'],
    ] as const) {
      assert.deepEqual(await next(id, text), ['InvalidCursor'])
    }
  })

  it('cost at most four store operations for a page of 2,000 when the rows are in memory', async () => {
    const fixture = await joinableFixture()
    const people = await manyPeople(fixture, 2050)
    const criteria = await fixture.criteria('Identity', isPresent('identityId'))
    const joinable = await fixture.joinable(OPEN)
    const added = { coreIdentityIds: people }
    await fixture.call(fixture.admin, 'POST', `/collections-joinable/beta/${joinable}/results/members`, added)
    await fixture.evaluator.evaluate(fixture.tenantId)
    fixture.pass(60)
    await fixture.deps.snapshots.fresh(fixture.tenantId)
    for (const id of [criteria, joinable]) {
      const list = () => fixture.call<MemberDto[]>(fixture.admin, 'GET', `${COLLECTIONS}/${id}/members`)
      // The first call also reads the keys of cursors.
      assert.equal((await list()).data.length, 2000)
      const operations = await operationsDuring(fixture, list)
      const count = Object.values(operations).reduce((sum, count) => sum + count, 0)
      assert.ok(count <= 4, JSON.stringify(operations))
    }
  })

  it('are shown to readers of collections only', async () => {
    const fixture = await joinableFixture()
    const id = await fixture.joinable(OPEN)
    const path = `${COLLECTIONS}/${id}/members`
    assert.deepEqual((await fixture.call((await fixture.person()).token, 'GET', path)).codes, ['RoleRequired'])
    const nobodys = `${COLLECTIONS}/eeeeeeee-0000-4000-8000-000000000001/members`
    assert.deepEqual((await fixture.call(fixture.admin, 'GET', nobodys)).codes, ['CollectionNotFound'])
  })
})

describe("the caller's collections of both kinds", () => {
  it('are those that the identity or one of its positions is in, by name, without definitions', async () => {
    const fixture = await joinableFixture()
    const own = await fixture.person(['User'], { displayName: 'Kari' })
    const ward = await fixture.put('orgUnit', { displayName: 'Ward' })
    await fixture.position(own, { title: 'Nurse', orgUnit: { objectId: ward } })
    const other = await fixture.person(['User'], { displayName: 'Ola' })
    const joined = await fixture.joinable(OPEN, { name: 'Choir' })
    await fixture.joinable(OPEN, { name: 'Unjoined' })
    await fixture.submit(own, joined)
    await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    await fixture.criteria('Relationship', equals('relationshipTitle', 'Nurse'))
    await fixture.criteria('Identity', equals('identityDisplayName', 'Ola'))
    await fixture.criteria('OrgUnit', equals('orgUnitDisplayName', 'Ward'))
    await fixture.criteria('Identity', equals('memberOfCollection', joined))
    const listed = async (token: string) =>
      (await fixture.call<CollectionDto[]>(token, 'GET', `${COLLECTIONS}/member-of`)).data
    const collections = await listed(own.token)
    assert.deepEqual(
      collections.map(({ name, objectType }) => [name, objectType]).sort(),
      [
        ['Choir', 'Identity'],
        ['Staff', 'Identity'],
        ['Staff', 'Identity'],
        ['Staff', 'Relationship'],
      ].sort(),
    )
    assert.ok(collections.every((collection) => !('condition' in collection || 'joinPolicy' in collection)))
    assert.deepEqual((await listed(other.token)).length, 1)
  })

  it('are refused to applications and to users without a core identity', async () => {
    const { call, writer, caller } = await joinableFixture()
    assert.deepEqual((await call(writer, 'GET', `${COLLECTIONS}/member-of`)).codes, ['UsersOnly'])
    assert.deepEqual((await call(caller('user', ['User']), 'GET', `${COLLECTIONS}/member-of`)).codes, [
      'CallerHasNoIdentity',
    ])
  })
})

describe('the limit of a preview', () => {
  it('shortens each list and leaves the counts whole', async () => {
    const fixture = await joinableFixture()
    for (const displayName of ['Ada', 'Bo', 'Cy']) await fixture.put('identity', { displayName })
    const preview = { objectType: 'Identity', condition: isPresent('identityId') }
    const previewed = (body: object) =>
      fixture.call<PreviewReply>(fixture.admin, 'POST', '/collections-criteria/beta/preview', { preview, ...body })
    for (const [limit, length] of [
      [0, 0],
      [2, 2],
      [10_000, 3],
      [undefined, 3],
    ] as const) {
      const { data } = await previewed(limit === undefined ? {} : { limit })
      assert.deepEqual([data.preview.length, data.added.length], [length, length])
      assert.deepEqual(data.counts, { preview: 3, added: 3, removed: 0 })
    }
    const currentId = await fixture.criteria('Identity', isPresent('identityId'))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const narrower = { preview: { ...preview, condition: equals('identityDisplayName', 'Ada') }, currentId, limit: 1 }
    const { data } = await previewed(narrower)
    assert.deepEqual([data.removed.length, data.counts.removed], [1, 2])
    assert.deepEqual((await previewed({ limit: -1 })).targets, ['/limit'])
    assert.deepEqual((await previewed({ limit: 10_001 })).targets, ['/limit'])
  })
})
