import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { type MembershipRequest, slotOf } from '../../shared/domain/membership-requests/membership-request.ts'
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
  startsWith,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

describe('results of a criteria collection', () => {
  it('are empty and without a time until it is evaluated, then hold the members in ascending order', async () => {
    const tenant = criteriaTenant(service)
    const people = [await tenant.person('Ann'), await tenant.person('Anders'), await tenant.person('Bo')]
    const id = await tenant.create(startsWith('An'), { name: 'The As', description: 'Some' })
    const outline = { collectionId: id, name: 'The As', description: 'Some', objectType: 'Identity' }
    assert.deepEqual(await tenant.results(id), { ...outline, memberIds: [], evaluatedAt: null })
    await tenant.evaluate()
    const evaluated = {
      ...outline,
      memberIds: people.slice(0, 2).sort(),
      evaluatedAt: '2030-03-01T12:00:00.000+00:00',
    }
    assert.deepEqual(await tenant.results(id), evaluated)
    assert.deepEqual((await tenant.send('GET', `${COLLECTIONS}/${id}/results`)).body.data, evaluated)
  })

  it('contain relationships and org units for collections of these types', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const [school, hospital] = [
      await tenant.put('orgUnit', { displayName: 'School' }),
      await tenant.put('orgUnit', { displayName: 'Hospital' }),
    ]
    const teaching = await tenant.position(ann, school, { title: 'Teacher' })
    await tenant.position(ann, hospital, { title: 'Nurse' })
    const teachers = all(leaf('relationshipTitle', 'Equals', 'Teacher'), leaf('orgUnitDisplayName', 'Equals', 'School'))
    const mixed = all(leaf('relationshipTitle', 'Equals', 'Teacher'), leaf('orgUnitDisplayName', 'Equals', 'Hospital'))
    const ids = [
      await tenant.create(teachers, { objectType: 'Relationship' }),
      await tenant.create(teachers, { objectType: 'OrgUnit' }),
      await tenant.create(teachers),
      await tenant.create(mixed),
    ]
    await tenant.evaluate()
    assert.deepEqual(await Promise.all(ids.map(tenant.members)), [[teaching], [school], [ann], []])
  })
})

describe('filter-members', () => {
  it('accepts a list or `ids` in any case, and returns each member once, in the given order', async () => {
    const tenant = criteriaTenant(service)
    const [ann, anna, bo] = [await tenant.person('Ann'), await tenant.person('Anna'), await tenant.person('Bo')]
    const id = await tenant.create(startsWith('An'))
    await tenant.evaluate()
    const asked = [anna, bo, UNKNOWN_ID, ann.toUpperCase(), anna.toUpperCase(), ann]
    for (const path of [`${CRITERIA}/${id}/results/filter-members`, `${COLLECTIONS}/${id}/filter-members`]) {
      for (const body of [asked, { ids: asked }]) {
        assert.deepEqual((await tenant.send('POST', path, body)).body.data, [anna, ann])
      }
      assert.deepEqual((await tenant.send('POST', path, [])).body.data, [])
    }
  })

  it('returns no members before the first evaluation', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const id = await tenant.create(named('Ann'))
    assert.deepEqual((await tenant.send('POST', `${COLLECTIONS}/${id}/filter-members`, [ann])).body.data, [])
  })

  it('accepts up to 10,000 ids, and refuses malformed ones', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const path = `${CRITERIA}/${await tenant.create(named('Ann'))}/results/filter-members`
    await tenant.evaluate()
    const many = Array.from({ length: 9_999 }, () => randomUUID())
    assert.deepEqual((await tenant.send('POST', path, [...many, ann])).body.data, [ann])
    assert.deepEqual(faults(await tenant.send('POST', path, [...many, ann, ann])), [400, 'InvalidLength '])
    assert.deepEqual(faults(await tenant.send('POST', path, { ids: [...many, ann, ann] })), [400, 'InvalidLength /ids'])
    assert.deepEqual(faults(await tenant.send('POST', path, [ann, 'x'])), [400, 'InvalidId /1'])
    assert.deepEqual(faults(await tenant.send('POST', path, { ids: [7] })), [400, 'InvalidType /ids/0'])
    assert.deepEqual(faults(await tenant.send('POST', path, {})), [400, 'MissingMember /ids'])
    assert.equal((await tenant.send('POST', path, 'x')).status, 400)
    assert.deepEqual(codes(await tenant.send('POST', path)), [400, 'BodyRequired'])
  })
})

