import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ObjectType } from '../../../../shared/domain/core/core-object.ts'
import type { CustomType } from '../../../../shared/domain/core/custom-types.ts'
import { checkCondition } from '../../../../shared/domain/criteria/check-condition.ts'
import type { CollectionMembers, RowObjectType } from '../../../../shared/domain/criteria/collection-members.ts'
import { isComputed } from '../../../../shared/domain/criteria/computed-attributes.ts'
import type { CheckedCondition, Operator } from '../../../../shared/domain/criteria/condition.ts'
import { type AttributeType, type ConditionSchema, conditionSchema } from '../../../../shared/domain/criteria/schema.ts'
import { DEFAULT_ROW_SETTINGS, type RowSettings } from '../../../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../../../shared/domain/tenant-index/rows/apply-objects.ts'

/** Leap day of 2024, so that days around it and around midnight differ. */
export const TODAY_MS = Date.parse('2024-02-29T00:00:00Z')

const guid = (kind: string, index: number): string =>
  `${kind.repeat(8)}-0000-4000-8000-${String(index).padStart(12, '0')}`
const guids = (kind: string, count: number): string[] => Array.from({ length: count }, (_, index) => guid(kind, index))

const IDS: Record<ObjectType, string[]> = {
  identity: guids('a', 6),
  orgUnit: guids('b', 4),
  relationship: guids('c', 7),
}
const GROUPS = guids('d', 4)
export const COLLECTIONS = guids('e', 4)

// biome-ignore format: a list of texts
const TEXTS = [
  '', 'a', 'A', 'ab', 'Ab', 'b', 'ba', 'straße', 'İi', 'ÆØÅ', '😀', '😀a', 'a😀b', '\ud83d', '\ude00', '￿', 'e\u0301', '\u00e9', ' a', 'a\u00a0', ' ', 'a b', '12', '-7', '007', 'true',
]
// biome-ignore format: a list of days around midnight and leap days
const INSTANTS = [
  '2024-02-28', '2024-02-29', '2024-03-01', '2023-02-28', '2024-02-29T00:00:00Z', '2024-02-28T23:59:59.999Z',
  '2024-02-29T00:00:00.001Z', '2024-02-29T01:00:00+01:00', '2024-02-28T19:00:00-05:00', '2024-03-31T02:30:00+02:00',
]

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
)
const instant = fc.constantFrom(...INSTANTS)
/** As a connector may have sent it before the attribute got its type. */
const customValue = fc.oneof(
  { weight: 3, arbitrary: text },
  {
    weight: 2,
    arbitrary: fc.constantFrom('12', '+12', '-7', '007', '9', '9007199254740993', 'True', 'false', 'FALSE'),
  },
  { weight: 1, arbitrary: instant },
  {
    weight: 2,
    arbitrary: fc.uniqueArray(fc.constantFrom('a', 'A', 'ab', '12', 'e\u0301'.normalize('NFC')), {
      minLength: 1,
      maxLength: 3,
    }),
  },
)
const reference = (to: ObjectType) => fc.constantFrom(...IDS[to]).map((objectId) => ({ objectId }))
const groups = fc.array(fc.constantFrom(...GROUPS, GROUPS[0]?.toUpperCase() as string), { maxLength: 4 })
const optional = <Shape extends Record<string, fc.Arbitrary<unknown>>>(shape: Shape) =>
  fc.record(shape, { requiredKeys: [] })

const ATTRIBUTES_OF: Record<ObjectType, fc.Arbitrary<Record<string, unknown>>> = {
  identity: optional({
    displayName: text,
    email: text,
    directoryObjectId: fc.constantFrom(...GROUPS, GROUPS[1]?.toUpperCase() as string),
    directoryOnPremisesSyncEnabled: fc.boolean(),
    directMemberOfDirectoryGroups: groups,
    assignedLicenses: groups,
    primaryRelationship: reference('relationship'),
    'custom/number': customValue,
    'custom/b c': customValue,
    'custom/flag': customValue,
    'custom/day': customValue,
    'custom/list': customValue,
    'custom/other list': customValue,
  }),
  orgUnit: optional({
    displayName: text,
    type: text,
    parent: reference('orgUnit'),
    manager: reference('identity'),
    deputies: fc.array(reference('identity'), { maxLength: 3 }),
  }),
  relationship: optional({
    title: text,
    startDate: instant,
    endDate: instant,
    identity: reference('identity'),
    orgUnit: reference('orgUnit'),
    manager: reference('identity'),
  }),
}

const objectOf = (objectType: ObjectType): fc.Arbitrary<SnapshotObject> =>
  fc.record({
    id: fc.constantFrom(...IDS[objectType]),
    objectType: fc.constant(objectType),
    externalId: fc.constantFrom('x1', 'x2'),
    attributes: ATTRIBUTES_OF[objectType] as fc.Arbitrary<SnapshotObject['attributes']>,
    deleted: fc.nat(7).map((number) => number === 0),
  })

