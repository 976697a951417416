import { CUSTOM_TYPES } from '../domain/core/custom-types.ts'
import { LEAF_MEMBERS, MAX_DEPTH } from '../domain/criteria/check-condition.ts'
import { MAX_ENTRY_COUNT } from '../domain/criteria/check-leaf.ts'
import { GROUP_OPERATORS, GROUP_RANGES, OPERATORS, type Operator } from '../domain/criteria/condition.ts'
import { MAX_LEAF_COUNT } from '../domain/criteria/condition-findings.ts'
import { comparedType } from '../domain/criteria/field-expression.ts'
import { HIDDEN } from '../domain/criteria/hidden-values.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF, takesList } from '../domain/criteria/operators-of-types.ts'
import {
  type AttributeType,
  conditionSchema,
  MEMBER_OF_COLLECTION,
  SENSITIVE_NAMES,
} from '../domain/criteria/schema.ts'
import { GUID_PATTERN } from '../kernel/guid.ts'
import type { JsonObject } from '../kernel/json.ts'
import { explainedConditionComponents } from './explained-condition-schemas.ts'
import { schemaReference, words } from './schemas.ts'

const TEXT: JsonObject = { type: 'string' }

/**
 * Values by the type as which they are compared. `checkCondition` has the exact rules; the descriptions summarize them.
 */
const VALUES: Record<AttributeType, JsonObject> = {
  String: {
    type: ['string', 'number', 'boolean'],
    description:
      'Compared as text, by code point, case-sensitive, in composed form (NFC). Blanks at the ends of values and data do not ' +
      'count. An ordering takes a string only.',
  },
  Integer: { type: ['integer', 'string'], description: 'A whole number of at most 16 digits, or a string of one.' },
  Boolean: { type: ['boolean', 'string'], description: '`true` or `false`. A string is accepted in any case.' },
  DateTime: {
    type: 'string',
    description:
      'An ISO 8601 date (its beginning in the time zone of the tenant) or date and time (UTC unless it has an offset), ' +
      '`Today()`, or a day relative to it such as `AddDays(Today(),-30)`.',
  },
  Guid: { type: 'string', format: 'uuid', pattern: GUID_PATTERN },
  List: TEXT,
  ExternalList: TEXT,
  Array: TEXT,
  StringList: {
    type: ['string', 'number', 'boolean'],
    description: 'A text, compared with each text of the list, case-sensitive.',
  },
}

/** What `field` may contain, by the type of the attribute. */
const FIELDS: Readonly<Partial<Record<AttributeType, string>>> = {
  String:
    'The `id`, or functions of it: `ToUpper(id)`, `ToLower(id)`, `Substring(id,start,length)`. Functions can be nested.',
  DateTime: 'The `id`, `AddDays(id,days)`, or `Today()`, which does not read the attribute.',
}

type Leaf = {
  readonly component: string
  readonly description: string
  readonly id: JsonObject
  readonly field: JsonObject
  readonly operators: readonly Operator[]
  readonly value: JsonObject
  /** A value that is read from another attribute, where that is allowed. */
  readonly operand?: JsonObject
}

/** The condition language as components of the document: every stored condition conforms to them. */
export function conditionComponents(): Record<string, JsonObject> {
  const leaves = [...attributeLeaves(), membershipLeaf()]
  return {
    Condition: group(),
    ConditionLeaf: {
      description:
        'Compares one attribute. The attribute type determines the allowed operators and values; ' +
        '`GET /collections-criteria/beta/tenant-schemas` lists the attributes. An update can keep an attribute that the ' +
        'stored condition already reads, even if no object has it any more. The id of an identity that was merged into ' +
        'another one is replaced by the id of the one that remains. Members that belong to a group only must be absent or ' +
        'null.',
      not: anyGiven(['groupOperator', 'conditions']),
      anyOf: [...leaves.map(({ component }) => schemaReference(component)), schemaReference('HiddenCondition')],
    },
    ...Object.fromEntries(leaves.map((leaf) => [leaf.component, leafSchema(leaf)])),
    HiddenCondition: HIDDEN_LEAF,
    ...explainedConditionComponents(),
  }
}

const HIDDEN_LEAF: JsonObject = {
  type: 'object',
  description:
    'A stored leaf whose value or list of values the caller may not read. Sent back in an update where it was read, it ' +
    'keeps what is stored if the rest of the condition is as stored, too, for every caller. Elsewhere it is no value.',
  required: ['id', 'field', 'operator', 'value'],
  properties: {
    id: words([...SENSITIVE_NAMES]),
    field: { type: 'string' },
    operator: words(OPERATORS.filter((operator) => operator !== 'IsNull')),
    value: { type: 'string', const: HIDDEN },
  },
}

