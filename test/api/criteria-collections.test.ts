import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  all,
  COLLECTIONS,
  CRITERIA,
  codes,
  criteriaTenant,
  faults,
  leaf,
  memberOf,
  named,
  startCriteriaService,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('creating a criteria collection', () => {
  it('returns its id and location, and then the record with the given values', async () => {
    const tenant = criteriaTenant(service)
    const callerId = randomUUID()
    const administrator = service.asUser(tenant.tenantId, callerId, 'collection_criteria_definition-administrator')
    const body = {
      objectType: 'Relationship',
      name: 'Nurses',
      description: 'All nurses',
      condition: { groupOperator: 'and', conditions: [leaf('relationshipTitle', 'startswith', 'Nurse')] },
      metadata: { tags: [' Health '], attributes: { ' Owner ': 'HR' } },
    }
    const { status, headers, body: answer } = await administrator('POST', CRITERIA, body)
    assert.equal(status, 201)
    assert.match(answer.data, GUID)
    assert.equal(headers.location, `${CRITERIA}/${answer.data}`)
    const record = {
      id: answer.data,
      objectType: 'Relationship',
      name: 'Nurses',
      description: 'All nurses',
      metadata: { tags: ['health'], attributes: { owner: 'HR' } },
      createdBy: callerId,
      createdAt: '2030-03-01T12:00:00.000+00:00',
      updatedAt: '2030-03-01T12:00:00.000+00:00',
    }
    const condition = { groupOperator: 'AND', conditions: [leaf('relationshipTitle', 'StartsWith', 'Nurse')] }
    const read = await tenant.send('GET', `${CRITERIA}/${answer.data}`)
    assert.deepEqual(read.body.data, { ...record, condition })
    assert.deepEqual((await tenant.send('GET', CRITERIA)).body.data, [{ ...record, condition }])
    assert.deepEqual((await tenant.send('GET', `${COLLECTIONS}/${answer.data}`)).body.data, record)
    assert.ok(read.headers.etag)
  })

  it('reports all faults in the body at once', async () => {
    const tenant = criteriaTenant(service)
    assert.deepEqual(
      faults(
        await tenant.send('POST', CRITERIA, {
          objectType: 'User',
          name: 'x',
          condition: all(leaf('nothing', 'Equals', 'x')),
          metadata: { tags: ['A', ' a'], attributes: { Key: '1', key: '2' } },
        }),
      ),
      [
        400,
        'ObjectTypeNotSupported /objectType',
        'DuplicateTag /metadata/tags/1',
        'DuplicateTag /metadata/attributes',
        'FieldNotInSchema /condition/conditions/0/id',
      ],
    )
  })

  for (const [claim, change, expected] of [
    ['no name', { name: undefined }, 'MissingMember /name'],
    ['a name of spaces', { name: '  ' }, 'InvalidValue /name'],
    ['an empty name', { name: '' }, 'InvalidLength /name'],
    ['a name of 257 characters', { name: 'x'.repeat(257) }, 'InvalidLength /name'],
    ['a description of 2049 characters', { description: 'x'.repeat(2049) }, 'InvalidLength /description'],
    ['no condition', { condition: undefined }, 'MissingMember /condition'],
    ['a condition that is text', { condition: 'all' }, 'InvalidType /condition'],
    ['no object type', { objectType: undefined }, 'MissingMember /objectType'],
    ['an unknown object type', { objectType: 'Person' }, 'InvalidValue /objectType'],
    ['null for an object type', { objectType: null }, 'InvalidType /objectType'],
    ['groups', { objectType: 'Group' }, 'ObjectTypeNotSupported /objectType'],
    ['21 tags', { metadata: { tags: Array.from({ length: 21 }, String) } }, 'InvalidLength /metadata/tags'],
    ['a tag that is longer in lower case', { metadata: { tags: ['İ'.repeat(26)] } }, 'InvalidLength /metadata/tags/0'],
    ['a tag of 51 characters', { metadata: { tags: ['x'.repeat(51)] } }, 'InvalidLength /metadata/tags/0'],
    [
      'an attribute of 201 characters',
      { metadata: { attributes: { a: 'x'.repeat(201) } } },
      'InvalidLength /metadata/attributes/a',
    ],
    [
      'the name of an attribute, of 51 characters',
      { metadata: { attributes: { ok: '1', ['x'.repeat(51)]: '1' } } },
      `InvalidLength /metadata/attributes/${'x'.repeat(51)}`,
    ],
    ['an attribute without a name', { metadata: { attributes: { '': '1' } } }, 'InvalidLength /metadata/attributes/'],
    ['an attribute that is a number', { metadata: { attributes: { a: 1 } } }, 'InvalidType /metadata/attributes/a'],
  ] as const) {
    it(`refuses ${claim}`, async () => {
      const body = { objectType: 'Identity', name: 'x', condition: named('x'), ...change }
      assert.deepEqual(faults(await criteriaTenant(service).send('POST', CRITERIA, body)), [400, expected])
    })
  }
})

