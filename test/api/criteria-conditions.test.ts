import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { all, CRITERIA, criteriaTenant, faults, leaf, startCriteriaService } from '../support/api/criteria-service.ts'
import { processorClock } from '../support/timing/processor-clock.ts'

const service = await startCriteriaService()

const NAME = 'identityDisplayName'
const PREVIEW = `${CRITERIA}/preview`
/** The processor time that any answer may take, however hostile the question. */
const MAX_ANSWER_MS = 1000

const nested = (depth: number): object =>
  depth === 1 ? all(leaf(NAME, 'Equals', 'x')) : { groupOperator: 'XOR', conditions: [nested(depth - 1)] }
const repeated = (count: number, make: (index: number) => object) =>
  all(...Array.from({ length: count }, (_, index) => make(index)))
const within = (field: string) => all({ ...leaf(NAME, 'Equals', 'x'), field })

describe('invalid conditions', () => {
  it('report all faults at once, each with its target', async () => {
    const { send } = criteriaTenant(service)
    const condition = {
      groupOperator: 'MAYBE',
      conditions: [
        leaf('nothing', 'Equals', 'x'),
        leaf(NAME, 'Resembles', 'x'),
        leaf(NAME, 'In', 'x'),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', 'yes'),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'StartsWith', 'true'),
        leaf('relationshipStartDate', 'Equals', 'x', 'AddDays(AddDays(relationshipStartDate,1),1)'),
        leaf(NAME, 'Equals', 'x', 'Reverse(identityDisplayName)'),
        leaf(NAME, 'Equals', 'x', 'Substring(identityDisplayName,-1,2)'),
        leaf(NAME, 'Equals', 'x', 'AddDays(identityDisplayName,1)'),
        leaf(NAME, 'Equals', 'x', 'identityEmail'),
        leaf(NAME, 'Equals'),
        { groupOperator: 'AND', conditions: [] },
        'text',
      ],
    }
    const expected = [
      'UnknownGroupOperator /groupOperator',
      'FieldNotInSchema /conditions/0/id',
      'UnknownOperator /conditions/1/operator',
      'ListRequired /conditions/2/value',
      'InvalidValue /conditions/3/value',
      'OperatorNotAllowed /conditions/4/operator',
      'NestedFunctions /conditions/5/field',
      'InvalidValue /conditions/5/value',
      'UnknownFunction /conditions/6/field',
      'InvalidFunctionArgument /conditions/7/field',
      'FunctionNotAllowed /conditions/8/field',
      'FieldNotNamedById /conditions/9/field',
      'MissingMember /conditions/10/value',
      'EmptyGroup /conditions/11/conditions',
      'InvalidNode /conditions/12',
    ]
    for (const [path, body, at] of [
      [CRITERIA, { objectType: 'Identity', name: 'x', condition }, '/condition'],
      [PREVIEW, { preview: { objectType: 'Identity', condition } }, '/preview/condition'],
    ] as const) {
      const answer = await send('POST', path, body)
      assert.deepEqual(faults(answer), [400, ...expected.map((fault) => fault.replace(' ', ` ${at}`))])
      const messages = answer.body.errors.map(({ message }: { message: string }) => message)
      for (const message of [
        'Field nothing does not exist in schema',
        'Value yes is not a valid Boolean',
        'Nested functions not allowed on DateTime field',
      ]) {
        assert.ok(messages.includes(message), message)
      }
    }
  })

  for (const [claim, condition, fault] of [
    ['a leaf for a root', leaf(NAME, 'Equals', 'x'), 'RootNotGroup /condition'],
    ['an empty object', {}, 'RootNotGroup /condition'],
    ['conditions that are no list', { groupOperator: 'AND', conditions: {} }, 'InvalidMember /condition/conditions'],
    ['17 levels', nested(17), `ConditionTooDeep /condition${'/conditions/0'.repeat(16)}`],
    ['501 leaves', repeated(501, (index) => leaf(NAME, 'Equals', String(index))), 'TooManyLeaves /condition'],
    [
      '1,001 entries',
      all(leaf(NAME, 'In', Array.from({ length: 1001 }, String))),
      'TooManyEntries /condition/conditions/0/value',
    ],
    [
      '17 functions',
      within(`${'ToLower('.repeat(17)}${NAME}${')'.repeat(17)}`),
      'TooManyFunctions /condition/conditions/0/field',
    ],
    [
      '10,000 functions',
      within(`${'ToLower('.repeat(10_000)}${NAME}${')'.repeat(10_000)}`),
      'TooManyFunctions /condition/conditions/0/field',
    ],
    ['a negative start', within(`Substring(${NAME},-1,1)`), 'InvalidFunctionArgument /condition/conditions/0/field'],
    ['a negative length', within(`Substring(${NAME},1,-1)`), 'InvalidFunctionArgument /condition/conditions/0/field'],
    ['a start of 1e9', within(`Substring(${NAME},1e9,1)`), 'InvalidFunctionArgument /condition/conditions/0/field'],
    [
      'a start of 400 digits',
      within(`Substring(${NAME},${'9'.repeat(400)},1)`),
      'InvalidFunctionArgument /condition/conditions/0/field',
    ],
    ['half a million commas', within(`Substring(${','.repeat(500_000)})`), undefined],
    ['half a million brackets', within('('.repeat(500_000)), undefined],
  ] as const) {
    it(`are refused quickly: ${claim}`, async () => {
      const { send } = criteriaTenant(service)
      const usedMs = processorClock()
      const answer = await send('POST', CRITERIA, { objectType: 'Identity', name: 'x', condition })
      assert.ok(usedMs() < MAX_ANSWER_MS)
      if (fault === undefined) assert.equal(answer.status, 400)
      else assert.deepEqual(faults(answer), [400, fault])
    })
  }

  it('are refused also when the body is nested deeper than any condition', async () => {
    const { send } = criteriaTenant(service)
    const answer = await send('POST', CRITERIA, { objectType: 'Identity', name: 'x', condition: nested(500) })
    assert.equal(answer.status, 400)
  })
})