/** One object as it may arrive, one in eight deleted. */
export const snapshotObject: fc.Arbitrary<SnapshotObject> = fc.oneof(
  { weight: 1, arbitrary: objectOf('identity') },
  { weight: 1, arbitrary: objectOf('orgUnit') },
  { weight: 2, arbitrary: objectOf('relationship') },
)

const custom = {
  identity: ['custom/number', 'custom/b c', 'custom/flag', 'custom/day', 'custom/list', 'custom/other list'],
  orgUnit: [],
  relationship: ['custom/absent'],
}
/** The settings of a tenant that has given types to some of its own attributes. */
export const SETTINGS: RowSettings = {
  ...DEFAULT_ROW_SETTINGS,
  types: new Map<string, CustomType>([
    ['identityCustom/number', 'Integer'],
    ['identityCustom/flag', 'Boolean'],
    ['identityCustom/day', 'DateTime'],
    ['identityCustom/list', 'StringList'],
    ['identityCustom/other list', 'StringList'],
  ]),
}
export const SCHEMA: ConditionSchema = conditionSchema(custom, SETTINGS.types)

/** A condition that the schema permits. */
export function checked(input: unknown): CheckedCondition {
  const check = checkCondition(input, SCHEMA)
  if (!check.ok) assert.fail(JSON.stringify(check))
  return check.condition
}

// biome-ignore format: a list of names
const NAMES: readonly string[] = [
  'identityDisplayName', 'identityDisplayName', 'identityEmail', 'identityDirectoryObjectId', 'identityId',
  'identityExternalId', 'identityDirectoryOnPremisesSyncEnabled', 'directMemberOfDirectoryGroups', 'assignedLicenses',
  'identityPrimaryRelationship', 'identityCustom/number', 'identityCustom/b c', 'identityCustom/flag', 'identityCustom/day',
  'identityCustom/list', 'identityCustom/list', 'identityCustom/other list', 'orgUnitDisplayName', 'orgUnitType',
  'orgUnitParent', 'orgUnitDeputies', 'orgUnitId', 'relationshipTitle', 'relationshipTitle', 'relationshipStartDate',
  'relationshipEndDate', 'relationshipIdentity', 'relationshipOrgUnit', 'relationshipManager', 'relationshipId',
  'relationshipIsActive', 'relationshipIsPrimary', 'orgUnitWithAncestors', 'orgUnitWithAncestors',
  'identityManagedOrgUnits', 'identityHasReports', 'identityHasReports', 'identityDeputyOfOrgUnits', 'relationshipCustom/absent', 'memberOfCollection', 'memberOfCollection',
]

const EQUALITY: Operator[] = ['Equals', 'NotEquals', 'In']
const ORDER: Operator[] = ['GreaterThan', 'GreaterThanOrEqual', 'LessThan', 'LessThanOrEqual']
const OPERATORS_OF: Record<AttributeType, Operator[]> = {
  String: [...EQUALITY, ...ORDER, 'Contains', 'NotContains', 'StartsWith', 'EndsWith', 'IsNull'],
  Integer: [...EQUALITY, ...ORDER, 'IsNull'],
  DateTime: [...EQUALITY, ...ORDER, 'IsNull'],
  Guid: [...EQUALITY, 'IsNull'],
  Boolean: ['Equals', 'NotEquals', 'IsNull'],
  List: ['Contains', 'NotContains', 'IsNull'],
  ExternalList: [],
  Array: [],
  StringList: ['Contains', 'NotContains', 'ContainsAny', 'IsNull'],
}
const anyId = fc.constantFrom(...IDS.identity, ...IDS.orgUnit, ...IDS.relationship, ...GROUPS)
const VALUE_OF: Record<AttributeType, fc.Arbitrary<string | number | boolean>> = {
  String: text,
  Integer: fc.constantFrom('12', -7, 7, 0, '+12'),
  DateTime: fc.oneof(instant, fc.constantFrom('Today()', 'AddDays(Today(),1)', 'AddDays( today(), -366 )')),
  Guid: fc.oneof(
    anyId,
    anyId.map((id) => id.toUpperCase()),
  ),
  Boolean: fc.constantFrom(true, 'False', 'true'),
  List: anyId,
  ExternalList: text,
  Array: text,
  StringList: fc.constantFrom('a', 'A', 'ab', '12', 'e\u0301', 'absent', ' a'),
}

function fieldAround(name: string, type: AttributeType): fc.Arbitrary<string> {
  const plain = fc.constant(name)
  if (type === 'DateTime') {
    return fc.oneof(
      { weight: 3, arbitrary: plain },
      fc.integer({ min: -400, max: 400 }).map((days) => `AddDays(${name},${days})`),
      fc.constant('Today()'),
    )
  }
  if (type !== 'String') return plain
  const wrap = fc.oneof(
    fc.constantFrom('ToUpper(', 'tolower ( ').map((call) => (inner: string) => `${call}${inner})`),
    fc.tuple(fc.nat(3), fc.nat(3)).map(
      ([start, length]) =>
        (inner: string) =>
          `Substring(${inner}, ${start},${length})`,
    ),
  )
  const wraps = fc.array(wrap, { maxLength: 3 }).map((calls) => calls.reduce((inner, call) => call(inner), name))
  return fc.oneof({ weight: 2, arbitrary: plain }, wraps)
}