describe('preview', () => {
  it('returns the current members by id and name, all of them as added, and saves nothing', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const nameless = await tenant.put('identity', { email: 'Ann@example.org' })
    const condition = {
      groupOperator: 'OR',
      conditions: [leaf('identityDisplayName', 'Equals', 'Ann'), leaf('identityEmail', 'StartsWith', 'Ann')],
    }
    const { status, body } = await tenant.send('POST', `${CRITERIA}/preview`, {
      preview: { objectType: 'Identity', condition, name: 'ignored' },
    })
    assert.equal(status, 200)
    const shown = [
      { objectId: ann, displayName: 'Ann' },
      { objectId: nameless, displayName: null },
    ].sort((left, right) => (left.objectId < right.objectId ? -1 : 1))
    assert.deepEqual(body.data, {
      preview: shown,
      added: shown,
      removed: [],
      counts: { preview: 2, added: 2, removed: 0 },
      warnings: [],
    })
    assert.deepEqual((await tenant.send('GET', COLLECTIONS)).body.data, [])
  })

  it('compares with the stored members of a collection, deleted objects included', async () => {
    const tenant = criteriaTenant(service)
    const [ann, anna, bo] = [await tenant.person('Ann'), await tenant.person('Anna'), await tenant.person('Bo')]
    const currentId = await tenant.create(startsWith('An'))
    await tenant.evaluate()
    await tenant.put('identity', {}, ann, true)
    const condition = { groupOperator: 'NOT', conditions: [leaf('identityDisplayName', 'Equals', 'nobody')] }
    const { body } = await tenant.send('POST', `${CRITERIA}/preview`, {
      currentId: currentId.toUpperCase(),
      preview: { objectType: 'Identity', condition },
    })
    assert.deepEqual(
      body.data.preview.map(({ objectId }: { objectId: string }) => objectId),
      [anna, bo].sort(),
    )
    assert.deepEqual(body.data.added, [{ objectId: bo, displayName: 'Bo' }])
    assert.deepEqual(body.data.removed, [{ objectId: ann, displayName: null }])
    assert.deepEqual(body.data.counts, { preview: 2, added: 1, removed: 1 })
    const none = await tenant.send('POST', `${CRITERIA}/preview`, {
      currentId: null,
      preview: { objectType: 'Identity', condition },
    })
    assert.deepEqual(none.body.data.counts, { preview: 2, added: 2, removed: 0 })
  })

  it('compares with the identities or relationships of a joinable collection, and evaluates conditions on it', async () => {
    const tenant = criteriaTenant(service)
    const [ann, bo] = [await tenant.person('Ann'), await tenant.person('Bo')]
    const position = await tenant.position(ann, undefined, { title: 'Nurse' })
    const { value: criteria } =
      (await service.process.collections.find(tenant.tenantId, await tenant.create(named('Ann')))) ?? assert.fail()
    const joinable = { ...criteria, id: randomUUID(), kind: 'joinable' as const, definition: {} }
    await service.process.collections.add(joinable, undefined)
    const at = '2030-01-02T00:00:00.000+00:00'
    const joined: MembershipRequest = {
      id: randomUUID(),
      tenantId: tenant.tenantId,
      slot: slotOf(joinable, ann, position),
      collectionId: joinable.id,
      requesterId: ann,
      submittedBy: ann,
      relationshipId: position,
      status: 'Joined',
      currentGate: null,
      notes: null,
      createdAt: at,
      updatedAt: at,
      lifecycle: [{ status: 'Joined', actorId: ann, at }],
    }
    await service.process.requests.save([{ after: joined }])
    const counts = async (objectType: string, condition: object) => {
      const body = { currentId: joinable.id, preview: { objectType, condition } }
      return (await tenant.send('POST', `${CRITERIA}/preview`, body)).body.data.counts
    }
    assert.deepEqual(await counts('Identity', named('Bo')), { preview: 1, added: 1, removed: 1 })
    assert.deepEqual(await counts('Relationship', named('Ann')), { preview: 1, added: 0, removed: 0 })
    const id = await tenant.create({ groupOperator: 'NOT', conditions: memberOf(joinable.id).conditions })
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(id), [bo])
  })

  it('includes the latest writes and the members of other collections', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const countOf = async (condition: object) => {
      const { body } = await tenant.send('POST', `${CRITERIA}/preview`, {
        preview: { objectType: 'Identity', condition },
      })
      return body.data.counts.preview
    }
    assert.equal(await countOf(memberOf(id)), 1)
    assert.equal(await countOf(startsWith('An')), 1)
    await tenant.person('Anders')
    assert.equal(await countOf(startsWith('An')), 2)
  })

  it('does not wait for evaluations of the collections that the condition refers to or that it compares with', async () => {
    const tenant = criteriaTenant(service)
    const [ann, anders] = [await tenant.person('Ann'), await tenant.person('Anders')]
    const inner = await tenant.create(startsWith('An'))
    const outer = await tenant.create(memberOf(inner))
    const compared = async (condition: object, currentId?: string) => {
      const preview = { objectType: 'Identity', condition }
      const { data } = (await tenant.send('POST', `${CRITERIA}/preview`, { currentId, preview })).body
      const ids = (objects: { objectId: string }[]) => objects.map(({ objectId }) => objectId)
      return [ids(data.preview), ids(data.added), ids(data.removed)]
    }
    const both = [ann, anders].sort()
    assert.deepEqual(await compared(memberOf(outer)), [both, both, []])
    assert.deepEqual(await compared(named('Ann'), outer), [[ann], [], [anders]])
  })

  it('compares with the collection of a whole record, if there is one', async () => {
    const tenant = criteriaTenant(service)
    const [ann, bo] = [await tenant.person('Ann'), await tenant.person('Bo')]
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    const compared = async (changes: object) => {
      const record = { objectType: 'Identity', name: 'x', createdBy: ann, condition: named('Bo'), ...changes }
      const { status, body } = await tenant.send('POST', `${CRITERIA}/preview`, { preview: record })
      assert.equal(status, 200)
      const ids = (objects: { objectId: string }[]) => objects.map(({ objectId }) => objectId)
      return [ids(body.data.added), ids(body.data.removed)]
    }
    assert.deepEqual(await compared({ id: id.toUpperCase() }), [[bo], [ann]])
    for (const unknown of [UNKNOWN_ID, 'x', 7, null]) assert.deepEqual(await compared({ id: unknown }), [[bo], []])
  })

  it('displays a relationship by the name of its identity and its title', async () => {
    const tenant = criteriaTenant(service)
    const position = await tenant.position(await tenant.person('Ann'), undefined, { title: 'Nurse' })
    const condition = all(leaf('relationshipId', 'Equals', position))
    const { body } = await tenant.send('POST', `${CRITERIA}/preview`, {
      preview: { objectType: 'Relationship', condition },
    })
    assert.deepEqual(body.data.preview, [{ objectId: position, displayName: 'Ann, Nurse' }])
  })

  it('refuses what an update of the compared collection would refuse', async () => {
    const tenant = criteriaTenant(service)
    const inner = await tenant.create(named('Ann'))
    const outer = await tenant.create(memberOf(inner))
    const preview = (objectType: string, condition: object) =>
      tenant.send('POST', `${CRITERIA}/preview`, { currentId: inner, preview: { objectType, condition } })
    assert.deepEqual(faults(await preview('OrgUnit', named('Ann'))), [400, 'ObjectTypeFixed /preview/objectType'])
    assert.deepEqual(faults(await preview('Identity', memberOf(outer))), [400, 'CircularReference /preview/condition'])
    assert.equal((await preview('Identity', named('Bo'))).status, 200)
  })

  it('refuses what creation refuses, and an unknown collection to compare with', async () => {
    const { send } = criteriaTenant(service)
    const preview = { objectType: 'User', condition: all(leaf('nothing', 'Equals', 'x')) }
    assert.deepEqual(faults(await send('POST', `${CRITERIA}/preview`, { preview })), [
      400,
      'ObjectTypeNotSupported /preview/objectType',
      'FieldNotInSchema /preview/condition/conditions/0/id',
    ])
    assert.deepEqual(faults(await send('POST', `${CRITERIA}/preview`, { currentId: UNKNOWN_ID, preview })), [
      400,
      'ObjectTypeNotSupported /preview/objectType',
      'CollectionUnknown /currentId',
      'FieldNotInSchema /preview/condition/conditions/0/id',
    ])
    const sound = { objectType: 'Identity', condition: named('Ann') }
    assert.deepEqual(faults(await send('POST', `${CRITERIA}/preview`, { currentId: UNKNOWN_ID, preview: sound })), [
      400,
      'CollectionUnknown /currentId',
    ])
    assert.deepEqual(faults(await send('POST', `${CRITERIA}/preview`, { currentId: 'x', preview: sound })), [
      400,
      'InvalidId /currentId',
    ])
    assert.deepEqual(faults(await send('POST', `${CRITERIA}/preview`, {})), [400, 'MissingMember /preview'])
  })
})

