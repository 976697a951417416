import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { CUSTOM_TYPES } from '../../shared/domain/core/custom-types.ts'
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { OPERATORS } from '../../shared/domain/criteria/condition.ts'
import { conditionSchema, storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { conditionComponents } from '../../shared/openapi/condition-schemas.ts'

const schemas = conditionComponents()
const ajv = new Ajv2020({ strict: false, validateSchema: false })
addFormats.default(ajv)
ajv.addSchema({ components: { schemas } }, 'api')
const conforms = ajv.compile({ $ref: 'api#/components/schemas/Condition' })
const check = (condition: unknown) => checkCondition(condition, storedConditionSchema())

/** Whether the checker accepts a condition, of a custom attribute with one of the types that it can have. */
const isAccepted = (condition: unknown, id: string): boolean => {
  if (!id.includes('Custom/')) return check(condition).ok
  return CUSTOM_TYPES.some((type) => checkCondition(condition, storedConditionSchema(new Map([[id, type]]))).ok)
}

type Node = Record<string, unknown> & { id: string; field: string; conditions?: Node[] }

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

/** Conditions that are well-formed but for a value, an operator or a function that does not suit the attribute. */
const leaf = fc
  .record({
    id: fc.constantFrom(...names),
    operator: fc.constantFrom(...OPERATORS),
    value: fc.constantFrom(...VALUES),
    call: fc.constantFrom('#', '#', 'ToUpper(#)', 'Substring(ToLower(#),0,3)', 'AddDays(#,-3)', 'Today()'),
  })
  .map(({ id, operator, value, call }) => ({ id, field: call.replace('#', id), operator, value }))
const condition = fc.letrec<{ group: Node }>((tie) => ({
  group: fc.record({
    groupOperator: fc.constantFrom('AND', 'or', 'NOT', 'Xor'),
    conditions: fc.array(fc.oneof({ depthSize: 'small' }, leaf, tie('group')), { minLength: 1, maxLength: 2 }),
  }) as unknown as fc.Arbitrary<Node>,
})).group

/** A condition with one member of a node replaced or removed. */
const altered = fc
  .tuple(condition, fc.nat(), fc.constantFrom(...members), fc.option(anything, { nil: undefined }))
  .map(([original, place, member, value]) => {
    const copy = structuredClone(original)
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

const asSent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const withLeaf = (id: string, operator: string, value: unknown) =>
  asSent({ groupOperator: 'OR', conditions: [{ id, field: id, operator, value }] })

describe('The schema of conditions', () => {
  it('accepts the stored form of every condition that the checker accepts', () => {
    let acceptedCount = 0
    fc.assert(
      fc.property(fc.oneof(anything, altered, condition, condition), (sent) => {
        const checked = check(asSent(sent))
        if (!checked.ok) return
        acceptedCount += 1
        assert.ok(conforms(checked.condition.wire), JSON.stringify(checked.condition.wire))
      }),
      { numRuns: 3000 },
    )
    assert.ok(acceptedCount > 100, `${acceptedCount} accepted`)
  })

  it('accepts every operator and value that the checker accepts, and no operator that it refuses for every value', () => {
    let acceptedCount = 0
    for (const id of names) {
      for (const operator of OPERATORS) {
        const accepted = VALUES.map((value) => withLeaf(id, operator, value)).filter((sent) => isAccepted(sent, id))
        for (const sent of accepted) assert.ok(conforms(sent), JSON.stringify(sent))
        const described = VALUES.some((value) => conforms(withLeaf(id, operator, value)))
        assert.equal(described, accepted.length > 0, `${id} ${operator}`)
        acceptedCount += accepted.length
      }
    }
    assert.ok(acceptedCount > 3000, `${acceptedCount} accepted`)
  })

  const title = { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Equals', value: 'Nurse' }
  const and = (...conditions: unknown[]) => ({ groupOperator: 'AND', conditions })

  it('accepts null for members that only the other kind of node has', () => {
    const sent = { ...and({ ...title, groupOperator: null, conditions: null }), id: null, operator: null }
    assert.equal(conforms(sent), true)
    assert.equal(check(sent).ok, true)
  })

  for (const [claim, refused] of [
    ['a leaf as the root', title],
    ['a list', [title]],
    ['an empty group', and()],
    ['an unknown group operator', { groupOperator: 'NAND', conditions: [title] }],
    ['a group without its operator', { conditions: [title] }],
    ['a leaf that is a group as well', and({ ...title, conditions: 5 })],
    ['a group that is a leaf as well', and({ ...title, ...and(title) })],
    ['a root with a value', { ...and(title), value: false }],
    ['an unknown operator', and({ ...title, operator: 'Like' })],
    ['no operator', and({ ...title, operator: undefined })],
    ['no value', and({ ...title, value: undefined })],
    ['a list where one value is required', and({ ...title, value: ['Nurse'] })],
    ['one value where a list is required', and({ ...title, operator: 'In' })],
    ['a list of 1001', and({ ...title, operator: 'In', value: Array.from({ length: 1001 }, String) })],
    ['an object as the value', and({ ...title, value: { $ne: null } })],
    ['an unknown attribute', and({ ...title, id: 'relationshipSalary', field: 'relationshipSalary' })],
    ['a name from the prototype', and({ ...title, id: 'constructor', field: 'constructor' })],
    [
      'an ordering of lists',
      and({ id: 'orgUnitDeputies', field: 'orgUnitDeputies', operator: 'LessThan', value: 'a' }),
    ],
    ['a word as a GUID', and({ ...title, id: 'identityId', field: 'identityId', value: 'me' })],
    ['IsNull on a membership', and({ id: 'memberOfCollection', field: 'memberOfCollection', operator: 'IsNull' })],
  ] as const) {
    it(`refuses ${claim}, as the checker does`, () => {
      const sent = asSent(refused)
      assert.equal(conforms(sent), false)
      assert.equal(check(sent).ok, false)
    })
  }

  for (const [claim, refused] of [
    ['an unknown function', { ...title, field: 'Eval(relationshipTitle)' }],
    ['a word as a date', { ...title, id: 'relationshipEndDate', field: 'relationshipEndDate', value: 'tomorrow' }],
    [
      'a word as a boolean',
      {
        ...title,
        id: 'identityDirectoryOnPremisesSyncEnabled',
        field: 'identityDirectoryOnPremisesSyncEnabled',
        value: 'yes',
      },
    ],
  ] as const) {
    it(`leaves ${claim} to the checker, which refuses it`, () => assert.equal(check(asSent(and(refused))).ok, false))
  }
})
