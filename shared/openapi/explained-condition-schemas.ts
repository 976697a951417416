import { GROUP_OPERATORS, GROUP_RANGES, OPERATORS } from '../domain/criteria/condition.ts'
import type { JsonObject } from '../kernel/json.ts'
import { schemaReference, words } from './schemas.ts'

/** A stored condition with its results on a row, as components of the document. */
export function explainedConditionComponents(): Record<string, JsonObject> {
  return { ExplainedCondition: explainedGroup(), ExplainedLeaf: EXPLAINED_LEAF }
}

const HOLDS: JsonObject = { type: 'boolean', description: 'Whether it holds on the row.' }

function explainedGroup(): JsonObject {
  return {
    type: 'object',
    description: 'A group of a stored condition, with its result on a row.',
    required: ['groupOperator', 'conditions', 'holds'],
    properties: {
      groupOperator: words(GROUP_OPERATORS),
      over: words(GROUP_RANGES),
      shownOn: {
        type: ['string', 'null'],
        description:
          'For a group over `AnyPosition`: the relationship of the person on whose row its conditions are shown, the ' +
          'first on which they hold; the explained row where they hold on none. Null for a row without a relationship.',
      },
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
    value: {
      description:
        'The stored value, or list of values; `hidden` when the caller may not read it. Absent for `IsNull`.',
    },
    holds: HOLDS,
    actual: {
      description:
        'The value on the row after the functions of `field`. Null when the attribute is missing, `hidden` when the ' +
        'caller may not read it. For `memberOfCollection`, those collections of the leaf that the row is a member of.',
      anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, { type: 'array', items: { type: 'string' } }],
    },
    compared: {
      description: 'Where the value is an attribute: its value on the row, null when it is missing.',
      anyOf: [{ type: ['string', 'number', 'boolean', 'null'] }, { type: 'array', items: { type: 'string' } }],
    },
    decides: {
      type: 'boolean',
      description: 'Whether this leaf alone, with the other result, would change the result of the whole condition.',
    },
  },
  additionalProperties: false,
}