const leaf = fc.constantFrom(...NAMES).chain((id) => {
  const type = SCHEMA.get(id) as AttributeType
  const operators = id === 'memberOfCollection' ? EQUALITY : OPERATORS_OF[type]
  const value = id === 'memberOfCollection' ? fc.constantFrom(...COLLECTIONS) : VALUE_OF[type]
  return fc.tuple(fc.constantFrom(...operators), fieldAround(id, type)).chain(([operator, field]) =>
    fc.record({
      id: fc.constant(id),
      field: fc.constant(field),
      operator: fc.constantFrom(operator, operator.toLowerCase()),
      value:
        operator === 'IsNull'
          ? fc.constant('ignored')
          : operator === 'In' || operator === 'ContainsAny'
            ? fc.array(value, { maxLength: 4 })
            : value,
    }),
  )
})

const namesOfType = (type: AttributeType): string[] => [
  ...new Set(NAMES.filter((name) => SCHEMA.get(name) === type && name !== 'memberOfCollection' && !isComputed(name))),
]
/** A leaf that compares two attributes of the row. */
const pair = fc.constantFrom(...NAMES.filter((name) => name !== 'memberOfCollection')).chain((id) => {
  const type = SCHEMA.get(id) as AttributeType
  const operators = OPERATORS_OF[type].filter((operator) => !['In', 'ContainsAny', 'IsNull'].includes(operator))
  return fc.record({
    id: fc.constant(id),
    field: fieldAround(id, type),
    operator: fc.constantFrom(...operators),
    value: fc.record({
      attribute: fc.constantFrom(...namesOfType(type === 'List' ? 'Guid' : type === 'StringList' ? 'String' : type)),
    }),
  })
})
const anyLeaf = fc.oneof({ weight: 5, arbitrary: leaf }, { weight: 1, arbitrary: pair })

type Tree = { readonly conditions?: readonly Tree[]; readonly over?: 'AnyPosition' }

const { group } = fc.letrec<{ node: Tree; group: Tree }>((tie) => ({
  node: fc.oneof({ depthSize: 'medium', maxDepth: 5 }, anyLeaf as fc.Arbitrary<Tree>, tie('group')),
  group: fc.record(
    {
      groupOperator: fc.constantFrom('AND', 'or', 'NOT', 'Not', 'XOR'),
      over: fc.constantFrom('AnyPosition' as const, 'AnyPosition' as const),
      conditions: fc.array(tie('node'), { minLength: 1, maxLength: 4 }),
    },
    { requiredKeys: ['groupOperator', 'conditions'] },
  ),
}))

/** Without groups over all positions that are within another one; one in three of the others stays. */
function withoutNested(node: Tree, isWithin: boolean, count: { groups: number }): Tree {
  if (node.conditions === undefined) return node
  const { over, ...rest } = node
  count.groups += 1
  const isKept = over !== undefined && !isWithin && count.groups % 3 === 1
  const conditions = node.conditions.map((child) => withoutNested(child, isWithin || isKept, count))
  return isKept ? { ...rest, over, conditions } : { ...rest, conditions }
}

/** A condition as a client may send it, without faults. */
export const condition: fc.Arbitrary<unknown> = group.map((tree) => withoutNested(tree, false, { groups: 0 }))

/** Leaves on two attributes only, so that they often exclude or imply each other. */
const denseLeaves = fc.constantFrom(...NAMES).chain((name) =>
  fc.array(
    anyLeaf.filter(
      (each) => (each as { id: string }).id === name || (each as { id: string }).id === 'identityDisplayName',
    ),
    { minLength: 1, maxLength: 4 },
  ),
)
/** A condition that is often constant. */
export const denseCondition: fc.Arbitrary<unknown> = fc
  .tuple(
    fc.constantFrom('AND', 'OR', 'NOT', 'XOR'),
    fc.array(fc.record({ groupOperator: fc.constantFrom('AND', 'OR', 'NOT', 'XOR'), conditions: denseLeaves }), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([groupOperator, conditions]) => ({ groupOperator, conditions }))

const members: fc.Arbitrary<CollectionMembers | undefined> = fc.oneof(
  fc
    .constantFrom<RowObjectType>('Identity', 'OrgUnit', 'Relationship')
    .chain((objectType) =>
      fc
        .uniqueArray(fc.constantFrom(...IDS.identity, ...IDS.orgUnit, ...IDS.relationship))
        .map((ids) => ({ kind: 'criteria' as const, objectType, ids: new Set(ids) })),
    ),
  fc
    .array(
      fc.record({
        identityId: fc.constantFrom(...IDS.identity),
        relationshipId: fc.option(fc.constantFrom(...IDS.relationship)),
      }),
      { maxLength: 5 },
    )
    .map((memberships) => ({ kind: 'joinable' as const, memberships })),
  fc.constant(undefined),
)
/** What `membersOf` answers for each of `COLLECTIONS`. */
export const collections = fc.tuple(members, members, members, members)