describe('changing a criteria collection', () => {
  it('keeps the value of everything that is left out', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'), { description: 'Once', metadata: { tags: ['one'] } })
    const path = `${CRITERIA}/${id}`
    const created = (await tenant.send('GET', path)).body.data
    const same = await tenant.send('PUT', path, { objectType: 'Identity' })
    assert.deepEqual(same.body.data, created)
    const renamed = await tenant.send('PUT', path, { objectType: 'Identity', name: 'Other' })
    assert.deepEqual(renamed.body.data, { ...created, name: 'Other' })
    const nulls = { objectType: 'Identity', name: null, description: null, metadata: null, condition: null }
    assert.deepEqual((await tenant.send('PUT', path, nulls)).body.data, { ...created, name: 'Other' })
    const silent = await tenant.send('PUT', path, { objectType: 'Identity', description: '' })
    assert.deepEqual(silent.body.data, { ...created, name: 'Other', description: '' })
    const labelled = await tenant.send('PUT', path, { objectType: 'Identity', metadata: { attributes: { a: 'B' } } })
    assert.deepEqual(labelled.body.data.metadata, { tags: ['one'], attributes: { a: 'B' } })
    const bare = await tenant.send('PUT', path, { objectType: 'Identity', metadata: { attributes: {} } })
    assert.deepEqual(bare.body.data.metadata, created.metadata)
    const narrowed = await tenant.send('PUT', path, { objectType: 'Identity', condition: named('Bo') })
    assert.deepEqual(narrowed.body.data, { ...created, name: 'Other', description: '', condition: named('Bo') })
    assert.deepEqual((await tenant.send('GET', path)).body.data, narrowed.body.data)
  })

  it('accepts the whole record, and ignores members that the service sets', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'), { metadata: { tags: ['one'], attributes: { a: 'B' } } })
    const { body } = await tenant.send('GET', `${CRITERIA}/${id}`)
    const sent = { ...body.data, id: UNKNOWN_ID, createdBy: 'x', createdAt: 'x', kind: 'joinable', tenantId: 'x' }
    assert.deepEqual((await tenant.send('PUT', `${CRITERIA}/${id}`, sent)).body.data, body.data)
  })

  it('refuses another object type, none, and text for a description', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'))
    const put = (body: object) => tenant.send('PUT', `${CRITERIA}/${id}`, body)
    assert.deepEqual(faults(await put({ objectType: 'OrgUnit' })), [400, 'ObjectTypeFixed /objectType'])
    assert.deepEqual(faults(await put({ objectType: 'User' })), [400, 'ObjectTypeFixed /objectType'])
    assert.deepEqual(faults(await put({ name: 'x' })), [400, 'MissingMember /objectType'])
    assert.deepEqual(faults(await put({ objectType: 'Identity', description: 1 })), [400, 'InvalidType /description'])
    assert.deepEqual(faults(await put({ objectType: null })), [400, 'InvalidType /objectType'])
  })

  it('refuses If-Match with an old version, and leaves the record unchanged', async () => {
    const tenant = criteriaTenant(service)
    const path = `${CRITERIA}/${await tenant.create(named('Ann'))}`
    const { headers } = await tenant.send('GET', path)
    const etag = headers.etag ?? ''
    const put = (name: string, version: string) =>
      tenant.send('PUT', path, { objectType: 'Identity', name }, { 'if-match': version })
    const changed = await put('Second', etag)
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.etag, etag)
    assert.deepEqual(codes(await put('Third', etag)), [412, 'PreconditionFailed'])
    assert.deepEqual(codes(await tenant.send('DELETE', path, undefined, { 'if-match': etag })), [
      412,
      'PreconditionFailed',
    ])
    assert.equal((await put('Fourth', '*')).status, 200)
    assert.equal((await put('Fifth', (await tenant.send('GET', path)).headers.etag ?? '')).body.data.name, 'Fifth')
  })

  it('loses none of many concurrent changes', async () => {
    const tenant = criteriaTenant(service)
    const path = `${CRITERIA}/${await tenant.create(named('Ann'))}`
    const changes = [
      { name: 'New' },
      { description: 'New' },
      { metadata: { tags: ['new'] } },
      { condition: named('Bo') },
    ]
    const answers = await Promise.all(
      changes.map((change) => tenant.send('PUT', path, { objectType: 'Identity', ...change })),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    const { name, description, metadata, condition } = (await tenant.send('GET', path)).body.data
    assert.deepEqual(
      { name, description, tags: metadata.tags, condition },
      { name: 'New', description: 'New', tags: ['new'], condition: named('Bo') },
    )
  })
})

