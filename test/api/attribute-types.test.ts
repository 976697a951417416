import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { collectionRoutes } from '../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../functions/routes/collections-criteria.ts'
import { connectorRoutes } from '../../functions/routes/connectors.ts'
import { coreObjectRoutes } from '../../functions/routes/core-objects.ts'
import type { AttributeTypes } from '../../shared/domain/connectors/attribute-types.ts'
import { builtService } from '../support/api/built-service.ts'
import {
  application,
  CONNECTORS,
  CORE,
  sendTo,
  type TestAnswer,
  upsert,
  user,
} from '../support/api/core-data-service.ts'
import { all, COLLECTIONS, CRITERIA, faults, leaf } from '../support/api/criteria-service.ts'
import { localAccount } from '../support/contract/local-database.ts'

const { container } = await localAccount()
const clock = { elapsedMs: 1_000 }
type Sent = { readonly tenantId: string; readonly delayMs: number | undefined }

/** One instance of the service, with its own caches. */
function instance() {
  const sent: Sent[] = []
  const service = builtService(container, {
    elapsedMs: () => clock.elapsedMs,
    reconciler: { reconcile: async () => false },
    messageQueue: {
      enqueue: async ({ queue, message }, { delayMs }) => {
        if (queue === 'evaluations') sent.push({ tenantId: message.tenantId, delayMs })
      },
    },
  })
  const { connectors, requests, coreObjects, dispatch, evaluator } = service
  const groups = [
    connectorRoutes(connectors),
    criteriaRoutes(requests),
    collectionRoutes(requests),
    coreObjectRoutes(coreObjects),
  ]
  return { sent, evaluator, as: (caller: Parameters<typeof sendTo>[1]) => sendTo(groups, caller, dispatch) }
}
const here = instance()

const GRADE = { objectType: 'identity', name: 'grade', type: 'Integer' } as const
const COURSES = { objectType: 'identity', name: 'courses', type: 'StringList' } as const
const [GRADE_NAME, COURSES_NAME] = ['identityCustom/grade', 'identityCustom/courses']

