import {
  MAX_DEPTH,
  MAX_ENTRY_COUNT,
  MAX_LEAF_COUNT,
  MEMBERSHIP_OPERATORS,
  OPERATORS_OF,
} from '../domain/criteria/check-condition.ts'
import { GROUP_OPERATORS, type Operator } from '../domain/criteria/condition.ts'
import { comparedType } from '../domain/criteria/field-expression.ts'
import { type AttributeType, conditionSchema, MEMBER_OF_COLLECTION } from '../domain/criteria/schema.ts'
import { GUID_PATTERN } from '../kernel/guid.ts'
import { type JsonObject, schemaReference } from './schemas.ts'

const CUSTOM_NAME_PATTERN = '(?:identity|orgUnit|relationship)Custom/[\\s\\S]*\\S'
const DAYS_PATTERN = '-?(?:\\d{1,8}|100000000)'
const HOUR_PATTERN = '[01]\\d|2[0-3]'

/** Larger numbers lose digits when JSON is read. */
const EXACT = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

/** What a value has to look like, by the type that it is compared as. */
const VALUES: Record<AttributeType, JsonObject> = {
  String: {
    type: ['string', 'number', 'boolean'],
    ...EXACT,
    description: 'Compared as text, by code point and with case.',
  },
  Integer: {
    anyOf: [
      { type: 'integer', ...EXACT },
      { type: 'string', pattern: '^[+-]?\\d{1,16}$' },
    ],
  },
  Boolean: {
    anyOf: [{ type: 'boolean' }, { type: 'string', pattern: '^(?:[Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$' }],
  },
  DateTime: {
    type: 'string',
    description: 'A date, an instant in ISO 8601 (UTC unless it has an offset), `Today()` or `AddDays(Today(),-30)`.',
    pattern:
      `^(?:\\d{4}-\\d{2}-\\d{2}(?:[Tt](?:${HOUR_PATTERN}):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?` +
      `(?:[Zz]|[+-](?:${HOUR_PATTERN}):[0-5]\\d)?)?|Today\\(\\)|AddDays\\(Today\\(\\),${DAYS_PATTERN}\\))$`,
  },
  Guid: { type: 'string', format: 'uuid', pattern: GUID_PATTERN },
  List: { type: 'string' },
  ExternalList: { type: 'string' },
  Array: { type: 'string' },
}

type Leaf = {
  readonly component: string
  readonly about: string
  readonly id: JsonObject
  readonly field: JsonObject
  readonly operators: readonly Operator[]
  readonly value: JsonObject
}

/**
 * The language of conditions as components of the document: what `checkCondition` accepts, in the spelling in which it
 * stores it. What no schema can say stands in the descriptions.
 */
export function conditionComponents(): Record<string, JsonObject> {
  const leaves = [...attributeLeaves(), membershipLeaf()]
  return {
    Condition: group(),
    ConditionLeaf: {
      description:
        'A comparison of one attribute, of the form that its type has. `tenant-schemas` tells which attributes there are; ' +
        'on a change, what the condition reads already may be read on, also when no object has it any more. What only a ' +
        'group has is null, if it is there.',
      not: {
        anyOf: ['groupOperator', 'conditions'].map((name) => ({ properties: { [name]: GIVEN }, required: [name] })),
      },
      anyOf: leaves.map(({ component }) => schemaReference(component)),
    },
    ...Object.fromEntries(leaves.map((leaf) => [leaf.component, described(leaf)])),
  }
}

const GIVEN: JsonObject = { not: { type: 'null' } }

function group(): JsonObject {
  return {
    type: 'object',
    description:
      'A group of a condition, and the root of one: `AND` every child, `OR` at least one, `NOT` none, `XOR` exactly ' +
      `one. At most ${MAX_DEPTH} groups deep, with at most ${MAX_LEAF_COUNT} leaves in all. The case of operators does ` +
      'not matter; they are stored as written here. Unknown members are dropped.',
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

/** One form for each type that attributes have. */
function attributeLeaves(): Leaf[] {
  const names = [...conditionSchema({ identity: [], orgUnit: [], relationship: [] })]
  const byType = Map.groupBy(
    names.filter(([name]) => name !== MEMBER_OF_COLLECTION),
    ([, type]) => type,
  )
  return [...byType].map(([type, entries]) => {
    const ids = entries.map(([name]) => name)
    const [first = ''] = ids
    return {
      component: `${type}Condition`,
      about: `Compares an attribute of type ${type}.`,
      id:
        type === 'String'
          ? { anyOf: [words(ids), { type: 'string', pattern: `^${CUSTOM_NAME_PATTERN}$` }] }
          : words(ids),
      field: fieldOf(type, ids),
      operators: OPERATORS_OF[type],
      value: VALUES[comparedType(first, type)],
    }
  })
}

/** `field` reads the attribute that `id` names, perhaps through functions. */
function fieldOf(type: AttributeType, ids: readonly string[]): JsonObject {
  if (type === 'String') {
    return {
      type: 'string',
      description:
        'The `id`, or functions around it: `ToUpper(id)`, `ToLower(id)`, `Substring(id,start,length)`, nested at will.',
      pattern: `^(?:(?:ToUpper|ToLower|Substring)\\()*(?:${ids.join('|')}|${CUSTOM_NAME_PATTERN})(?:(?:,\\d{1,15},\\d{1,15})?\\))*$`,
    }
  }
  if (type === 'DateTime') {
    return {
      type: 'string',
      description: 'The `id`, `AddDays(id,days)`, or `Today()`, which does not read the attribute.',
      pattern: `^(?:${ids.join('|')}|AddDays\\((?:${ids.join('|')}),${DAYS_PATTERN}\\)|Today\\(\\))$`,
    }
  }
  return { ...words(ids), description: 'The same as `id`.' }
}

function membershipLeaf(): Leaf {
  const name: JsonObject = { type: 'string', const: MEMBER_OF_COLLECTION }
  return {
    component: 'MembershipCondition',
    about: 'Asks for membership of other collections, of either kind.',
    id: name,
    field: name,
    operators: MEMBERSHIP_OPERATORS,
    value: { ...VALUES.Guid, description: 'The id of a collection.' },
  }
}

/** The value goes with the operator: a list for `In`, none for `IsNull`, else one. */
function described({ about, id, field, operators, value }: Leaf): JsonObject {
  const takingOne = operators.filter((operator) => operator !== 'In' && operator !== 'IsNull')
  const list: JsonObject = { type: 'array', maxItems: MAX_ENTRY_COUNT, items: value }
  return {
    type: 'object',
    description: about,
    required: ['id', 'field', 'operator'],
    properties: { id, field },
    anyOf: [
      { required: ['operator', 'value'], properties: { operator: words(takingOne), value } },
      ...(operators.includes('In')
        ? [{ required: ['operator', 'value'], properties: { operator: words(['In']), value: list } }]
        : []),
      ...(operators.includes('IsNull')
        ? [
            {
              required: ['operator'],
              properties: { operator: words(['IsNull']), value: { description: 'Ignored, and not stored.' } },
            },
          ]
        : []),
    ],
  }
}

function words(allowed: readonly string[]): JsonObject {
  return { type: 'string', enum: allowed }
}
