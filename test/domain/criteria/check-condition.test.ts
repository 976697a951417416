import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkCondition, checkConditionTask } from '../../../shared/domain/criteria/check-condition.ts'
import { OPERATORS } from '../../../shared/domain/criteria/condition.ts'
import { type ConditionFault, MAX_FAULT_COUNT } from '../../../shared/domain/criteria/condition-findings.ts'
import { takesList } from '../../../shared/domain/criteria/operators-of-types.ts'
import {
  type AttributeType,
  type ConditionSchema,
  conditionSchema,
  storedConditionSchema,
} from '../../../shared/domain/criteria/schema.ts'
import { processorClock } from '../../support/timing/processor-clock.ts'

const GUID = 'ABCDEF01-2345-4678-9abc-def012345678'
const SCHEMA: ConditionSchema = new Map<string, AttributeType>([
  ...conditionSchema({ identity: ['custom/a, (b)'], orgUnit: [], relationship: [] }),
  ['anInteger', 'Integer'],
  ['anExternalList', 'ExternalList'],
  ['anArray', 'Array'],
  ['aStringList', 'StringList'],
])

const leaf = (id: unknown, operator: unknown, value?: unknown, field: unknown = id) => ({ id, field, operator, value })
const groupOf = (conditions: unknown[]) => ({ groupOperator: 'AND', conditions })
const group = (...conditions: unknown[]) => groupOf(conditions)

function faultsOf(input: unknown): readonly ConditionFault[] {
  const check = checkCondition(input, SCHEMA)
  return check.ok ? [] : check.faults
}

function wireOf(input: unknown): unknown {
  const check = checkCondition(input, SCHEMA)
  assert.ok(check.ok, JSON.stringify(check))
  return check.condition.wire
}

const codesOf = (input: unknown): string[] => faultsOf(input).map(({ code, pointer }) => `${code} ${pointer}`)

// One row for each type (or name with rules of its own): a value that fits it, then a mark for each operator in the
// order of the heading.
const ALLOWED = `
                                     Equals NotEq Contains NotCont Any StartsW EndsW In GT GTE LT LTE IsNull
  identityDisplayName                  yes   yes    yes     yes    no    yes    yes  yes yes yes yes yes yes
  anInteger                            yes   yes    no      no     no    no     no   yes yes yes yes yes yes
  relationshipStartDate                yes   yes    no      no     no    no     no   yes yes yes yes yes yes
  identityDirectoryObjectId            yes   yes    no      no     no    no     no   yes no  no  no  no  yes
  identityDirectoryOnPremisesSyncEnabled yes yes    no      no     no    no     no   no  no  no  no  no  yes
  directMemberOfDirectoryGroups        no    no     yes     yes    no    no     no   no  no  no  no  no  yes
  anExternalList                       no    no     yes     yes    no    no     no   no  no  no  no  no  yes
  anArray                              no    no     yes     yes    no    no     no   no  no  no  no  no  yes
  aStringList                          no    no     yes     yes    yes   no     no   no  no  no  no  no  yes
  memberOfCollection                   yes   yes    no      no     no    no     no   yes no  no  no  no  no
`
const VALUES: Record<string, unknown> = {
  anInteger: 5,
  relationshipStartDate: '2024-02-29',
  identityDirectoryOnPremisesSyncEnabled: 'true',
}

describe('Operators', () => {
  for (const line of ALLOWED.trim().split('\n').slice(1)) {
    const [name = '', ...marks] = line.trim().split(/\s+/)
    OPERATORS.forEach((operator, index) => {
      const isAllowed = marks[index] === 'yes'
      it(`${operator} is ${isAllowed ? 'allowed' : 'refused'} on ${name}`, () => {
        const value = VALUES[name] ?? GUID
        const input = group(leaf(name, operator.toUpperCase(), takesList(operator) ? [value] : value))
        assert.deepEqual(codesOf(input), isAllowed ? [] : ['OperatorNotAllowed /conditions/0/operator'])
      })
    })
  }
})

