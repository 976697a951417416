import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseObjectData } from '../../../shared/domain/connectors/object-data.ts'
import { asTyped, type CustomType, type CustomTypes } from '../../../shared/domain/core/custom-types.ts'

const GUID = '0A0A0A0A-0000-4000-8000-00000000000A'

const typesOf = (types: Record<string, CustomType>): CustomTypes =>
  new Map(Object.entries(types).map(([name, type]) => [`identityCustom/${name}`, type]))
const TYPES = typesOf({
  grade: 'Integer',
  level: 'Integer',
  onLeave: 'Boolean',
  isTemporary: 'Boolean',
  since: 'DateTime',
  courses: 'StringList',
  'one course': 'StringList',
  none: 'StringList',
  blank: 'StringList',
})

describe('data of a connector object', () => {
  it('is converted to its stored form', () => {
    const read = parseObjectData(
      'identity',
      {
        displayName: 'Ada',
        email: '',
        mobile: null,
        nin: '  ',
        directoryUserPrincipalName: '\u00a0',
        directoryObjectId: GUID,
        assignedLicenses: [GUID, GUID.toLowerCase()],
        directMemberOfDirectoryGroups: [],
        directoryOnPremisesSyncEnabled: false,
        primaryRelationship: { externalId: 'r1', note: 'dropped' },
        'custom/shoe size': '38',
      },
      '/data',
    )
    assert.deepEqual(read, {
      data: {
        displayName: 'Ada',
        directoryObjectId: GUID.toLowerCase(),
        assignedLicenses: [GUID.toLowerCase()],
        directoryOnPremisesSyncEnabled: false,
        primaryRelationship: { externalId: 'r1' },
        'custom/shoe size': '38',
      },
      faults: [],
    })
  })

  for (const [objectType, data, code, target] of [
    ['identity', { displayname: 'Ada' }, 'UnknownAttribute', '/data/displayname'],
    ['orgUnit', { parent: { externalID: 'o1' } }, 'UnknownMember', '/data/parent/externalID'],
    ['identity', { shoeSize: '38' }, 'UnknownAttribute', '/data/shoeSize'],
    ['identity', { title: 'of relationships' }, 'UnknownAttribute', '/data/title'],
    ['identity', { id: GUID }, 'UnknownAttribute', '/data/id'],
    ['identity', JSON.parse('{"__proto__":"x"}'), 'UnknownAttribute', '/data/__proto__'],
    ['identity', { constructor: 'x' }, 'UnknownAttribute', '/data/constructor'],
    ['identity', { 'custom/': 'x' }, 'UnknownAttribute', '/data/custom~1'],
    ['identity', { 'custom/__proto__': 'x' }, 'UnknownAttribute', '/data/custom~1__proto__'],
    ['identity', { 'custom/a/b': 'x' }, 'UnknownAttribute', '/data/custom~1a~1b'],
    ['identity', { 'custom/a': 1 }, 'InvalidType', '/data/custom~1a'],
    ['identity', { 'custom/a': 'x'.repeat(2001) }, 'InvalidLength', '/data/custom~1a'],
    ['identity', { displayName: 'x'.repeat(2001) }, 'InvalidLength', '/data/displayName'],
    ['identity', { displayName: 'a\ud800' }, 'InvalidValue', '/data/displayName'],
    ['identity', { nin: '02029012345\t' }, 'InvalidValue', '/data/nin'],
    ['identity', { nin: '\n02029012345' }, 'InvalidValue', '/data/nin'],
    ['identity', { displayName: 7 }, 'InvalidType', '/data/displayName'],
    ['identity', { directoryOnPremisesSyncEnabled: 'true' }, 'InvalidType', '/data/directoryOnPremisesSyncEnabled'],
    ['identity', { directoryObjectId: 'x' }, 'InvalidId', '/data/directoryObjectId'],
    ['identity', { assignedLicenses: GUID }, 'InvalidType', '/data/assignedLicenses'],
    ['identity', { assignedLicenses: [GUID, 'x'] }, 'InvalidId', '/data/assignedLicenses/1'],
    ['relationship', { startDate: '2023-02-29' }, 'InvalidValue', '/data/startDate'],
    ['relationship', { startDate: '2024-01-01T25:00:00Z' }, 'InvalidValue', '/data/startDate'],
    ['relationship', { startDate: 'yesterday' }, 'InvalidValue', '/data/startDate'],
    ['relationship', { identity: 'p1' }, 'InvalidType', '/data/identity'],
    ['relationship', { identity: { objectId: GUID } }, 'InvalidType', '/data/identity/externalId'],
    [
      'orgUnit',
      { deputies: [{ externalId: 'p1' }, { externalId: '' }] },
      'InvalidLength',
      '/data/deputies/1/externalId',
    ],
    ['orgUnit', [], 'InvalidType', '/data'],
    ['orgUnit', null, 'InvalidType', '/data'],
  ] as const) {
    it(`refuses ${target} of ${objectType} with ${code}: ${JSON.stringify(data)?.slice(0, 60)}`, () => {
      const { faults } = parseObjectData(objectType, data, '/data')
      assert.deepEqual(
        faults.map((fault) => [fault.code, fault.target]),
        [[code, target]],
      )
    })
  }

  for (const startDate of ['2024-02-29', '2024-01-01T10:00', '2024-01-01T10:00:00.123Z', '2024-01-01T10:00:00+02:00']) {
    it(`keeps the date ${startDate} unchanged`, () => {
      assert.deepEqual(parseObjectData('relationship', { startDate }, '/data').data, { startDate })
    })
  }

  it('has values of custom attributes in one form for each type, in which texts read as the type', () => {
    const given = {
      'custom/grade': 9,
      'custom/level': ' +010 ',
      'custom/onLeave': true,
      'custom/isTemporary': 'False',
      'custom/since': '2024-02-29',
      'custom/courses': ['b', ' a ', '', 'b'],
      'custom/one course': 'e\u0301',
      'custom/none': [],
      'custom/blank': ' ',
    }
    const { data, faults } = parseObjectData('identity', given, '/data', TYPES)
    const stored = {
      'custom/grade': '9',
      'custom/level': '10',
      'custom/onLeave': 'true',
      'custom/isTemporary': 'false',
      'custom/since': '2024-02-29',
      'custom/courses': ['b', 'a'],
      'custom/one course': ['\u00e9'],
    }
    assert.deepEqual({ data, faults }, { data: stored, faults: [] })
    assert.deepEqual(asTyped('identity', data, TYPES), {
      ...stored,
      'custom/grade': 9,
      'custom/level': 10,
      'custom/onLeave': true,
      'custom/isTemporary': false,
    })
  })

  for (const [name, value, code, target] of [
    ['grade', 'high', 'InvalidValue', ''],
    ['grade', 9.5, 'InvalidValue', ''],
    ['grade', '9007199254740993', 'InvalidValue', ''],
    ['grade', [9], 'InvalidType', ''],
    ['onLeave', 'yes', 'InvalidValue', ''],
    ['onLeave', 1, 'InvalidValue', ''],
    ['since', '2023-02-29', 'InvalidValue', ''],
    ['since', 20240229, 'InvalidValue', ''],
    ['courses', 7, 'InvalidType', ''],
    ['courses', { a: 'b' }, 'InvalidType', ''],
    ['courses', ['a', 7], 'InvalidType', '/1'],
    ['courses', ['a\n'], 'InvalidValue', '/0'],
    ['courses', ['a', 'x'.repeat(401)], 'InvalidLength', '/1'],
    ['courses', Array.from({ length: 101 }, String), 'InvalidLength', ''],
    ['untyped', 9, 'InvalidType', ''],
    ['untyped', ['a'], 'InvalidType', ''],
  ] as const) {
    it(`refuses ${JSON.stringify(value).slice(0, 40)} for custom/${name} with ${code}`, () => {
      const { faults } = parseObjectData('identity', { [`custom/${name}`]: value }, '/data', TYPES)
      assert.deepEqual(
        faults.map((fault) => [fault.code, fault.target]),
        [[code, `/data/custom~1${name}${target}`]],
      )
    })
  }

  it('reports at most 50 faults per object', () => {
    const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`unknown${index}`, 1]))
    const groups = { directMemberOfDirectoryGroups: Array.from({ length: 1000 }, () => 'no id') }
    for (const data of [unknown, groups]) assert.equal(parseObjectData('identity', data, '/data').faults.length, 50)
  })

  it('can have up to 100 custom attributes', () => {
    const custom = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`custom/a${index}`, 'x']))
    assert.deepEqual(parseObjectData('identity', custom(100), '/data').faults, [])
    assert.deepEqual(
      parseObjectData('identity', custom(101), '/data').faults.map(({ code }) => code),
      ['InvalidLength'],
    )
  })

  it('is parsed without an exception for any input, and its stored form is accepted unchanged', () => {
    fc.assert(
      fc.property(fc.constantFrom('identity', 'orgUnit', 'relationship'), fc.object(), (objectType, given) => {
        const { data } = parseObjectData(objectType, given, '/data')
        assert.deepEqual(parseObjectData(objectType, data, '/data'), { data, faults: [] })
      }),
    )
  })
})