describe('large conditions within the limits', () => {
  const WORDS = Array.from({ length: 1000 }, (_, index) => `word ${index}`)
  for (const [claim, condition, expected] of [
    ['16 levels', { groupOperator: 'NOT', conditions: [nested(15)] }, 2000],
    [
      '500 leaves that look into every value',
      repeated(500, (index) => leaf(NAME, 'NotContains', `no ${index}`, `ToUpper(Substring(${NAME},${index},9))`)),
      2000,
    ],
    [
      '500 leaves of which one holds',
      {
        groupOperator: 'XOR',
        conditions: Array.from({ length: 500 }, (_, index) => leaf(NAME, 'Equals', `Person ${index}`)),
      },
      500,
    ],
    ['1,000 entries', all(leaf(NAME, 'In', [...WORDS.slice(1), 'Person 7'])), 1],
    ['1,000 entries behind functions', all(leaf(NAME, 'In', [...WORDS.slice(1), 'PERSON 7'], `ToUpper(${NAME})`)), 1],
    ['8 lists of 1,000', repeated(8, () => leaf(NAME, 'In', [...WORDS.slice(1), 'Person 7'])), 1],
    [
      'a substring from far beyond the end',
      all(leaf(NAME, 'Equals', '', `Substring(${NAME},999999999999999,9)`)),
      2000,
    ],
    ['a substring of any length', all(leaf(NAME, 'Equals', 'n 7', `Substring(${NAME},5,999999999999999)`)), 1],
    ['a value of 130,000 characters', all(leaf(NAME, 'Contains', 'P'.repeat(130_000))), 0],
  ] as const) {
    it(`are answered quickly: ${claim}`, async () => {
      const tenant = await largeTenant()
      const usedMs = processorClock()
      const { status, body } = await tenant.send('POST', PREVIEW, { preview: { objectType: 'Identity', condition } })
      assert.ok(usedMs() < MAX_ANSWER_MS, `${usedMs()} ms`)
      assert.deepEqual([status, body.data?.counts.preview], [200, expected])
    })
  }
})

let large: ReturnType<typeof criteriaTenant> | undefined
/** 2000 people, in memory. */
async function largeTenant() {
  if (large !== undefined) return large
  large = criteriaTenant(service)
  const { person, send } = large
  for (let start = 0; start < 2000; start += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => person(`Person ${start + index}`)))
  }
  await send('GET', `${CRITERIA}/tenant-schemas`)
  return large
}