const GIVEN: JsonObject = { not: { type: 'null' } }

function anyGiven(members: readonly string[]): JsonObject {
  return { anyOf: members.map((name) => ({ properties: { [name]: GIVEN }, required: [name] })) }
}

function group(): JsonObject {
  return {
    type: 'object',
    description:
      'A group of conditions, and the root of every condition. `AND`: all children hold. `OR`: at least one holds. ' +
      `\`NOT\`: none holds. \`XOR\`: exactly one holds. Groups nest at most ${MAX_DEPTH} deep and contain at most ` +
      `${MAX_LEAF_COUNT} leaves in total. Operators are accepted in any case and stored as written here. Unknown ` +
      'members are ignored unless they resemble a known one. Members that belong to a leaf only must be absent or null.',
    required: ['groupOperator', 'conditions'],
    not: anyGiven(LEAF_MEMBERS),
    properties: {
      groupOperator: words(GROUP_OPERATORS),
      over: {
        anyOf: [words(GROUP_RANGES), { type: 'null' }],
        description:
          '`AnyPosition`: the group holds on a row when some row of the same identity satisfies it, so "has no employee ' +
          'position" is a `NOT` around such a group. It holds on no row without an identity, is not nested in another ' +
          'one, and is refused in collections of org units.',
      },
      conditions: {
        type: 'array',
        minItems: 1,
        items: { anyOf: [schemaReference('Condition'), schemaReference('ConditionLeaf')] },
      },
    },
  }
}

const OPERAND: JsonObject = {
  type: 'object',
  description:
    'The value of another attribute of the same row, of the type that is compared: `{ "attribute": "identityId" }`. With ' +
    '`Contains`, a list is compared with a `Guid`. An attribute that is missing on either side counts as missing.',
  required: ['attribute'],
  properties: { attribute: { type: 'string' } },
}

/** One component for each attribute type. */
function attributeLeaves(): Leaf[] {
  const attributes = [...conditionSchema({ identity: [], orgUnit: [], relationship: [] })]
  const byType = Map.groupBy(
    attributes.filter(([name]) => name !== MEMBER_OF_COLLECTION),
    ([, type]) => type,
  )
  const types = new Set([...byType.keys(), ...CUSTOM_TYPES])
  return [...types].map((type) => {
    const ids = (byType.get(type) ?? []).map(([name]) => name)
    const custom: JsonObject = { type: 'string', pattern: '^(identity|orgUnit|relationship)Custom/' }
    const hasCustom = (CUSTOM_TYPES as readonly AttributeType[]).includes(type)
    const forms = [...(ids.length > 0 ? [words(ids)] : []), ...(hasCustom ? [custom] : [])]
    return {
      component: `${type}Condition`,
      description: `Compares an attribute of type ${type}.`,
      id: forms.length === 1 ? (forms[0] as JsonObject) : { anyOf: forms },
      field: { type: 'string', description: FIELDS[type] ?? 'The same as `id`.' },
      operators: OPERATORS_OF[type],
      value: VALUES[comparedType(ids[0] ?? '', type)],
      operand: OPERAND,
    }
  })
}

function membershipLeaf(): Leaf {
  const name: JsonObject = { type: 'string', const: MEMBER_OF_COLLECTION }
  return {
    component: 'MembershipCondition',
    description: 'Tests membership in other collections, of either kind.',
    id: name,
    field: name,
    operators: MEMBERSHIP_OPERATORS,
    value: { ...VALUES.Guid, description: 'The id of a collection.' },
  }
}

/** `value` is a list for `In` and `ContainsAny`, ignored for `IsNull`, and a single value for every other operator. */
function leafSchema({ description, id, field, operators, value, operand }: Leaf): JsonObject {
  const list: JsonObject = { type: 'array', maxItems: MAX_ENTRY_COUNT, items: value }
  const ignored: JsonObject = { description: 'Ignored, and not stored. `false` is refused.' }
  const form = (allowed: readonly Operator[], required: readonly string[], operand: JsonObject): JsonObject[] =>
    allowed.length === 0 ? [] : [{ required, properties: { operator: words(allowed), value: operand } }]
  return {
    type: 'object',
    description,
    required: ['id', 'field', 'operator'],
    properties: { id, field },
    anyOf: [
      ...form(
        operators.filter((operator) => !takesList(operator) && operator !== 'IsNull'),
        ['operator', 'value'],
        operand === undefined ? value : { anyOf: [value, operand] },
      ),
      ...form(operators.filter(takesList), ['operator', 'value'], list),
      ...form(
        operators.filter((operator) => operator === 'IsNull'),
        ['operator'],
        ignored,
      ),
    ],
  }
}