describe('Values', () => {
  for (const [name, value, isValid] of [
    ['identityDisplayName', 'x', true],
    ['identityDisplayName', 5, true],
    ['identityDisplayName', false, true],
    ['identityDisplayName', '', true],
    ['identityDisplayName', null, false],
    ['identityDisplayName', ['x'], false],
    ['identityDisplayName', {}, false],
    ['anInteger', '12', true],
    ['anInteger', -3, true],
    ['anInteger', 1.5, false],
    ['anInteger', '1e3', false],
    ['anInteger', '', false],
    ['anInteger', true, false],
    ['anInteger', '9007199254740993', false],
    ['identityDirectoryOnPremisesSyncEnabled', true, true],
    ['identityDirectoryOnPremisesSyncEnabled', 'False', true],
    ['identityDirectoryOnPremisesSyncEnabled', 'yes', false],
    ['identityDirectoryOnPremisesSyncEnabled', 1, false],
    ['identityDirectoryOnPremisesSyncEnabled', '', false],
    ['relationshipStartDate', '2024-02-29', true],
    ['relationshipStartDate', '2024-02-29T10:00', true],
    ['relationshipStartDate', '2024-02-29T10:00:00.1234567+02:00', true],
    ['relationshipStartDate', '2023-02-29', false],
    ['relationshipStartDate', '2023-13-01', false],
    ['relationshipStartDate', '2023-01-01T24:00:00Z', false],
    ['relationshipStartDate', '01.02.2024', false],
    ['relationshipStartDate', 'tomorrow', false],
    ['relationshipStartDate', 20240229, false],
    ['relationshipStartDate', 'Today()', true],
    ['relationshipStartDate', 'AddDays(Today(),-30)', true],
    ['relationshipStartDate', 'AddDays(Today(),1.5)', false],
    ['relationshipStartDate', 'AddDays(AddDays(Today(),1),1)', false],
    ['relationshipStartDate', 'AddDays(2024-01-01,1)', false],
    ['relationshipStartDate', 'ToUpper(Today())', false],
    ['identityNin', 17, true],
    ['identityNin', 1.5, true],
    ['identityNin', 98_765_432_109_876_544, false],
    ['identityId', GUID, true],
    ['identityId', GUID.slice(1), false],
    ['identityId', `{${GUID}}`, false],
    ['memberOfCollection', 'my collection', false],
  ] as const) {
    it(`${JSON.stringify(value)} ${isValid ? 'is' : 'is not'} a value for ${name}`, () => {
      const expected = isValid ? [] : ['InvalidValue /conditions/0/value']
      assert.deepEqual(codesOf(group(leaf(name, 'Equals', value))), expected)
    })
  }

  it('a number too large for a double is no value: JSON would give it back as null', () => {
    const value: unknown = JSON.parse('1e999')
    assert.deepEqual(codesOf(group(leaf('identityNin', 'Equals', value))), ['InvalidValue /conditions/0/value'])
  })

  it('names the value and the type in the message', () => {
    const [fault] = faultsOf(group(leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', 'yes')))
    assert.equal(fault?.message, 'Value yes is not a valid Boolean')
    for (const [value, message] of [
      [[1], 'Value [...] is not a valid String'],
      [{ a: 1 }, 'Value {...} is not a valid String'],
      [null, 'Value null is not a valid String'],
    ])
      assert.equal(faultsOf(group(leaf('identityEmail', 'Equals', value)))[0]?.message, message)
  })

  it('asks for the element type of lists of GUIDs', () => {
    assert.deepEqual(codesOf(group(leaf('orgUnitDeputies', 'Contains', 'Kari'))), ['InvalidValue /conditions/0/value'])
    assert.deepEqual(codesOf(group(leaf('anArray', 'Contains', 'Kari'))), [])
  })

  it('wants a list for In, and points at the entry that is wrong', () => {
    assert.deepEqual(codesOf(group(leaf('identityId', 'In', GUID))), ['ListRequired /conditions/0/value'])
    assert.deepEqual(codesOf(group(leaf('identityId', 'In', [GUID, 7, 'x']))), [
      'InvalidValue /conditions/0/value/1',
      'InvalidValue /conditions/0/value/2',
    ])
    assert.deepEqual(codesOf(group(leaf('identityId', 'In', []))), [])
  })

  for (const [name, operator, value] of [
    ['identityDisplayName', 'Equals', 'Today()'],
    ['identityDisplayName', 'Contains', ' addDays( Today() , -30 ) '],
    ['identityDisplayName', 'Equals', 'AddDays(x)'],
    ['identityId', 'Equals', 'Today()'],
    ['anInteger', 'GreaterThan', 'AddDays(Today(),1)'],
    ['anArray', 'Contains', 'TODAY ()'],
    ['identityDisplayName', 'GreaterThan', 9],
    ['identityDisplayName', 'GreaterThanOrEqual', 9],
    ['identityDisplayName', 'LessThan', true],
    ['identityDisplayName', 'LessThanOrEqual', 0],
  ] as const) {
    it(`${JSON.stringify(value)} is of another type than ${name} under ${operator}, but stays valid where it is stored`, () => {
      const input = group(leaf(name, operator, value))
      assert.deepEqual(codesOf(input), ['ValueTypeMismatch /conditions/0/value'])
      const stored = checkCondition(input, SCHEMA, 'stored')
      assert.equal(stored.ok, name === 'identityDisplayName' || name === 'anArray')
    })
  }

  for (const [name, operator, value, expected] of [
    ['identityId', 'Equals', { attribute: 'relationshipManager' }, []],
    ['orgUnitDeputies', 'Contains', { attribute: 'identityId' }, []],
    ['anInteger', 'LessThan', { attribute: 'anInteger' }, []],
    ['identityEmail', 'Equals', { attribute: 'identityId' }, ['ValueTypeMismatch /conditions/0/value/attribute']],
    [
      'orgUnitDeputies',
      'Contains',
      { attribute: 'orgUnitDeputies' },
      ['ValueTypeMismatch /conditions/0/value/attribute'],
    ],
    ['identityEmail', 'Equals', { attribute: 'nothing' }, ['FieldNotInSchema /conditions/0/value/attribute']],
    [
      'identityEmail',
      'Equals',
      { attribute: 'ToLower(identityEmail)' },
      ['FieldNotInSchema /conditions/0/value/attribute'],
    ],
    ['identityEmail', 'Equals', { atribute: 'identityId' }, ['UnknownMember /conditions/0/value/atribute']],
    ['identityEmail', 'Equals', {}, ['InvalidValue /conditions/0/value']],
    ['memberOfCollection', 'Equals', { attribute: 'identityId' }, ['InvalidValue /conditions/0/value']],
    ['identityId', 'Equals', { attribute: 'memberOfCollection' }, ['InvalidValue /conditions/0/value']],
    ['identityId', 'In', [{ attribute: 'relationshipManager' }], ['InvalidValue /conditions/0/value/0']],
    ['identityId', 'In', { attribute: 'relationshipManager' }, ['ListRequired /conditions/0/value']],
  ] as const) {
    it(`${JSON.stringify(value)} ${expected.length === 0 ? 'is' : 'is not'} a value of ${name} under ${operator}`, () => {
      assert.deepEqual(codesOf(group(leaf(name, operator, value))), expected)
    })
  }

  it('takes days as entries of In for dates only', () => {
    assert.deepEqual(codesOf(group(leaf('relationshipEndDate', 'In', ['Today()']))), [])
    const texts = group(leaf('identityEmail', 'In', ['x', 'Today()']))
    assert.deepEqual(codesOf(texts), ['ValueTypeMismatch /conditions/0/value/1'])
  })

  it('refuses a value that denies IsNull, except in a stored condition', () => {
    for (const value of [false, 'False', ' false ']) {
      const input = group(leaf('identityId', 'IsNull', value))
      assert.deepEqual(codesOf(input), ['InvalidValue /conditions/0/value'])
      assert.ok(checkCondition(input, SCHEMA, 'stored').ok)
    }
    assert.deepEqual(codesOf(group(leaf('identityId', 'IsNull', true))), [])
  })

  it('asks for a value everywhere but for IsNull, which ignores one', () => {
    assert.deepEqual(codesOf(group(leaf('identityId', 'Equals'))), ['MissingMember /conditions/0/value'])
    assert.deepEqual(wireOf(group(leaf('identityId', 'isnull', { any: 'thing' }))), {
      groupOperator: 'AND',
      conditions: [{ id: 'identityId', field: 'identityId', operator: 'IsNull' }],
    })
  })
})

describe('A group over all positions', () => {
  const over = (input: object, range: unknown = 'AnyPosition') => ({ ...input, over: range })
  const ok = leaf('identityEmail', 'Equals', 'x')

  it('is written in any case, and null means none', () => {
    assert.deepEqual(wireOf(over(group(ok), 'anyposition')), over(group(ok)))
    assert.deepEqual(wireOf(over(group(ok), null)), group(ok))
  })

  it('is not within another one, at any depth; beside it may be one', () => {
    const nested = over(group(group(over(group(ok)))))
    assert.deepEqual(codesOf(nested), ['AnyPositionNested /conditions/0/conditions/0/over'])
    assert.deepEqual(codesOf(group(over(group(ok)), over(group(ok)))), [])
  })

  it('is refused in collections of org units, with another word, and on a leaf', () => {
    const check = checkCondition(group(over(group(ok))), SCHEMA, 'request', 'OrgUnit')
    assert.deepEqual(!check.ok && check.faults.map(({ code, pointer }) => [code, pointer]), [
      ['AnyPositionNotAllowed', '/conditions/0/over'],
    ])
    assert.deepEqual(codesOf(over(group(ok), 'EveryPosition')), ['InvalidMember /over'])
    assert.deepEqual(codesOf(group(over(ok))), ['InvalidMember /conditions/0/over'])
  })
})

describe('Fields', () => {
  const NESTED = 'NestedFunctions: Nested functions not allowed on DateTime field'
  for (const [id, field, expected] of [
    ['identityEmail', 'ToUpper(identityEmail)', undefined],
    ['identityEmail', ' toupper ( Substring( identityEmail , 0 , 3 ) ) ', undefined],
    ['identityCustom/a, (b)', 'Substring(identityCustom/a, (b),1,2)', undefined],
    ['relationshipEndDate', 'AddDays(relationshipEndDate,-7)', undefined],
    ['relationshipEndDate', 'Today()', undefined],
    ['relationshipEndDate', 'AddDays(AddDays(relationshipEndDate,1),1)', NESTED],
    ['relationshipEndDate', 'AddDays(Today(),1)', NESTED],
    ['relationshipEndDate', 'ToUpper(Substring(relationshipEndDate,0,4))', NESTED],
    [
      'relationshipEndDate',
      'ToUpper(relationshipEndDate)',
      'FunctionNotAllowed: Function ToUpper not allowed on DateTime field',
    ],
    ['identityId', 'ToLower(identityId)', 'FunctionNotAllowed: Function ToLower not allowed on Guid field'],
    ['identityEmail', 'AddDays(identityEmail,1)', 'FunctionNotAllowed: Function AddDays not allowed on String field'],
    ['identityEmail', 'Today()', 'FunctionNotAllowed: Function Today not allowed on String field'],
    [
      'identityEmail',
      'identityDisplayName',
      'FieldNotNamedById: Field identityDisplayName does not read identityEmail',
    ],
    [
      'identityEmail',
      'ToUpper(identityDisplayName)',
      'FieldNotNamedById: Field ToUpper(identityDisplayName) does not read identityEmail',
    ],
    ['identityEmail', 'nothing', 'FieldNotInSchema: Field nothing does not exist in schema'],
    ['identityEmail', 'Reverse(identityEmail)', 'UnknownFunction: Function Reverse does not exist'],
    ['identityEmail', 'constructor(identityEmail)', 'UnknownFunction: Function constructor does not exist'],
    [
      'identityEmail',
      'Substring(identityEmail,-1,2)',
      'InvalidFunctionArgument: Function Substring has arguments that are not valid: Substring(identityEmail,-1,2)',
    ],
    [
      'identityEmail',
      'Substring(identityEmail,1)',
      'InvalidFunctionArgument: Function Substring has arguments that are not valid: Substring(identityEmail,1)',
    ],
    [
      'relationshipEndDate',
      'AddDays(relationshipEndDate,x)',
      'InvalidFunctionArgument: Function AddDays has arguments that are not valid: AddDays(relationshipEndDate,x)',
    ],
    ['identityEmail', `${'ToUpper('.repeat(16)}identityEmail${')'.repeat(16)}`, undefined],
    [
      'identityEmail',
      `${'ToUpper('.repeat(17)}identityEmail${')'.repeat(17)}`,
      'TooManyFunctions: A field may have at most 16 functions around it',
    ],
  ] as const) {
    it(`${field} ${expected === undefined ? 'is allowed' : 'is refused'}`, () => {
      const faults = faultsOf(group(leaf(id, 'IsNull', undefined, field)))
      assert.deepEqual(
        faults.map(({ code, message }) => `${code}: ${message}`),
        expected === undefined ? [] : [expected],
      )
      for (const { pointer } of faults) assert.equal(pointer, '/conditions/0/field')
    })
  }

  for (const name of [
    'x',
    '__proto__',
    'constructor',
    'identityAssignedLicenses',
    'identityCustom/unknown',
    'identityid',
  ]) {
    it(`${name} does not exist in schema`, () => {
      const input = JSON.parse(
        `{"groupOperator":"AND","conditions":[{"id":"${name}","field":"${name}","operator":"IsNull"}]}`,
      )
      const message = `Field ${name} does not exist in schema`
      assert.deepEqual(faultsOf(input), [{ code: 'FieldNotInSchema', message, pointer: '/conditions/0/id' }])
    })
  }

  it('reads a stored condition again when no object has its custom attribute any more', () => {
    const input = group(leaf('relationshipCustom/gone', 'Equals', 'x'), leaf('relationshipGone', 'Equals', 'x'))
    const check = checkCondition(input, storedConditionSchema())
    assert.deepEqual(check.ok ? [] : check.faults.map(({ pointer }) => pointer), ['/conditions/1/id'])
  })
})

describe('Form', () => {
  it('takes null for what a group or a leaf does not have', () => {
    const nulls = { groupOperator: null, conditions: null }
    const email = { id: 'identityEmail', field: 'identityEmail', operator: 'IsNull' }
    const input = { ...group({ ...email, ...nulls }), id: null, field: null, operator: null }
    const check = checkCondition(input, storedConditionSchema())
    assert.deepEqual(check.ok && check.condition.wire, group(email))
  })

  it('refuses a group with members of a leaf: the leaf would not restrict anything', () => {
    const email = leaf('identityEmail', 'IsNull')
    const both = { ...group({ ...group(email), ...leaf('identityId', 'Equals', GUID) }), id: 'identityId' }
    const expected = ['id', 'conditions/0/id', 'conditions/0/field', 'conditions/0/operator', 'conditions/0/value']
    for (const origin of ['request', 'stored'] as const) {
      const check = checkCondition(both, SCHEMA, origin)
      const faults = check.ok ? [] : check.faults
      assert.deepEqual(
        faults.map(({ code, pointer }) => `${code} ${pointer}`),
        expected.map((member) => `InvalidMember /${member}`),
      )
    }
  })

  for (const [claim, input, expected] of [
    ['nothing', undefined, ['RootNotGroup ']],
    ['null', null, ['RootNotGroup ']],
    ['a list', [], ['RootNotGroup ']],
    ['a leaf as the root', leaf('identityEmail', 'IsNull'), ['RootNotGroup ']],
    ['a root of nothing but null', { groupOperator: null, conditions: null }, ['RootNotGroup ']],
    [
      'an operator that is null',
      { groupOperator: null, conditions: [1] },
      ['InvalidMember /groupOperator', 'InvalidNode /conditions/0'],
    ],
    ['conditions that are null', { groupOperator: 'OR', conditions: null }, ['InvalidMember /conditions']],
    ['an empty group', group(), ['EmptyGroup /conditions']],
    ['an empty group inside', group(group()), ['EmptyGroup /conditions/0/conditions']],
    [
      'a group without an operator',
      { conditions: [leaf('identityEmail', 'IsNull')] },
      ['MissingMember /groupOperator'],
    ],
    ['a group without conditions', { groupOperator: 'AND' }, ['MissingMember /conditions']],
    ['conditions that are no list', { groupOperator: 'AND', conditions: {} }, ['InvalidMember /conditions']],
    [
      'an unknown group operator',
      { groupOperator: 'NAND', conditions: [leaf('identityEmail', 'IsNull')] },
      ['UnknownGroupOperator /groupOperator'],
    ],
    [
      'items that are no objects',
      group(1, null, 'x', []),
      [0, 1, 2, 3].map((index) => `InvalidNode /conditions/${index}`),
    ],
    [
      'an empty leaf',
      group({}),
      ['MissingMember /conditions/0/id', 'MissingMember /conditions/0/field', 'MissingMember /conditions/0/operator'],
    ],
    [
      'members of wrong types',
      group(leaf(1, 2, 'x', 3)),
      ['InvalidMember /conditions/0/id', 'InvalidMember /conditions/0/field', 'InvalidMember /conditions/0/operator'],
    ],
    ['an unknown operator', group(leaf('identityEmail', 'Like', 'x')), ['UnknownOperator /conditions/0/operator']],
    [
      'inherited members',
      group(Object.create(leaf('identityEmail', 'IsNull'))),
      ['MissingMember /conditions/0/id', 'MissingMember /conditions/0/field', 'MissingMember /conditions/0/operator'],
    ],
  ] as const) {
    it(`refuses ${claim}`, () => assert.deepEqual(codesOf(input), expected))
  }

  for (const [claim, input, expected] of [
    [
      'in the root',
      { GroupOperator: 'AND', condition: [] },
      ['UnknownMember /GroupOperator', 'UnknownMember /condition'],
    ],
    [
      'in a group inside',
      group({ groupOperator: 'AND', Conditions: [] }, leaf('nothing', 'Equals', 'x')),
      ['UnknownMember /conditions/0/Conditions', 'FieldNotInSchema /conditions/1/id'],
    ],
    ['in a leaf', group({ ...leaf('identityId', 'Equals'), vale: GUID }), ['UnknownMember /conditions/0/vale']],
    [
      'as a further member',
      group({ ...leaf('identityId', 'Equals', GUID), Id: 1 }),
      ['UnknownMember /conditions/0/Id'],
    ],
  ] as const) {
    it(`refuses a misspelt member ${claim}`, () => {
      assert.deepEqual(codesOf(input), expected)
    })
  }

  it('reports all faults at once', () => {
    const input = {
      groupOperator: 'maybe',
      conditions: [leaf('x', 'Equals', 1), group(leaf('identityId', 'Equals', 'me', 'Bad(x)'), {})],
    }
    assert.deepEqual(codesOf(input), [
      'UnknownGroupOperator /groupOperator',
      'FieldNotInSchema /conditions/0/id',
      'UnknownFunction /conditions/1/conditions/0/field',
      'InvalidValue /conditions/1/conditions/0/value',
      'MissingMember /conditions/1/conditions/1/id',
      'MissingMember /conditions/1/conditions/1/field',
      'MissingMember /conditions/1/conditions/1/operator',
    ])
  })

  it('reports a leaf without a field, or with an unknown operator, once', () => {
    const { field: _field, ...withoutField } = leaf('identityEmail', 'Equals', 'x')
    assert.deepEqual(codesOf(group(withoutField)), ['MissingMember /conditions/0/field'])
    assert.deepEqual(codesOf(group(leaf('identityEmail', 'Like', 'x'))), ['UnknownOperator /conditions/0/operator'])
  })

  it('names the type in the message for an operator that is not allowed, and the field with rules of its own', () => {
    const messageOf = (id: string) => faultsOf(group(leaf(id, 'GreaterThan', GUID)))[0]?.message
    assert.equal(messageOf('identityId'), 'Operator GreaterThan not allowed on Guid field')
    assert.equal(messageOf('memberOfCollection'), 'Operator GreaterThan not allowed on memberOfCollection field')
  })

  it('normalises words, GUIDs and functions, and drops what it does not know', () => {
    const input = {
      groupOperator: 'xor',
      note: 'dropped',
      conditions: [
        { ...leaf('identityId', 'IN', [GUID]), ruleId: 7 },
        leaf('identityEmail', 'startswith', 'A', 'toupper( identityEmail )'),
        leaf('relationshipEndDate', 'lessThanOrEqual', 'addDays( today( ) , 0 )'),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'equals', 'True'),
      ],
    }
    assert.deepEqual(wireOf(input), {
      groupOperator: 'XOR',
      conditions: [
        { id: 'identityId', field: 'identityId', operator: 'In', value: [GUID.toLowerCase()] },
        { id: 'identityEmail', field: 'ToUpper(identityEmail)', operator: 'StartsWith', value: 'A' },
        { id: 'relationshipEndDate', field: 'relationshipEndDate', operator: 'LessThanOrEqual', value: 'Today()' },
        leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', 'True'),
      ],
    })
  })
})

describe('Limits', () => {
  const ok = leaf('identityEmail', 'Equals', 'x')
  const nested = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => group(inner), ok)

  it('allows 16 groups inside one another and refuses 17', () => {
    assert.deepEqual(codesOf(nested(16)), [])
    assert.deepEqual(codesOf(nested(17)), [`ConditionTooDeep ${'/conditions/0'.repeat(16)}`])
  })

  it('allows 500 leaves and refuses 501, wherever they are', () => {
    const half = groupOf(Array(250).fill(ok))
    assert.deepEqual(codesOf(group(half, half)), [])
    assert.deepEqual(codesOf(group(half, half, ok)), ['TooManyLeaves '])
    assert.deepEqual(codesOf(group(half, half, ok, ok)), ['TooManyLeaves '])
  })

  it('reports 1000 faults at most', () => {
    assert.equal(faultsOf(group(leaf('identityId', 'In', Array(1000).fill(1), 'x'), ok)).length, 1000)
  })

  it('are checked in steps of a leaf', () => {
    const steps = checkConditionTask(groupOf(Array(500).fill(ok)), SCHEMA)
    let count = 0
    while (steps.next().done !== true) count += 1
    assert.equal(count, 500)
  })

  it('allows 1000 entries in a list and refuses 1001', () => {
    assert.deepEqual(codesOf(group(leaf('identityEmail', 'In', Array(1000).fill('x')))), [])
    const tooMany = codesOf(group(leaf('identityEmail', 'In', Array(1001).fill({}))))
    assert.deepEqual(tooMany, ['TooManyEntries /conditions/0/value'])
  })

  it('stays quick and modest on a mebibyte of anything', () => {
    const deep = JSON.parse(`${'{"groupOperator":"AND","conditions":['.repeat(1000)}1${']}'.repeat(1000)}`)
    const hostile = [
      deep,
      groupOf(Array(500_000).fill(1)),
      groupOf(Array(25_000).fill(group())),
      group(...Array(500).fill(leaf('identityId', 'In', Array(1000).fill(1)))),
      group(leaf('x'.repeat(1 << 20), 'y'.repeat(1 << 20), 'z'.repeat(1 << 20))),
      group(leaf('identityEmail', 'IsNull', 0, 'ToUpper('.repeat(130_000))),
      group(leaf('identityEmail', 'IsNull', 0, `${'ToUpper('.repeat(100_000)}${')'.repeat(100_000)}`)),
      group(leaf('identityEmail', 'IsNull', 0, `ToUpper${' '.repeat(1 << 20)}x`)),
      group(
        leaf('identityId', 'Equals', 'a'.repeat(1 << 20)),
        leaf('relationshipEndDate', 'Equals', '9'.repeat(1 << 20)),
      ),
    ]
    const usedMs = processorClock()
    for (const input of hostile) {
      const faults = faultsOf(input)
      assert.ok(faults.length > 0 && faults.length <= MAX_FAULT_COUNT)
      for (const { message } of faults) assert.ok(message.length < 300)
    }
    assert.ok(usedMs() < 1000)
  })
})
