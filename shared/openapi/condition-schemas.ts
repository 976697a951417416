import { MAX_DEPTH, MAX_ENTRY_COUNT, MAX_LEAF_COUNT } from '../domain/criteria/check-condition.ts'
import { GROUP_OPERATORS, OPERATORS, type Operator } from '../domain/criteria/condition.ts'
import { comparedType } from '../domain/criteria/field-expression.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF } from '../domain/criteria/operators-of-types.ts'
import { type AttributeType, conditionSchema, MEMBER_OF_COLLECTION } from '../domain/criteria/schema.ts'
import { GUID_PATTERN } from '../kernel/guid.ts'
import type { JsonObject } from '../kernel/json.ts'
import { schemaReference } from './schemas.ts'

const TEXT: JsonObject = { type: 'string' }

/**
 * Values by the type as which they are compared. `checkCondition` has the exact rules; the descriptions summarize them.
 */
const VALUES: Record<AttributeType, JsonObject> = {
  String: {
    type: ['string', 'number', 'boolean'],
    description: 'Compared as text, by code point, case-sensitive. An ordering takes a string only.',
  },
  Integer: { type: ['integer', 'string'], description: 'A whole number of at most 16 digits, or a string of one.' },
  Boolean: { type: ['boolean', 'string'], description: '`true` or `false`. A string is accepted in any case.' },
  DateTime: {
    type: 'string',
    description:
      'An ISO 8601 date (midnight UTC) or date and time (UTC unless it has an offset), `Today()`, or a day relative to ' +
      'it such as `AddDays(Today(),-30)`.',
  },
  Guid: { type: 'string', format: 'uuid', pattern: GUID_PATTERN },
  List: TEXT,
  ExternalList: TEXT,
  Array: TEXT,
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
        'stored condition already reads, even if no object has it any more. Members that belong to a group only must be ' +
        'absent or null.',
      not: {
        anyOf: ['groupOperator', 'conditions'].map((name) => ({ properties: { [name]: GIVEN }, required: [name] })),
      },
      anyOf: leaves.map(({ component }) => schemaReference(component)),
    },
    ...Object.fromEntries(leaves.map((leaf) => [leaf.component, leafSchema(leaf)])),
    ExplainedCondition: explainedGroup(),
    ExplainedLeaf: EXPLAINED_LEAF,
  }
}

const HOLDS: JsonObject = { type: 'boolean', description: 'Whether it holds on the row.' }

function explainedGroup(): JsonObject {
  return {
    type: 'object',
    description: 'A group of a stored condition, with its result on a row.',
    required: ['groupOperator', 'conditions', 'holds'],
    properties: {
      groupOperator: words(GROUP_OPERATORS),
      conditions: {
        type: 'array',
        items: { anyOf: [schemaReference('ExplainedCondition'), schemaReference('ExplainedLeaf')] },
      },
      holds: HOLDS,
    },
    additionalProperties: false,
  }
}

const EXPLAINED_LEAF: JsonObject = {
  type: 'object',
  description: 'A leaf of a stored condition, with its result on a row.',
  required: ['id', 'field', 'operator', 'holds', 'actual', 'decides'],
  properties: {
    id: { type: 'string' },
    field: { type: 'string' },
    operator: words(OPERATORS),
    value: { description: 'The stored value, or list of values. Absent for `IsNull`.' },
    holds: HOLDS,
    actual: {
      description:
        'The value on the row after the functions of `field`. Null when the attribute is missing, `hidden` when the ' +
        'caller may not read it. For `memberOfCollection`, those collections of the leaf that the row is a member of.',
      anyOf: [{ type: ['string', 'boolean', 'null'] }, { type: 'array', items: { type: 'string' } }],
    },
    decides: {
      type: 'boolean',
      description: 'Whether this leaf alone, with the other result, would change the result of the whole condition.',
    },
  },
  additionalProperties: false,
}

const GIVEN: JsonObject = { not: { type: 'null' } }

function group(): JsonObject {
  return {
    type: 'object',
    description:
      'A group of conditions, and the root of every condition. `AND`: all children hold. `OR`: at least one holds. ' +
      `\`NOT\`: none holds. \`XOR\`: exactly one holds. Groups nest at most ${MAX_DEPTH} deep and contain at most ` +
      `${MAX_LEAF_COUNT} leaves in total. Operators are accepted in any case and stored as written here. Unknown ` +
      'members are ignored.',
    required: ['groupOperator', 'conditions'],
    properties: {
      groupOperator: words(GROUP_OPERATORS),
      conditions: {
        type: 'array',
        minItems: 1,
        items: { anyOf: [schemaReference('Condition'), schemaReference('ConditionLeaf')] },
      },
    },
  }
}

/** One component for each attribute type. */
function attributeLeaves(): Leaf[] {
  const attributes = [...conditionSchema({ identity: [], orgUnit: [], relationship: [] })]
  const byType = Map.groupBy(
    attributes.filter(([name]) => name !== MEMBER_OF_COLLECTION),
    ([, type]) => type,
  )
  return [...byType].map(([type, entries]) => {
    const ids = entries.map(([name]) => name)
    const custom: JsonObject = { type: 'string', pattern: '^(identity|orgUnit|relationship)Custom/' }
    return {
      component: `${type}Condition`,
      description: `Compares an attribute of type ${type}.`,
      id: type === 'String' ? { anyOf: [words(ids), custom] } : words(ids),
      field: { type: 'string', description: FIELDS[type] ?? 'The same as `id`.' },
      operators: OPERATORS_OF[type],
      value: VALUES[comparedType(ids[0] ?? '', type)],
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

/** `value` is a list for `In`, ignored for `IsNull`, and a single value for every other operator. */
function leafSchema({ description, id, field, operators, value }: Leaf): JsonObject {
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
        operators.filter((operator) => operator !== 'In' && operator !== 'IsNull'),
        ['operator', 'value'],
        value,
      ),
      ...form(
        operators.filter((operator) => operator === 'In'),
        ['operator', 'value'],
        list,
      ),
      ...form(
        operators.filter((operator) => operator === 'IsNull'),
        ['operator'],
        ignored,
      ),
    ],
  }
}

function words(allowed: readonly string[]): JsonObject {
  return { type: 'string', enum: allowed }
}