describe('tenant-schemas', () => {
  it('contains the schema of conditions, the custom attributes of live objects included', async () => {
    const tenant = criteriaTenant(service)
    const read = async () => (await tenant.send('GET', `${CRITERIA}/tenant-schemas`)).body.data
    const schemas = await read()
    assert.deepEqual(Object.keys(schemas).sort(), [
      'groupSchema',
      'identitySchema',
      'orgUnitSchema',
      'relationshipSchema',
      'userSchema',
    ])
    assert.deepEqual(schemas.relationshipSchema, schemas.identitySchema)
    assert.deepEqual(schemas.orgUnitSchema, schemas.identitySchema)
    assert.deepEqual([schemas.userSchema, schemas.groupSchema], [{}, {}])
    for (const [name, type] of [
      ['identityDisplayName', 'String'],
      ['identityId', 'Guid'],
      ['relationshipStartDate', 'DateTime'],
      ['relationshipOrgUnit', 'Guid'],
      ['orgUnitDeputies', 'List'],
      ['identityDirectoryOnPremisesSyncEnabled', 'Boolean'],
      ['directMemberOfDirectoryGroups', 'List'],
      ['assignedLicenses', 'List'],
      ['memberOfCollection', 'Guid'],
    ] as const) {
      assert.equal(schemas.identitySchema[name], type, name)
    }
    const ann = await tenant.person('Ann', { 'custom/license_plate': 'X1' })
    assert.equal((await read()).orgUnitSchema['identityCustom/license_plate'], 'String')
    const stranger = criteriaTenant(service)
    const foreign = (await stranger.send('GET', `${CRITERIA}/tenant-schemas`)).body.data
    assert.equal('identityCustom/license_plate' in foreign.identitySchema, false)
    const id = await tenant.create(all(leaf('identityCustom/license_plate', 'Equals', 'X1')))
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(id), [ann])
    await tenant.put('identity', {}, ann, true)
    assert.equal('identityCustom/license_plate' in (await read()).identitySchema, false)
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(id), [])
  })
})