describe('references between criteria collections', () => {
  it('refuses unknown collections and those of another tenant', async () => {
    const tenant = criteriaTenant(service)
    const foreign = await criteriaTenant(service).create(named('Ann'))
    for (const id of [UNKNOWN_ID, foreign]) {
      const body = { objectType: 'Identity', name: 'x', condition: memberOf(id) }
      assert.deepEqual(faults(await tenant.send('POST', CRITERIA, body)), [
        400,
        'CollectionUnknown /condition/conditions/0/value',
      ])
      assert.deepEqual(faults(await tenant.send('POST', `${CRITERIA}/preview`, { preview: body })), [
        400,
        'CollectionUnknown /preview/condition/conditions/0/value',
      ])
    }
  })

  it('refuses cycles of any length, self-references included', async () => {
    const tenant = criteriaTenant(service)
    const first = await tenant.create(named('Ann'))
    const second = await tenant.create(memberOf(first))
    const third = await tenant.create(memberOf(second))
    for (const id of [first, second, third]) {
      const answer = await tenant.send('PUT', `${CRITERIA}/${first}`, {
        objectType: 'Identity',
        condition: memberOf(id),
      })
      assert.deepEqual(faults(answer), [400, 'CircularReference /condition'])
      assert.ok(answer.body.error.includes(id))
    }
  })

  it('prevents two concurrent changes from closing a cycle', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = criteriaTenant(service)
      const one = await tenant.create(named('Ann'))
      const other = await tenant.create(named('Bo'))
      const refer = (from: string, to: string) =>
        tenant.send('PUT', `${CRITERIA}/${from}`, { objectType: 'Identity', condition: memberOf(to) })
      const answers = await Promise.all([refer(one, other), refer(other, one)])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
      assert.ok(answers.some(({ body }) => body.errors[0]?.code === 'CircularReference'))
    }
  })

  it('never leaves a reference to a collection that is deleted concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = criteriaTenant(service)
      const one = await tenant.create(named('Ann'))
      const body = { objectType: 'Identity', name: 'x', condition: memberOf(one) }
      const [made, gone] = await Promise.all([
        tenant.send('POST', CRITERIA, body),
        tenant.send('DELETE', `${CRITERIA}/${one}`),
      ])
      assert.ok(
        (made.status === 201 && gone.status === 409) || (made.status === 400 && gone.status === 200),
        `${made.status} and ${gone.status}`,
      )
    }
  })
})

describe('deleting a criteria collection', () => {
  it('returns null and removes the collection everywhere', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const { status, body } = await tenant.send('DELETE', `${CRITERIA}/${id}`)
    assert.deepEqual([status, body.data, body.isSuccess], [200, null, true])
    for (const path of [`${CRITERIA}/${id}`, `${CRITERIA}/${id}/results`, `${COLLECTIONS}/${id}`]) {
      assert.deepEqual(codes(await tenant.send('GET', path)), [404, 'CollectionNotFound'])
    }
    assert.deepEqual(codes(await tenant.send('DELETE', `${CRITERIA}/${id}`)), [404, 'CollectionNotFound'])
    assert.deepEqual((await tenant.send('GET', COLLECTIONS)).body.data, [])
    assert.equal((await service.process.memberships.members(tenant.tenantId, id))?.ids, undefined)
  })

  it('is refused while collections or links refer to it, with their names', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'))
    const referrer = await tenant.create(memberOf(id), { name: 'The referrer' })
    const linkId = randomUUID()
    service.links.set(id, [linkId])
    const refused = await tenant.send('DELETE', `${CRITERIA}/${id}`)
    assert.deepEqual(codes(refused), [409, 'CollectionInUse'])
    for (const name of [referrer, 'The referrer', linkId]) assert.ok(refused.body.error.includes(name), name)
    await tenant.send('DELETE', `${CRITERIA}/${referrer}`)
    assert.deepEqual(codes(await tenant.send('DELETE', `${CRITERIA}/${id}`)), [409, 'CollectionInUse'])
    service.links.delete(id)
    assert.equal((await tenant.send('DELETE', `${CRITERIA}/${id}`)).status, 200)
  })
})

