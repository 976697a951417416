import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CORE, coreDataServiceOfTests, newTenantWithHr, remove, to, upsert } from '../support/api/core-data-service.ts'

const service = await coreDataServiceOfTests()

const renamed = (objectType: string, previousExternalId: string, externalId: string, data: object = {}) => ({
  ...upsert(objectType, externalId, data),
  previousExternalId,
})

async function school() {
  const { tenant, hr } = await newTenantWithHr(service)
  await hr.batch(
    upsert('identity', 'ada', { nin: '1' }),
    upsert('identity', 'bo', { nin: '2' }),
    upsert('orgUnit', 'school', { manager: to('ada'), deputies: [to('ada'), to('bo')] }),
    upsert('orgUnit', 'class', { parent: to('school') }),
    upsert('relationship', 'job', { identity: to('ada'), orgUnit: to('school'), manager: to('bo') }),
  )
  const id = async (type: string, externalId: string): Promise<string> =>
    (await tenant.byExternalId(type, externalId))?.id
  const stored = async (type: string, externalId: string) =>
    (await hr.send('GET', `${hr.data}/${type}/${externalId}`)).body.data
  return { tenant, hr, id, stored }
}

describe('An object that is renamed', () => {
  it('keeps its core object, whatever its type, and references follow, in stored data too', async () => {
    const { tenant, hr, id, stored } = await school()
    const before = [await id('identities', 'ada'), await id('orgunits', 'school'), await id('relationships', 'job')]
    const results = await hr.batch(
      renamed('identity', 'ada', 'ada 2', { nin: '1' }),
      renamed('orgUnit', 'school', 'school 2', { manager: to('ada 2'), deputies: [to('ada'), to('bo')] }),
      renamed('relationship', 'job', 'job 2', { identity: to('ada'), orgUnit: to('school'), manager: to('bo') }),
    )
    assert.deepEqual(
      results.map(({ status }) => status),
      [200, 200, 200],
    )
    const after = [
      await id('identities', 'ada 2'),
      await id('orgunits', 'school 2'),
      await id('relationships', 'job 2'),
    ]
    assert.deepEqual(after, before)
    const [adaId, schoolId] = before
    const job = await tenant.byExternalId('relationships', 'job 2')
    assert.deepEqual([job.identity, job.orgUnit], [{ objectId: adaId }, { objectId: schoolId }])
    assert.deepEqual((await tenant.byExternalId('orgunits', 'class')).parent, { objectId: schoolId })
    assert.equal((await tenant.byExternalId('orgunits', 'school 2')).deputies.length, 2)
    assert.deepEqual((await stored('relationship', 'job%202')).data.identity, to('ada 2'))
    assert.deepEqual((await stored('orgUnit', 'school%202')).data.deputies, [to('ada 2'), to('bo')])
    assert.deepEqual((await stored('orgUnit', 'class')).data.parent, to('school 2'))
    assert.equal((await hr.send('GET', `${hr.data}/identity/ada`)).status, 404)
    assert.equal((await tenant.all('identities')).length, 2)
  })

  it('frees its former name also when a later item of the batch shares a key with it', async () => {
    const { hr } = await school()
    const shared = { directoryObjectId: '7f7f7f7f-0000-4000-8000-000000000001' }
    await hr.batch(upsert('identity', 'cy', shared))
    const results = await hr.batch(renamed('identity', 'cy', 'cy 2', shared), upsert('identity', 'di', shared))
    assert.deepEqual(
      results.map(({ status }) => status),
      [200, 201],
    )
    const names = ['cy', 'cy%202', 'di']
    const statuses = await Promise.all(
      names.map(async (name) => (await hr.send('GET', `${hr.data}/identity/${name}`)).status),
    )
    assert.deepEqual(statuses, [404, 200, 200])
  })

  it('is an ordinary upsert when nothing has the former name, when it is sent again, and when the names are equal', async () => {
    const { tenant, hr, id } = await school()
    const ada = await id('identities', 'ada')
    const [created] = await hr.batch(renamed('identity', 'nobody', 'cy'))
    assert.equal(created.status, 201)
    for (const nin of ['1', '1', '3']) {
      const [again] = await hr.batch(renamed('identity', 'ada', 'ada 2', { nin }))
      assert.equal(again.status, 200)
    }
    const [same] = await hr.batch(renamed('identity', 'ada 2', 'ada 2', { nin: '4' }))
    assert.equal(same.status, 200)
    assert.deepEqual([await id('identities', 'ada 2'), (await tenant.all('identities')).length], [ada, 3])
  })

  it('is refused when both names have a live object', async () => {
    const { hr, id } = await school()
    const before = [await id('identities', 'ada'), await id('identities', 'bo')]
    const [refused] = await hr.batch(renamed('identity', 'ada', 'bo'))
    assert.deepEqual([refused.status, refused.errors[0].code], [409, 'ExternalIdInUse'])
    assert.deepEqual([await id('identities', 'ada'), await id('identities', 'bo')], before)
  })

  it('takes a name that is only soft-deleted, and can be soft-deleted itself', async () => {
    const { tenant, hr, id } = await school()
    const [ada, job] = [await id('identities', 'ada'), await id('relationships', 'job')]
    await hr.batch(remove('identity', 'bo'), remove('relationship', 'job'))
    const [taken, restored] = await hr.batch(
      renamed('identity', 'ada', 'bo', { nin: '1' }),
      renamed('relationship', 'job', 'job 2', { identity: to('bo') }),
    )
    assert.deepEqual([taken.status, restored.status], [200, 201])
    assert.deepEqual([await id('identities', 'bo'), await id('relationships', 'job 2')], [ada, job])
    assert.deepEqual((await tenant.byExternalId('relationships', 'job 2')).identity, { objectId: ada })
  })

  for (const [objectType, list] of [
    ['identity', 'identities'],
    ['orgUnit', 'orgunits'],
    ['relationship', 'relationships'],
  ] as const) {
    it(`leaves its name free: another ${objectType} of that name is another core object, also when deleted between`, async () => {
      const { tenant, hr } = await newTenantWithHr(service)
      await hr.batch(upsert(objectType, 'a', {}))
      const first = (await tenant.byExternalId(list, 'a')).id
      await hr.batch(renamed(objectType, 'a', 'b'))
      await hr.batch(upsert(objectType, 'a', {}))
      const second = (await tenant.byExternalId(list, 'a')).id
      assert.deepEqual([(await tenant.byExternalId(list, 'b')).id, second !== first], [first, true])
      await hr.batch(remove(objectType, 'a'))
      await hr.batch(renamed(objectType, 'b', 'a'))
      assert.deepEqual([(await tenant.byExternalId(list, 'a')).id, (await tenant.all(list)).length], [first, 1])
      await hr.batch(renamed(objectType, 'a', 'c'))
      await hr.batch(upsert(objectType, 'a', {}))
      assert.notEqual((await tenant.byExternalId(list, 'a')).id, first)
    })
  }

  it('is found by references to any of its former names, until another object has that name', async () => {
    const { tenant, hr, id } = await school()
    const [ada, bo] = [await id('identities', 'ada'), await id('identities', 'bo')]
    await hr.batch(renamed('identity', 'ada', 'ada 2', { nin: '1' }))
    await hr.batch(renamed('identity', 'ada 2', 'ada 3', { nin: '1' }))
    await hr.batch(upsert('relationship', 'late', { identity: to('ada') }))
    const holder = async () => (await tenant.byExternalId('relationships', 'late')).identity?.objectId
    assert.equal(await holder(), ada)
    // The person joins another one, and leaves it again: the position follows.
    const directory = await tenant.addConnector('Directory')
    await directory.batch(upsert('identity', 'd', { nin: '9' }))
    await hr.batch(upsert('identity', 'ada 3', { nin: '9' }))
    assert.equal(await holder(), (await tenant.byExternalId('identities', 'ada 3')).id)
    await hr.batch(remove('identity', 'ada 3'))
    assert.equal(await holder(), undefined)
    await hr.batch(upsert('identity', 'ada', { nin: '7' }))
    assert.equal(await holder(), (await tenant.byExternalId('identities', 'ada')).id)
    assert.notEqual(await holder(), bo)
  })

  it('is found by references to its first name also after another object has got a later one', async () => {
    const { tenant, hr, id, stored } = await school()
    const [ada, unit] = [await id('identities', 'ada'), await id('orgunits', 'school')]
    for (const [from, name] of [1, 2, 3, 4].map((number) => [number - 1 || '', number])) {
      await hr.batch(
        renamed('identity', `ada ${from}`.trim(), `ada ${name}`, { nin: '1' }),
        renamed('orgUnit', `school ${from}`.trim(), `school ${name}`, {}),
      )
    }
    const taken = [1, 2, 3].flatMap((number) => [
      upsert('identity', `ada ${number}`, { nin: `of ${number}` }),
      upsert('orgUnit', `school ${number}`, {}),
    ])
    const results = await hr.batch(...taken)
    assert.ok(results.every(({ status }) => status === 201))
    await hr.batch(
      upsert('relationship', 'late', { identity: to('ada'), orgUnit: to('school') }),
      upsert('orgUnit', 'late', { parent: to('school') }),
    )
    const late = await tenant.byExternalId('relationships', 'late')
    assert.deepEqual([late.identity, late.orgUnit], [{ objectId: ada }, { objectId: unit }])
    assert.deepEqual((await tenant.byExternalId('orgunits', 'late')).parent, { objectId: unit })
    // The circle is found through the first name.
    const [refused] = await hr.batch(upsert('orgUnit', 'school 4', { parent: to('late') }))
    assert.deepEqual([refused.status, refused.errors[0].code], [400, 'ReferenceCycle'])
    assert.equal((await stored('identity', 'ada%204')).externalId, 'ada 4')
  })

  it('can take a name that it had before, and leads its other names there', async () => {
    const { tenant, hr, id } = await school()
    const ada = await id('identities', 'ada')
    await hr.batch(renamed('identity', 'ada', 'ada 2', { nin: '1' }))
    await hr.batch(renamed('identity', 'ada 2', 'ada', { nin: '1' }))
    await hr.batch(renamed('identity', 'ada', 'ada 3', { nin: '1' }))
    const [taken] = await hr.batch(upsert('identity', 'ada', { nin: '5' }))
    assert.equal(taken.status, 201)
    await hr.batch(upsert('relationship', 'late', { identity: to('ada 2') }))
    assert.deepEqual((await tenant.byExternalId('relationships', 'late')).identity, { objectId: ada })
  })

  it('cannot become its own ancestor by either name', async () => {
    const { hr } = await school()
    const parents = [to('class'), to('school'), to('school 2')]
    for (const parent of parents) {
      const [refused] = await hr.batch(renamed('orgUnit', 'school', 'school 2', { parent }))
      assert.equal(refused.status, 400)
    }
    await hr.batch(renamed('orgUnit', 'school', 'school 2', {}))
    const [refused] = await hr.batch(upsert('orgUnit', 'school 2', { parent: to('class') }))
    assert.deepEqual([refused.status, refused.errors[0].code], [400, 'ReferenceCycle'])
  })

  it('cannot become the ancestor of a unit above it that names its former name in the same batch', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    await hr.batch(upsert('orgUnit', 'a', {}), upsert('orgUnit', 'c', {}))
    const [first, second] = await hr.batch(
      renamed('orgUnit', 'a', 'b', { parent: to('c') }),
      upsert('orgUnit', 'c', { parent: to('a') }),
    )
    assert.deepEqual([first.status, second.status, second.errors?.[0].code], [200, 400, 'ReferenceCycle'])
    assert.equal((await tenant.byExternalId('orgunits', 'c')).parent, undefined)
  })

  it('can be one of a full batch', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const numbers = Array.from({ length: 1000 }, (_, index) => index)
    await hr.batch(...numbers.map((number) => upsert('orgUnit', `${number}`, { parent: to('above') })))
    const ids = async () => (await tenant.all('orgunits')).map(({ id }) => id).sort()
    const before = await ids()
    const results = await hr.batch(
      ...numbers.map((number) => renamed('orgUnit', `${number}`, `new ${number}`, { parent: to('above') })),
    )
    assert.ok(results.every(({ status }) => status === 200))
    assert.deepEqual(await ids(), before)
  })

  it('is named once in a batch, by either name', async () => {
    const { hr } = await school()
    const [first, second] = await hr.batch(renamed('identity', 'ada', 'ada 2'), upsert('identity', 'ada', {}))
    assert.deepEqual([first.status, second.status, second.errors[0].code], [200, 400, 'DuplicateItem'])
    const faults = await hr.batch({ ...upsert('identity', 'x', {}), previousExternalId: '' })
    assert.deepEqual([faults[0].status, faults[0].errors[0].target], [400, '/items/0/previousExternalId'])
  })

  it('keeps the memberships of explicit ids: the identity is the same record', async () => {
    const { tenant, hr, id } = await school()
    const ada = await id('identities', 'ada')
    await hr.batch(renamed('identity', 'ada', 'ada 2', { nin: '1' }))
    assert.equal((await tenant.admin('GET', `${CORE}/identities/${ada}`)).body.data.externalId, 'ada 2')
  })
})