async function newTenant(from = here) {
  const tenantId = randomUUID()
  const caller = user(tenantId, randomUUID(), 'Administrator', 'collection_criteria_definition-administrator')
  const admin = from.as(caller)
  const addConnector = async (name: string, attributeTypes?: AttributeTypes) => {
    const clientId = randomUUID()
    const { body } = await admin('POST', CONNECTORS, { name, clientId, ...(attributeTypes && { attributeTypes }) })
    const send = from.as(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
    const path = `${CONNECTORS}/${body.data}`
    const deliver = async (...people: [externalId: string, data: object][]) => {
      const items = people.map(([externalId, data]) => upsert('identity', externalId, data))
      const { body: answer } = await send('POST', `${path}/data/batch`, { items })
      return answer.data.map(({ status, errors }: { status: number; errors?: { code: string; target: string }[] }) =>
        errors === undefined ? status : `${errors[0]?.code} ${errors[0]?.target}`,
      )
    }
    const setTypes = (...types: AttributeTypes) => admin('PUT', path, { attributeTypes: types })
    return { path, send, deliver, setTypes }
  }
  const create = async (condition: object, name = 'A collection'): Promise<string> => {
    const answer = await admin('POST', CRITERIA, { objectType: 'Identity', name, condition })
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.data
  }
  const externalIds = async (): Promise<Map<string, string>> => {
    const { body } = await admin('GET', `${CORE}/identities`)
    return new Map(body.data.map(({ id, externalId }: { id: string; externalId: string }) => [id, externalId]))
  }
  /** The external ids of the members, as evaluated last. */
  const members = async (collectionId: string): Promise<(string | undefined)[]> => {
    const names = await externalIds()
    const { body } = await admin('GET', `${COLLECTIONS}/${collectionId}/results`)
    return body.data.memberIds.map((id: string) => names.get(id)).sort()
  }
  const evaluated = async (collectionId: string) => {
    await from.evaluator.evaluate(tenantId)
    return members(collectionId)
  }
  const previewed = async (condition: object): Promise<(string | undefined)[]> => {
    const names = await externalIds()
    const { body } = await admin('POST', `${CRITERIA}/preview`, { preview: { objectType: 'Identity', condition } })
    return body.data.preview.map(({ objectId }: { objectId: string }) => names.get(objectId)).sort()
  }
  return { tenantId, caller, admin, addConnector, create, members, evaluated, previewed, externalIds }
}

/** Stores a condition as an instance does that has checked it by other types. */
async function storeUnchecked(tenantId: string, id: string, ...leaves: object[]): Promise<void> {
  const item = container('collections').item(id, tenantId)
  const { resource } = await item.read()
  const { definitionVersion } = resource
  const definition = JSON.stringify(all(...leaves))
  await item.replace({ ...resource, definition, definitionVersion: definitionVersion + 1 })
}

const typesOf = ({ body }: TestAnswer): object => {
  const { identitySchema } = body.data
  return Object.fromEntries(Object.entries(identitySchema).filter(([name]) => name.includes('Custom/')))
}

describe('Types of custom attributes', () => {
  it('decide how conditions compare: numbers as numbers, lists by their texts, in the schema and in explanations', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR', [GRADE, COURSES])
    assert.deepEqual(
      await hr.deliver(
        ['nine', { 'custom/grade': 9, 'custom/courses': ['First aid', 'Fire safety'] }],
        ['ten', { 'custom/grade': '10', 'custom/courses': ['first aid'] }],
        ['none', { 'custom/other': '11' }],
      ),
      [201, 201, 201],
    )
    assert.deepEqual(typesOf(await tenant.admin('GET', `${CRITERIA}/tenant-schemas`)), {
      [GRADE_NAME]: 'Integer',
      [COURSES_NAME]: 'StringList',
      'identityCustom/other': 'String',
    })
    for (const [operator, id, value, expected] of [
      ['GreaterThan', GRADE_NAME, 9, ['ten']],
      ['LessThan', GRADE_NAME, '10', ['nine']],
      ['In', GRADE_NAME, ['+10', 7], ['ten']],
      ['NotEquals', GRADE_NAME, 9, ['none', 'ten']],
      ['IsNull', GRADE_NAME, undefined, ['none']],
      ['Contains', COURSES_NAME, 'First aid', ['nine']],
      ['NotContains', COURSES_NAME, 'First aid', ['none', 'ten']],
      ['ContainsAny', COURSES_NAME, ['first aid', 'Fire safety'], ['nine', 'ten']],
    ] as const) {
      const condition = all(leaf(id, operator, value))
      assert.deepEqual(await tenant.previewed(condition), expected, operator)
      assert.deepEqual(await tenant.evaluated(await tenant.create(condition)), expected, operator)
    }
    const id = await tenant.create(all(leaf(GRADE_NAME, 'GreaterThan', 9), leaf(COURSES_NAME, 'Contains', 'a')))
    const [ten] = [...(await tenant.externalIds())].flatMap(([each, name]) => (name === 'ten' ? [each] : []))
    const { body } = await tenant.admin('GET', `${COLLECTIONS}/${id}/explain?objectId=${ten}`)
    const explained = body.data.rows[0].condition.conditions as { actual: unknown; holds: boolean }[]
    assert.deepEqual(
      explained.map(({ actual, holds }) => [actual, holds]),
      [
        [10, true],
        [['first aid'], false],
      ],
    )
  })

  it('refuse operators and values that the type does not have, with the leaf as target', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR', [GRADE, COURSES])
    await hr.deliver(['a', { 'custom/grade': 9, 'custom/courses': ['x'] }])
    const answer = await tenant.admin('POST', CRITERIA, {
      objectType: 'Identity',
      name: 'A',
      condition: all(
        leaf(GRADE_NAME, 'StartsWith', '1'),
        leaf(GRADE_NAME, 'Equals', 'high'),
        leaf(COURSES_NAME, 'Equals', 'x'),
        leaf(COURSES_NAME, 'ContainsAny', 'x'),
        leaf('identityDisplayName', 'ContainsAny', ['x']),
        leaf(COURSES_NAME, 'Contains', 'x', `ToUpper(${COURSES_NAME})`),
      ),
    })
    assert.deepEqual(faults(answer), [
      400,
      'OperatorNotAllowed /condition/conditions/0/operator',
      'InvalidValue /condition/conditions/1/value',
      'OperatorNotAllowed /condition/conditions/2/operator',
      'ListRequired /condition/conditions/3/value',
      'OperatorNotAllowed /condition/conditions/4/operator',
      'FunctionNotAllowed /condition/conditions/5/field',
    ])
  })

  it('are the form in which values are read back, and a value that does not read as its type fails its item alone', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR', [GRADE, COURSES])
    const data = { 'custom/courses': ['x', 'y'], 'custom/grade': 7 }
    assert.deepEqual(
      await hr.deliver(
        ['a', { ...data, 'custom/grade': '007' }],
        ['b', { 'custom/grade': 'high' }],
        ['c', { 'custom/courses': ['x', 7] }],
      ),
      [201, 'InvalidValue /items/1/data/custom~1grade', 'InvalidType /items/2/data/custom~1courses/1'],
    )
    assert.deepEqual(await hr.deliver(['a', data]), [200])
    const stored = await hr.send('GET', `${hr.path}/data/identity/a`)
    assert.deepEqual(stored.body.data.data, data)
    const { body: space } = await hr.send('GET', `${hr.path}/data`)
    assert.deepEqual(space.data[0].data, data)
    const { body } = await tenant.admin('GET', `${CORE}/identities`)
    assert.deepEqual([body.data[0]['custom/grade'], body.data[0]['custom/courses']], [7, ['x', 'y']])
    const sources = await tenant.admin('GET', `${CORE}/identities/${body.data[0].id}/sources`)
    assert.deepEqual(sources.body.data[0].attributes, data)
    // The record as read, sent back, changes nothing.
    const put = await hr.send('PUT', `${hr.path}/data/${stored.body.data.id}`, { data: stored.body.data.data })
    assert.deepEqual([put.status, put.headers.etag], [200, stored.headers.etag])
  })

  it('belong to the tenant: other connectors follow them, and one that disagrees is refused', async () => {
    const tenant = await newTenant()
    await tenant.addConnector('HR', [GRADE])
    const payroll = await tenant.addConnector('Payroll')
    assert.deepEqual(await payroll.deliver(['a', { 'custom/grade': 'high' }]), [
      'InvalidValue /items/0/data/custom~1grade',
    ])
    assert.deepEqual((await payroll.send('GET', `${payroll.path}/attribute-types`)).body.data, [GRADE])
    assert.equal((await payroll.setTypes(GRADE)).status, 200)
    const conflict = await payroll.setTypes(COURSES, { ...GRADE, type: 'Boolean' })
    assert.deepEqual(faults(conflict), [409, 'AttributeTypeConflict /attributeTypes/1'])
    const clientId = randomUUID()
    const attributeTypes = [{ ...GRADE, type: 'String' }]
    const added = await tenant.admin('POST', CONNECTORS, { name: 'C', clientId, attributeTypes })
    assert.deepEqual(faults(added), [409, 'AttributeTypeConflict /attributeTypes/0'])
    assert.deepEqual(faults(await payroll.setTypes(GRADE, COURSES, GRADE)), [400, 'InvalidValue /attributeTypes/2'])
    // Of another type of objects, it is another attribute.
    assert.equal((await payroll.setTypes({ ...GRADE, objectType: 'relationship', type: 'Boolean' })).status, 200)
  })
})