describe('who may do what with criteria collections', () => {
  it('isolates tenants', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'))
    const stranger = criteriaTenant(service)
    for (const [method, path, body] of [
      ['GET', `${CRITERIA}/${id}`],
      ['PUT', `${CRITERIA}/${id}`, { objectType: 'Identity' }],
      ['DELETE', `${CRITERIA}/${id}`],
      ['GET', `${CRITERIA}/${id}/results`],
      ['POST', `${CRITERIA}/${id}/results/filter-members`, []],
      ['GET', `${COLLECTIONS}/${id}`],
      ['GET', `${COLLECTIONS}/${id}/results`],
      ['POST', `${COLLECTIONS}/${id}/filter-members`, []],
    ] as const) {
      assert.deepEqual(codes(await stranger.send(method, path, body)), [404, 'CollectionNotFound'], `${method} ${path}`)
    }
    const preview = { currentId: id, preview: { objectType: 'Identity', condition: named('Ann') } }
    assert.deepEqual(faults(await stranger.send('POST', `${CRITERIA}/preview`, preview)), [
      400,
      'CollectionUnknown /currentId',
    ])
  })

  it('allows readers to read only, and others nothing', async () => {
    const tenant = criteriaTenant(service)
    const id = await tenant.create(named('Ann'))
    const reader = service.as(tenant.tenantId, 'collections-criteria.criteria.read.all')
    const person = service.asUser(tenant.tenantId, randomUUID(), 'User', 'Administrator')
    const definition = { objectType: 'Identity', name: 'x', condition: named('Ann') }
    for (const [method, path, body, isReading] of [
      ['GET', CRITERIA, undefined, true],
      ['GET', `${CRITERIA}/${id}`, undefined, true],
      ['GET', `${CRITERIA}/${id}/results`, undefined, true],
      ['POST', `${CRITERIA}/${id}/results/filter-members`, { ids: [] }, true],
      ['POST', `${CRITERIA}/preview`, { preview: definition }, true],
      ['GET', `${CRITERIA}/tenant-schemas`, undefined, true],
      ['GET', COLLECTIONS, undefined, true],
      ['GET', `${COLLECTIONS}/search?tags=a`, undefined, true],
      ['POST', `${COLLECTIONS}/${id}/filter-members`, { ids: [] }, true],
      ['POST', CRITERIA, definition, false],
      ['PUT', `${CRITERIA}/${id}`, definition, false],
      ['DELETE', `${CRITERIA}/${id}`, undefined, false],
    ] as const) {
      const asked = `${method} ${path}`
      assert.equal((await reader(method, path, body)).status, isReading ? 200 : 403, asked)
      assert.deepEqual(codes(await person(method, path, body)), [403, 'RoleRequired'], asked)
    }
  })

  it('returns 400 for a malformed id, and 404 for an unknown one after checking the input', async () => {
    const { send } = criteriaTenant(service)
    assert.deepEqual(faults(await send('GET', `${CRITERIA}/nonsense`)), [400, 'InvalidId id'])
    assert.deepEqual(codes(await send('PUT', `${CRITERIA}/${UNKNOWN_ID}`, { objectType: 'Identity' })), [
      404,
      'CollectionNotFound',
    ])
    const faulty = { objectType: 'Identity', condition: all() }
    assert.deepEqual(codes(await send('PUT', `${CRITERIA}/${UNKNOWN_ID}`, faulty)), [400, 'EmptyGroup'])
    assert.deepEqual(codes(await send('GET', `${CRITERIA}/${UNKNOWN_ID.toUpperCase()}`)), [404, 'CollectionNotFound'])
    assert.deepEqual(codes(await send('PATCH', `${CRITERIA}/${UNKNOWN_ID}`, {})), [405, 'MethodNotAllowed'])
  })
})
