import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { OPERATORS } from '../../shared/domain/criteria/condition.ts'
import { conditionSchema, storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { conditionComponents } from '../../shared/openapi/condition-schemas.ts'
import { schemaArbitrary } from './schema-arbitrary.ts'

const schemas = conditionComponents()
const ajv = new Ajv2020({ strict: false, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema({ components: { schemas } }, 'api')
const conforms = ajv.compile({ $ref: 'api#/components/schemas/Condition' })
const check = (condition: unknown) => checkCondition(condition, storedConditionSchema())

type Node = Record<string, unknown> & { id: string; field: string; conditions?: Node[] }

/** What the schema leaves to words: `field` reads what `id` names, brackets close, the calendar has the date. */
function fitted(node: Node): Node {
  if (node.conditions !== undefined) return { ...node, conditions: node.conditions.map(fitted) }
  const value = 'value' in node && node.operator !== 'IsNull' ? { value: calendarDays(node.value) } : {}
  return { ...node, field: reading(node.id, node.field), ...value }
}

/** The functions of a field, around another attribute: sixteen of them at most. */
function reading(id: string, field: string): string {
  if (field === 'Today()') return field
  const days = /^AddDays\(.*,(-?\d+)\)$/.exec(field)?.[1]
  if (days !== undefined) return `AddDays(${id},${days})`
  const [calls = ''] = /^(?:(?:ToUpper|ToLower|Substring)\()*/.exec(field) ?? []
  const names = calls.split('(').slice(0, -1).slice(0, 16)
  return names.reduceRight((inner, name) => `${name}(${inner}${name === 'Substring' ? ',0,3' : ''})`, id)
}

function calendarDays(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(calendarDays)
  return typeof value === 'string' ? value.replace(/^(\d{4})-\d{2}-\d{2}/, '$1-06-15') : value
}

const generated = schemaArbitrary(schemas, 'Condition').map((condition) => fitted(condition as Node))

const words = [
  'AND',
  'xor',
  'Equals',
  'equals',
  'In',
  'IsNull',
  'Contains',
  'Today()',
  'AddDays(Today(),-3)',
  'true',
  '',
]
const names = [
  ...conditionSchema({ identity: [], orgUnit: [], relationship: [] }).keys(),
  'identityCustom/x',
  'identityid',
]

const GUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
// biome-ignore format: a list of values
const VALUES = [
  undefined, null, '', 'a', 'yes', 'True', true, 1, 1.5, -3, '12', GUID, GUID.toUpperCase(), `${GUID}0`, '2024-02-29', '2024-02-29T12:00Z',
  '2024-02-29t12:00:00.123456789+01:00', '2024-02-29 12:00', 'Today()', 'AddDays(Today(),-30)', 'AddDays(Today(),1.5)', [], ['a'], [GUID],
  ['2024-02-29', 'Today()'], [1, true], [null], [['a']], {},
]
const members = ['groupOperator', 'conditions', 'id', 'field', 'operator', 'value', '__proto__']
const scalar = fc.oneof(
  fc.constantFrom<unknown>(...words, ...names, null, true, 1, 1.5, '2024-02-30', '2024-02-29T12:00Z'),
  fc.uuid(),
  fc.string({ maxLength: 3 }),
)
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...members), tie('value'), { maxKeys: 5 }),
  ),
})).value

/** A condition with something else put in one of its places, or taken out of it. */
const spoilt = fc
  .tuple(generated, fc.nat(), fc.constantFrom(...members), fc.option(anything, { nil: undefined }))
  .map(([condition, place, member, value]) => {
    const copy = structuredClone(condition)
    const nodes = nodesOf(copy)
    const node = nodes[place % nodes.length]
    if (node === undefined) return copy
    if (value === undefined) Reflect.deleteProperty(node, member)
    else Object.assign(node, { [member]: value })
    return copy
  })

function nodesOf(node: Node): Node[] {
  return [node, ...(node.conditions ?? []).flatMap(nodesOf)]
}

/** Whatever the checker takes is stored in a form that the schema knows. */
function assertTold(condition: unknown): void {
  const checked = check(condition)
  if (!checked.ok) return
  assert.ok(conforms(checked.condition.wire), JSON.stringify(checked.condition.wire))
}