describe('A change of a type', () => {
  const nines = all(leaf(GRADE_NAME, 'GreaterThanOrEqual', '9'))

  it('reads the values that exist: nobody is a member in another way before, and everybody is afterwards', async () => {
    const [other, tenant] = [instance(), await newTenant()]
    const hr = await tenant.addConnector('HR')
    await hr.deliver(
      ['nine', { 'custom/grade': '9' }],
      ['ten', { 'custom/grade': '10' }],
      ['b', { 'custom/grade': '8' }],
    )
    const id = await tenant.create(nines)
    assert.deepEqual(await tenant.evaluated(id), ['nine'])
    await other.evaluator.evaluate(tenant.tenantId)
    here.sent.length = 0
    assert.equal((await hr.setTypes(GRADE)).status, 200)
    // At once, and when every instance reads by the new type; the latter is enqueued before the change is written.
    assert.deepEqual(here.sent, [
      { tenantId: tenant.tenantId, delayMs: 30_000 },
      { tenantId: tenant.tenantId, delayMs: 0 },
    ])
    await other.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(id), ['nine'])
    assert.deepEqual(await tenant.evaluated(id), ['nine', 'ten'])
    // An instance that still has the former types reads them again after an evaluation by the new ones.
    await other.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(id), ['nine', 'ten'])
    clock.elapsedMs += 30_000
    await other.evaluator.evaluate(tenant.tenantId)
    assert.deepEqual(await tenant.members(id), ['nine', 'ten'])
    // The removal of the type is a change as well.
    assert.equal((await hr.setTypes()).status, 200)
    assert.deepEqual(await tenant.evaluated(id), ['nine'])
  })

  it('is refused when values do not fit, with their number and three examples', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR')
    const words = ['9', 'high', 'high', 'low', 'low', 'mid', 'mid']
    await hr.deliver(...words.map((grade, index): [string, object] => [`p${index}`, { 'custom/grade': grade }]))
    const answer = await hr.setTypes(GRADE)
    assert.deepEqual(faults(answer), [409, 'AttributeValuesDoNotFit /attributeTypes'])
    const [start, examples] = answer.body.errors[0].message.split(', such as ')
    assert.equal(start, `6 values of ${GRADE_NAME} do not read as Integer`)
    assert.deepEqual(examples.split(', ').sort(), ['"high"', '"low"', '"mid"'])
    assert.deepEqual((await tenant.admin('GET', hr.path)).body.data.attributeTypes, [])
    assert.deepEqual(await hr.deliver(['p9', { 'custom/grade': 'other' }]), [201])
  })

  it('is refused when a condition does not fit, with the names of the collections', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR')
    await hr.deliver(['nine', { 'custom/grade': '9' }])
    const fitting = await tenant.create(nines, 'Fits')
    const id = await tenant.create(all(leaf(GRADE_NAME, 'StartsWith', '9')), 'Starts with 9')
    const answer = await hr.setTypes(GRADE)
    assert.deepEqual(faults(answer), [409, 'ConditionsDoNotFit /attributeTypes'])
    assert.match(answer.body.errors[0].message, new RegExp(`: Starts with 9 \\(${id}\\)$`))
    assert.ok(!answer.body.errors[0].message.includes(fitting))
    assert.equal((await tenant.admin('DELETE', `${CRITERIA}/${id}`)).status, 200)
    assert.equal((await hr.setTypes(GRADE)).status, 200)
  })

  it('is refused when a condition would be read in another way: a day or a number would be compared as a text', async () => {
    const tenant = await newTenant()
    const until = { objectType: 'identity', name: 'lockedUntil', type: 'DateTime' } as const
    const hr = await tenant.addConnector('HR', [until, GRADE])
    const payroll = await tenant.addConnector('Payroll')
    await payroll.deliver(
      ['free', { 'custom/lockedUntil': '2020-01-01', 'custom/grade': 10 }],
      ['locked', { 'custom/lockedUntil': '2099-01-01', 'custom/grade': 3 }],
    )
    const free = await tenant.create(all(leaf('identityCustom/lockedUntil', 'LessThan', 'Today()')), 'Free')
    const high = await tenant.create(all(leaf(GRADE_NAME, 'GreaterThan', 9)), 'High')
    await tenant.create(nines, 'Compared with a text')
    for (const answer of [await hr.setTypes(), await tenant.admin('DELETE', hr.path)]) {
      assert.deepEqual(faults(answer), [409, 'ConditionsDoNotFit /attributeTypes'])
      const [, named] = answer.body.errors[0].message.split(': ')
      assert.deepEqual(named.split(', ').sort(), [`Free (${free})`, `High (${high})`])
    }
    assert.deepEqual([await tenant.evaluated(free), await tenant.evaluated(high)], [['free'], ['free']])
  })

  it('is known at once to every instance that saves a condition', async () => {
    const [other, tenant] = [instance(), await newTenant()]
    const elsewhere = other.as(tenant.caller)
    const hr = await tenant.addConnector('HR')
    await hr.deliver(['nine', { 'custom/grade': '9' }])
    const body = { objectType: 'Identity', name: 'Nines', condition: nines }
    const { body: created } = await elsewhere('POST', CRITERIA, body)
    assert.equal((await hr.setTypes(GRADE)).status, 200)
    clock.elapsedMs += 5_000
    const condition = all(leaf(GRADE_NAME, 'StartsWith', '9'))
    const refused = [400, 'OperatorNotAllowed /condition/conditions/0/operator']
    assert.deepEqual(faults(await elsewhere('PUT', `${CRITERIA}/${created.data}`, { ...body, condition })), refused)
    clock.elapsedMs += 30_000
    await elsewhere('GET', `${CRITERIA}/tenant-schemas`)
    assert.equal((await hr.setTypes({ ...GRADE, type: 'String' })).status, 200)
    assert.equal((await elsewhere('POST', CRITERIA, { ...body, condition })).status, 201)
  })

  it('can be previewed for a collection whose condition does not fit, and is told where others refer to it', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR')
    await hr.deliver(['nine', { 'custom/grade': '9' }], ['ten', { 'custom/grade': '10' }])
    const evaluated = await tenant.create(nines, 'Evaluated')
    assert.deepEqual(await tenant.evaluated(evaluated), ['nine'])
    const added = await tenant.create(nines, 'New')
    assert.equal((await hr.setTypes(GRADE)).status, 200)
    for (const id of [evaluated, added]) await storeUnchecked(tenant.tenantId, id, leaf(GRADE_NAME, 'StartsWith', '9'))
    const preview = { objectType: 'Identity', condition: nines }
    for (const [currentId, addedCount] of [
      [evaluated, 1],
      [added, 2],
    ] as const) {
      const { status, body } = await tenant.admin('POST', `${CRITERIA}/preview`, { currentId, preview })
      assert.deepEqual([status, body.data?.counts], [200, { preview: 2, added: addedCount, removed: 0 }])
    }
    const referring = { objectType: 'Identity', condition: all(leaf('memberOfCollection', 'Equals', added)) }
    const refused = await tenant.admin('POST', `${CRITERIA}/preview`, { preview: referring })
    assert.deepEqual(faults(refused), [400, 'InvalidValue /preview/condition'])
    assert.match(refused.body.errors[0].message, new RegExp(`collection ${added} is invalid`))
  })

  it('turns a text into a list of one, and back', async () => {
    const tenant = await newTenant()
    const hr = await tenant.addConnector('HR')
    await hr.deliver(['a', { 'custom/courses': 'x' }])
    assert.equal((await hr.setTypes(COURSES)).status, 200)
    await hr.deliver(['b', { 'custom/courses': ['x', 'y'] }])
    const condition = all(leaf(COURSES_NAME, 'ContainsAny', ['x']))
    const id = await tenant.create(condition)
    assert.deepEqual(await tenant.evaluated(id), ['a', 'b'])
    const refused = await hr.setTypes()
    assert.deepEqual(
      refused.body.errors.map(({ message }: { message: string }) => message.slice(0, 60)),
      [
        `1 values of ${COURSES_NAME} do not read as String, such as ["x","y"]`.slice(0, 60),
        'The conditions of these collections do not fit the new types',
      ],
    )
    await tenant.admin('DELETE', `${CRITERIA}/${id}`)
    await hr.deliver(['b', { 'custom/courses': ['x'] }])
    assert.equal((await hr.setTypes()).status, 200)
    const { body } = await tenant.admin('GET', `${CORE}/identities`)
    assert.deepEqual(
      body.data.map((each: Record<string, unknown>) => each['custom/courses']),
      ['x', 'x'],
    )
  })

  it('is the deletion of the only connector that states it, too', async () => {
    const tenant = await newTenant()
    const [hr, payroll] = [await tenant.addConnector('HR', [COURSES]), await tenant.addConnector('Payroll')]
    await payroll.deliver(['a', { 'custom/courses': ['x', 'y'] }])
    const refused = await tenant.admin('DELETE', hr.path)
    assert.deepEqual(faults(refused), [409, 'AttributeValuesDoNotFit /attributeTypes'])
    assert.equal((await payroll.setTypes(COURSES)).status, 200)
    assert.equal((await tenant.admin('DELETE', hr.path)).status, 200)
    assert.deepEqual((await payroll.send('GET', `${payroll.path}/attribute-types`)).body.data, [COURSES])
  })
})
