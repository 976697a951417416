import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Role } from '../../shared/kernel/caller.ts'
import { all, CRITERIA, criteriaTenant, leaf, startCriteriaService } from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

const SENSITIVE = ['identityNin', 'identityMobile', 'identityPrivateMobile', 'identityPrivateEmail']
const WRITER: Role = 'collections-criteria.criteria.readwrite.all'
const ALL_OBJECTS: Role = 'iam-core.synchronization-configuration.read.all'
const ADMINISTRATOR: Role = 'collection_criteria_definition-administrator'

const byNin = (nin: string) => all(leaf('identityNin', 'Equals', nin))

/** A person with every sensitive attribute, and callers with and without access to all core objects. */
async function tenantWithPerson() {
  const tenant = criteriaTenant(service)
  const more = { nin: '01019012345', mobile: '1', privateMobile: '2', privateEmail: 'ada@private.example' }
  const id = await tenant.person('Ada', more)
  const privileged = service.as(tenant.tenantId, WRITER, ALL_OBJECTS)
  const create = async (condition: object) => {
    const body = { objectType: 'Identity', name: 'A collection', condition }
    return (await privileged('POST', CRITERIA, body)).body.data as string
  }
  return { ...tenant, id, privileged, create }
}

describe('sensitive attributes', () => {
  it('do not exist for callers who may not read all core objects: the refusal is that of an unknown field', async () => {
    const { tenantId } = await tenantWithPerson()
    for (const send of [service.as(tenantId, WRITER), service.asUser(tenantId, randomUUID(), ADMINISTRATOR)]) {
      for (const name of SENSITIVE) {
        for (const field of [name, `Substring(${name},0,1)`]) {
          const refusals = []
          for (const id of [name, 'identityNothing']) {
            const condition = all(leaf(id, 'Equals', '0', field.replace(name, id)))
            for (const answer of [
              await send('POST', `${CRITERIA}/preview`, { preview: { objectType: 'Identity', condition } }),
              await send('POST', CRITERIA, { objectType: 'Identity', name: 'Guess', condition }),
            ]) {
              const errors = answer.body.errors.map(({ target: _target, ...error }: { target: string }) => error)
              refusals.push(JSON.stringify([answer.status, errors]).replaceAll(id, 'FIELD'))
            }
          }
          assert.equal(new Set(refusals).size, 1, refusals.join(' '))
          assert.match(refusals[0] ?? '', /^\[400,.*"FieldNotInSchema".*Field FIELD does not exist in schema/)
        }
      }
      const { body } = await send('GET', `${CRITERIA}/tenant-schemas`)
      assert.deepEqual(
        SENSITIVE.filter((name) => name in body.data.identitySchema || name in body.data.orgUnitSchema),
        [],
      )
      assert.equal(body.data.identitySchema.identityEmail, 'String')
    }
  })

  it('can be used and are listed by applications and administrators who may read all core objects', async () => {
    const { tenantId, id, privileged } = await tenantWithPerson()
    const administrator = service.asUser(tenantId, randomUUID(), ADMINISTRATOR, 'Administrator')
    for (const send of [privileged, administrator]) {
      const { body } = await send('GET', `${CRITERIA}/tenant-schemas`)
      assert.deepEqual(
        SENSITIVE.map((name) => body.data.identitySchema[name]),
        ['String', 'String', 'String', 'String'],
      )
      const preview = { objectType: 'Identity', condition: byNin('01019012345') }
      const found = await send('POST', `${CRITERIA}/preview`, { preview })
      assert.deepEqual(found.body.data.preview, [{ objectId: id, displayName: 'Ada' }])
    }
  })

  it('have hidden values in every answer to those who may not read them, also about themselves', async () => {
    const { tenantId, send, privileged, create } = await tenantWithPerson()
    const account = randomUUID()
    const mine = { nin: '02029012345', directoryObjectId: account }
    await service.database('coreObjects').items.upsert({
      ...{ id: account, tenantId, objectType: 'identity', externalId: account, deleted: false, contributors: [] },
      attributes: { displayName: 'Me', ...mine },
    })
    const secrets = ['01019012345', '02029012345', '9999']
    const id = await create(byNin('01019012345'))
    await privileged('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition: byNin('02029012345') })
    const later = all(leaf('identityNin', 'In', ['9999', '01019012345'], 'ToUpper(identityNin)'))
    await privileged('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition: later })
    const own = service.asUser(tenantId, account, 'User')
    const writer = send
    for (const [by, path] of [
      [writer, `${CRITERIA}/${id}`],
      [writer, CRITERIA],
      [writer, `/collections/beta/${id}/audit`],
      [writer, `/collections/beta/${id}/history`],
      [writer, `/collections/beta/${id}/explain?objectId=${account}`],
      [own, `/collections/beta/${id}/explain?objectId=${account}`],
    ] as const) {
      const { status, body } = await by('GET', path)
      assert.equal(status, 200, path)
      const text = JSON.stringify(body).replaceAll('"actual":"02029012345"', '')
      for (const secret of secrets) assert.ok(!text.includes(secret), `${path}: ${text}`)
      assert.equal(text.includes('"hidden"'), !path.endsWith('history'), path)
    }
    const renamed = await writer('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name: 'Renamed' })
    assert.deepEqual([renamed.status, renamed.body.data.condition.conditions[0].value], [200, 'hidden'])
    assert.deepEqual((await privileged('GET', `${CRITERIA}/${id}`)).body.data.condition, later)
    const audited = await privileged('GET', `/collections/beta/${id}/audit`)
    assert.ok(JSON.stringify(audited.body).includes('01019012345'))
  })

  it('go on working in a stored condition, which any writer can keep but not change', async () => {
    const { send, create, privileged, id, evaluate, members } = await tenantWithPerson()
    const condition = all(leaf('identityNin', 'Equals', '01019012345'), leaf('identityDisplayName', 'Equals', 'Ada'))
    const collectionId = await create(condition)
    const path = `${CRITERIA}/${collectionId}`
    await evaluate()
    assert.deepEqual(await members(collectionId), [id])
    const { body: stored } = await send('GET', path)
    const hidden = all(
      { ...leaf('identityNin', 'Equals', '01019012345'), value: 'hidden' },
      condition.conditions[1] as object,
    )
    assert.deepEqual(stored.data.condition, hidden)
    const put = (body: object, by = send) => by('PUT', path, { objectType: 'Identity', ...body })
    assert.equal((await put({ name: 'Renamed' })).status, 200)
    assert.equal((await put({ ...stored.data, name: 'Renamed again' })).status, 200)
    const reordered = { conditions: hidden.conditions, groupOperator: 'and' }
    assert.equal((await put({ condition: reordered })).status, 200)
    assert.equal(
      (
        await send('POST', `${CRITERIA}/preview`, {
          currentId: collectionId,
          preview: { objectType: 'Identity', condition: hidden },
        })
      ).status,
      200,
    )
    for (const changed of [
      condition,
      all(...hidden.conditions.toReversed()),
      all(...hidden.conditions, leaf('identityDisplayName', 'IsNull', undefined)),
      { ...hidden, groupOperator: 'OR' },
      all(...condition.conditions.toReversed()),
      all(condition.conditions[0] as object),
      byNin('01019012346'),
      { ...condition, groupOperator: 'OR' },
      all(leaf('identityNin', 'Equals', '0', 'Substring(identityNin,0,1)'), condition.conditions[1] as object),
    ]) {
      const refused = await put({ condition: changed })
      assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 'FieldNotInSchema'])
      const preview = { currentId: collectionId, preview: { objectType: 'Identity', condition: changed } }
      assert.equal((await send('POST', `${CRITERIA}/preview`, preview)).status, 400)
    }
    await evaluate()
    assert.deepEqual(await members(collectionId), [id])
    const kept = await put({ condition: hidden }, privileged)
    assert.deepEqual([kept.status, kept.body.data.condition], [200, condition])
    await evaluate()
    assert.deepEqual(await members(collectionId), [id])
    assert.equal((await put({ condition: byNin('9') }, privileged)).status, 200)
    await evaluate()
    assert.deepEqual(await members(collectionId), [])
  })

  it('go on working in a stored condition that compares another attribute with them', async () => {
    const { send, create, id, evaluate, members } = await tenantWithPerson()
    const condition = all(leaf('identityDisplayName', 'NotEquals', { attribute: 'identityNin' }))
    const collectionId = await create(condition)
    const put = (body: object) => send('PUT', `${CRITERIA}/${collectionId}`, { objectType: 'Identity', ...body })
    const kept = await put({ name: 'Renamed', condition })
    assert.deepEqual([kept.status, kept.body.data?.condition], [200, condition])
    assert.equal((await put({ condition: all(...condition.conditions, ...condition.conditions) })).status, 400)
    await evaluate()
    assert.deepEqual(await members(collectionId), [id])
  })

  it('have no value hidden, except where it stands for a stored one', async () => {
    const { tenantId, create, privileged, id, evaluate, members } = await tenantWithPerson()
    const collectionId = await create(byNin('01019012345'))
    const path = `${CRITERIA}/${collectionId}`
    const refusedAt = (pointer: string) => [400, [{ code: 'InvalidValue', target: pointer }]]
    const outcome = async (method: string, to: string, body: object) => {
      const { status, body: answer } = await privileged(method, to, body)
      return [status, answer.errors.map(({ code, target }: { code: string; target: string }) => ({ code, target }))]
    }
    const created = { objectType: 'Identity', name: 'Another', condition: byNin('hidden') }
    assert.deepEqual(await outcome('POST', CRITERIA, created), refusedAt('/condition/conditions/0/value'))
    for (const condition of [
      all(leaf('identityNin', 'In', 'hidden')),
      all(leaf('identityNin', 'Equals', ' hidden')),
      all(leaf('identityNin', 'NotEquals', 'hidden')),
      all(leaf('identityNin', 'Equals', 'hidden', 'ToUpper(identityNin)')),
    ]) {
      const changed = { objectType: 'Identity', condition }
      assert.deepEqual(await outcome('PUT', path, changed), refusedAt('/condition/conditions/0/value'))
      assert.deepEqual(await outcome('POST', `${path}/plan`, changed), refusedAt('/condition/conditions/0/value'))
    }
    await evaluate()
    assert.deepEqual(await members(collectionId), [id])
    const [isNull, email] = [leaf('identityNin', 'IsNull', 'hidden'), leaf('identityEmail', 'Equals', 'hidden')]
    assert.equal((await privileged('PUT', path, { objectType: 'Identity', condition: all(isNull, email) })).status, 200)
    // As stored before it was refused.
    const stored = service.database('collections').item(collectionId, tenantId)
    const { resource } = await stored.read()
    await stored.replace({ ...resource, definition: JSON.stringify(byNin('hidden')) })
    const read = await privileged('GET', path)
    assert.deepEqual([read.status, read.body.data.condition], [200, byNin('hidden')])
    for (const condition of [byNin('hidden'), byNin('01019012345')]) {
      const { status, body } = await privileged('PUT', path, { objectType: 'Identity', condition })
      assert.deepEqual([status, body.data.condition], [200, condition])
    }
  })
})