describe('the schema of conditions', () => {
  it('makes conditions that the checker takes', () => {
    const fields = new Set<string>()
    fc.assert(
      fc.property(generated, (condition) => {
        assert.ok(conforms(condition), ajv.errorsText(conforms.errors))
        const checked = check(condition)
        assert.ok(checked.ok, JSON.stringify(checked))
        for (const { field } of nodesOf(condition)) fields.add(field?.replace(/\(.*/, ''))
      }),
      { numRuns: 500 },
    )
    for (const name of ['ToUpper', 'AddDays', 'Today', 'memberOfCollection']) assert.ok(fields.has(name), name)
  })

  it('knows of every attribute exactly the operators and values that the checker takes', () => {
    let takenCount = 0
    for (const id of names) {
      for (const operator of OPERATORS) {
        for (const value of VALUES) {
          const sent = JSON.parse(
            JSON.stringify({ groupOperator: 'OR', conditions: [{ id, field: id, operator, value }] }),
          )
          assert.equal(conforms(sent), check(sent).ok, JSON.stringify(sent))
          takenCount += check(sent).ok ? 1 : 0
        }
      }
    }
    assert.ok(takenCount > 3000, `${takenCount} taken`)
  })

  it('knows the stored form of everything that the checker takes, however it came', () => {
    fc.assert(fc.property(fc.oneof(anything, spoilt, generated), assertTold), { numRuns: 2000 })
  })

  const leaf = { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Equals', value: 'Nurse' }
  const and = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })
  it('knows a leaf and a group that have null for what only the other has', () => {
    const sent = { ...and({ ...leaf, groupOperator: null, conditions: null }), id: null, operator: null }
    assert.equal(conforms(sent), true)
    assert.equal(check(sent).ok, true)
  })

  for (const [claim, condition] of [
    ['a leaf as the root', leaf],
    ['a list', [leaf]],
    ['an empty group', and()],
    ['an unknown group operator', { groupOperator: 'NAND', conditions: [leaf] }],
    ['a group without its operator', { conditions: [leaf] }],
    ['a leaf that is a group as well', and({ ...leaf, conditions: 5 })],
    ['an unknown operator', and({ ...leaf, operator: 'Like' })],
    ['no operator', and({ ...leaf, operator: undefined })],
    ['no value', and({ ...leaf, value: undefined })],
    ['a list where one value is due', and({ ...leaf, value: ['Nurse'] })],
    ['one value where a list is due', and({ ...leaf, operator: 'In' })],
    ['a list of 1001', and({ ...leaf, operator: 'In', value: Array.from({ length: 1001 }, String) })],
    ['an object as the value', and({ ...leaf, value: { $ne: null } })],
    ['an attribute that there is not', and({ ...leaf, id: 'relationshipSalary', field: 'relationshipSalary' })],
    ['a name from the prototype', and({ ...leaf, id: 'constructor', field: 'constructor' })],
    ['a function that there is not', and({ ...leaf, field: 'Eval(relationshipTitle)' })],
    [
      'an ordering of lists',
      and({ id: 'orgUnitDeputies', field: 'orgUnitDeputies', operator: 'LessThan', value: 'a' }),
    ],
    [
      'a word as a boolean',
      and({
        id: 'identityDirectoryOnPremisesSyncEnabled',
        field: 'identityDirectoryOnPremisesSyncEnabled',
        operator: 'Equals',
        value: 'yes',
      }),
    ],
    ['a word as a date', and({ ...leaf, id: 'relationshipEndDate', field: 'relationshipEndDate', value: 'tomorrow' })],
    ['a word as an id', and({ ...leaf, id: 'identityId', field: 'identityId', value: 'me' })],
    ['nobody as a member', and({ id: 'memberOfCollection', field: 'memberOfCollection', operator: 'IsNull' })],
  ] as const) {
    it(`does not know ${claim}, and the checker refuses it`, () => {
      const sent = JSON.parse(JSON.stringify(condition))
      assert.equal(conforms(sent), false)
      assert.equal(check(sent).ok, false)
    })
  }
})