describe('lists and searches of collections', () => {
  it('are sorted by name, and filtered by object type', async () => {
    const tenant = criteriaTenant(service)
    for (const [name, objectType] of [
      ['C', 'Identity'],
      ['A', 'OrgUnit'],
      ['B', 'Identity'],
    ] as const) {
      await tenant.create(named('Ann'), { name, objectType })
    }
    const names = async (query: string) =>
      (await tenant.send('GET', `${COLLECTIONS}${query}`)).body.data.map(({ name }: { name: string }) => name)
    assert.deepEqual(await names(''), ['A', 'B', 'C'])
    assert.deepEqual(await names('?objectType=Identity'), ['B', 'C'])
    assert.deepEqual(await names('?objectType=Group'), [])
    assert.deepEqual(faults(await tenant.send('GET', `${COLLECTIONS}?objectType=Nothing`)), [
      400,
      'InvalidValue objectType',
    ])
  })

  it('return collections with all the given tags and attributes', async () => {
    const tenant = criteriaTenant(service)
    const metadata = [
      { tags: ['Health', 'night'], attributes: { Owner: 'HR', 'a:b': 'c' } },
      { tags: ['health'], attributes: { owner: 'IT' } },
      {},
      { tags: ['Night, late', 'x,', ','] },
    ]
    for (const [index, given] of metadata.entries()) {
      await tenant.create(named('Ann'), { name: String(index), metadata: given })
    }
    const found = async (query: string) =>
      (await tenant.send('GET', `${COLLECTIONS}/search?${query}`)).body.data.map(({ name }: { name: string }) => name)
    for (const [query, expected] of [
      ['', ['0', '1', '2', '3']],
      ['tags=HEALTH', ['0', '1']],
      ['tags=health,night', ['0']],
      ['tags=health&tags=%20Night%20', ['0']],
      ['tags=health,day', []],
      ['tags=night,%20LATE', ['3']],
      ['tags=night%2C%20late&tags=X,', ['3']],
      ['tags=night%2C%20late&tags=health', []],
      ['tags=,health,', ['0', '1']],
      ['tags=,', ['0', '1', '2', '3']],
      ['attributes=owner:HR', ['0']],
      ['attributes=OWNER:HR', ['0']],
      ['attributes=owner:hr', []],
      ['attributes=owner:IT&tags=health', ['1']],
      ['attributes=owner:HR&attributes=owner:IT', []],
      ['attributes=a:b:c', []],
    ] as const) {
      assert.deepEqual(await found(query), expected, query)
    }
    for (const term of ['owner', ':HR', '%20:HR', '']) {
      const refused = await tenant.send('GET', `${COLLECTIONS}/search?attributes=${term}`)
      assert.deepEqual(faults(refused), [400, 'InvalidValue attributes'], term)
    }
    for (const query of ['tags=', 'tags', 'tags=health&tags=%20']) {
      const refused = await tenant.send('GET', `${COLLECTIONS}/search?${query}`)
      assert.deepEqual(faults(refused), [400, 'InvalidValue tags'], query)
    }
  })
})
