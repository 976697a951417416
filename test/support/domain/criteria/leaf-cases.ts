import type { AttributeKind } from '../../../../shared/domain/core/core-object.ts'
import type { CustomType } from '../../../../shared/domain/core/custom-types.ts'
import type {
  CheckedLeaf,
  ComparedValue,
  FieldFunction,
  Operator,
} from '../../../../shared/domain/criteria/condition.ts'
import type { AttributeType } from '../../../../shared/domain/criteria/schema.ts'

/** The GUIDs that values have. */
export const [ONE, TWO] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const
const ABSENT = '33333333-3333-4333-8333-333333333333'
const MISSING = undefined

type Case = readonly [
  operator: Operator,
  operands: readonly ComparedValue[],
  matching: readonly unknown[],
  ...functions: FieldFunction[],
]
type Table = {
  readonly type: AttributeType
  /** Of an attribute, or the type of a custom one. */
  readonly kind: AttributeKind | CustomType
  /** The values of objects; undefined is a missing one. */
  readonly given: readonly unknown[]
  readonly cases: readonly Case[]
}

export const leafOf = (
  type: AttributeType,
  operator: Operator,
  values: readonly ComparedValue[],
  functions: readonly FieldFunction[] = [],
): CheckedLeaf => ({ kind: 'leaf', name: 'identityDisplayName', type, functions, operator, values })

const TO_UPPER: FieldFunction = { name: 'ToUpper' }
const FIRST_FIVE: FieldFunction = { name: 'Substring', start: 0, length: 5 }
/** In the order of code points. */
const TEXTS = [MISSING, 7, '', 'Night nurse', 'Nurse', 'Nurses', 'Zoë', 'nurse', '\uffff', '😀']
const midnight = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const today = { daysFromToday: 0 }
const LAST_OF_28 = '2024-02-28T23:59:59.999Z'
const FIRST_OF_29 = '2024-02-29T01:00:00+01:00'
const SECOND_OF_29 = '2024-02-29T00:00:00.001Z'
const DATES = [MISSING, 'soon', '2024-02-28', LAST_OF_28, '2024-02-29', FIRST_OF_29, SECOND_OF_29, '2024-03-01']
export const GUID_CASES: readonly Case[] = [
  ['Equals', [ONE], [ONE]],
  ['Equals', [ABSENT], []],
  ['NotEquals', [ONE], [MISSING, TWO]],
  ['NotEquals', [ABSENT], [MISSING, ONE, TWO]],
  ['In', [ABSENT, TWO], [TWO]],
  ['In', [], []],
  ['IsNull', [], [MISSING]],
]
const LISTS: readonly Case[] = [
  ['Contains', [ONE], [[ONE], [TWO, ONE]]],
  ['Contains', [TWO], [[TWO, ONE]]],
  ['Contains', [ABSENT], []],
  ['NotContains', [TWO], [MISSING, [], [ONE]]],
  ['NotContains', [ABSENT], [MISSING, [], [ONE], [TWO, ONE]]],
  ['IsNull', [], [MISSING]],
]

/** What each operator finds among values of each type. */
export const LEAF_TABLES: Readonly<Record<string, Table>> = {
  'a text': {
    type: 'String',
    kind: 'string',
    given: TEXTS,
    cases: [
      ['Equals', ['Nurse'], ['Nurse']],
      ['Equals', [''], ['']],
      ['Equals', ['NURSE'], []],
      ['NotEquals', ['Nurse'], [MISSING, 7, '', 'Night nurse', 'Nurses', 'Zoë', 'nurse', '\uffff', '😀']],
      ['NotEquals', ['absent'], TEXTS],
      ['In', ['absent', '😀', 'Nurse', ''], ['', 'Nurse', '😀']],
      ['In', [], []],
      ['Contains', ['nurse'], ['Night nurse', 'nurse']],
      ['Contains', ['urs'], ['Night nurse', 'Nurse', 'Nurses', 'nurse']],
      ['Contains', [''], TEXTS.slice(2)],
      ['NotContains', ['urs'], [MISSING, 7, '', 'Zoë', '\uffff', '😀']],
      ['NotContains', [''], [MISSING, 7]],
      ['StartsWith', ['Nurse'], ['Nurse', 'Nurses']],
      ['StartsWith', [''], TEXTS.slice(2)],
      ['EndsWith', ['nurse'], ['Night nurse', 'nurse']],
      ['EndsWith', ['Nurses'], ['Nurses']],
      ['EndsWith', [''], TEXTS.slice(2)],
      ['GreaterThan', ['Nurse'], ['Nurses', 'Zoë', 'nurse', '\uffff', '😀']],
      ['GreaterThan', ['\uffff'], ['😀']],
      ['GreaterThanOrEqual', ['Nurse'], ['Nurse', 'Nurses', 'Zoë', 'nurse', '\uffff', '😀']],
      ['LessThan', ['Nurse'], ['', 'Night nurse']],
      ['LessThan', [''], []],
      ['LessThanOrEqual', ['Nurse'], ['', 'Night nurse', 'Nurse']],
      ['IsNull', [], [MISSING, 7]],
    ],
  },
  'a text after functions': {
    type: 'String',
    kind: 'string',
    given: TEXTS,
    cases: [
      ['Equals', ['NURSE'], ['Nurse', 'nurse'], TO_UPPER],
      ['Equals', ['NURSE'], ['Nurse', 'Nurses', 'nurse'], FIRST_FIVE, TO_UPPER],
      ['Equals', ['Nurse'], [], TO_UPPER],
      ['NotEquals', ['NURSE'], [MISSING, 7, '', 'Night nurse', 'Nurses', 'Zoë', '\uffff', '😀'], TO_UPPER],
      ['In', ['', 'ZOË', 'NURSE'], ['', 'Nurse', 'Zoë', 'nurse'], TO_UPPER],
      ['In', [], [], TO_UPPER],
      ['Contains', ['nurse'], ['nurse'], FIRST_FIVE],
      ['NotContains', ['NURSE'], [MISSING, 7, '', 'Zoë', '\uffff', '😀'], TO_UPPER],
      ['StartsWith', ['NURSE'], ['Nurse', 'Nurses', 'nurse'], TO_UPPER],
      ['EndsWith', ['urse'], ['Nurse', 'Nurses', 'nurse'], FIRST_FIVE],
      ['GreaterThan', ['NURSE'], ['Nurses', 'Zoë', '\uffff', '😀'], TO_UPPER],
      ['GreaterThanOrEqual', ['ZOË'], ['Zoë', '\uffff', '😀'], TO_UPPER],
      ['LessThan', ['NURSE'], ['', 'Night nurse'], TO_UPPER],
      ['LessThanOrEqual', ['NURSE'], ['', 'Night nurse', 'Nurse', 'nurse'], TO_UPPER],
      ['IsNull', [], [MISSING, 7], TO_UPPER],
    ],
  },
  'an integer of one’s own': {
    type: 'Integer',
    kind: 'Integer',
    given: [MISSING, '', 'x', '7.0', '-7', '6', '7', '+7', '007', ['7'], ['7', '8'], '8', '9007199254740993'],
    cases: [
      ['Equals', [7], ['7', '+7', '007', ['7']]],
      ['NotEquals', [7], [MISSING, '', 'x', '7.0', '-7', '6', ['7', '8'], '8', '9007199254740993']],
      ['In', [8, -7, 5], ['-7', '8']],
      ['In', [], []],
      ['GreaterThan', [7], ['8']],
      ['GreaterThanOrEqual', [7], ['7', '+7', '007', ['7'], '8']],
      ['LessThan', [7], ['-7', '6']],
      ['LessThanOrEqual', [7], ['-7', '6', '7', '+7', '007', ['7']]],
      ['IsNull', [], [MISSING, '', 'x', '7.0', ['7', '8'], '9007199254740993']],
    ],
  },
  'a boolean of one’s own': {
    type: 'Boolean',
    kind: 'Boolean',
    given: [MISSING, 'true', 'FALSE', ' True', 'yes', ['false']],
    cases: [
      ['Equals', ['true'], ['true', ' True']],
      ['NotEquals', ['true'], [MISSING, 'FALSE', 'yes', ['false']]],
      ['IsNull', [], [MISSING, 'yes']],
    ],
  },
  'a date of one’s own': {
    type: 'DateTime',
    kind: 'DateTime',
    given: [...DATES, ['2024-02-28'], '2024-02-30'],
    cases: [
      ['Equals', [today], ['2024-02-29', FIRST_OF_29]],
      ['LessThan', [today], ['2024-02-28', LAST_OF_28, ['2024-02-28']]],
      ['Equals', [midnight('2024-03-01')], ['2024-02-29', FIRST_OF_29], { name: 'AddDays', days: 1 }],
      ['IsNull', [], [MISSING, 'soon', '2024-02-30']],
    ],
  },
  'a list of texts': {
    type: 'StringList',
    kind: 'StringList',
    given: [MISSING, 'a', ['a'], ['A'], ['b', 'a'], [7]],
    cases: [
      ['Contains', ['a'], ['a', ['a'], ['b', 'a']]],
      ['Contains', ['A'], [['A']]],
      ['Contains', ['absent'], []],
      ['NotContains', ['a'], [MISSING, ['A'], [7]]],
      ['ContainsAny', ['b', 'A'], [['A'], ['b', 'a']]],
      ['ContainsAny', ['absent', 'a', 'a'], ['a', ['a'], ['b', 'a']]],
      ['ContainsAny', [], []],
      ['IsNull', [], [MISSING, [7]]],
    ],
  },
  'a date': {
    type: 'DateTime',
    kind: 'date',
    given: DATES,
    cases: [
      ['Equals', [midnight('2024-02-29')], ['2024-02-29', FIRST_OF_29]],
      ['Equals', [today], ['2024-02-29', FIRST_OF_29]],
      ['Equals', [{ daysFromToday: 1 }], ['2024-03-01']],
      ['Equals', [{ daysFromToday: -1 }], ['2024-02-28']],
      ['NotEquals', [today], [MISSING, 'soon', '2024-02-28', LAST_OF_28, SECOND_OF_29, '2024-03-01']],
      ['In', [midnight('1999-01-01'), { daysFromToday: 1 }, today], ['2024-02-29', FIRST_OF_29, '2024-03-01']],
      ['In', [], []],
      ['GreaterThan', [today], [SECOND_OF_29, '2024-03-01']],
      ['GreaterThanOrEqual', [today], ['2024-02-29', FIRST_OF_29, SECOND_OF_29, '2024-03-01']],
      ['LessThan', [midnight('2024-02-29')], ['2024-02-28', LAST_OF_28]],
      ['LessThanOrEqual', [midnight('2024-02-29')], ['2024-02-28', LAST_OF_28, '2024-02-29', FIRST_OF_29]],
      ['IsNull', [], [MISSING, 'soon']],
      ['Equals', [midnight('2024-03-01')], ['2024-02-29', FIRST_OF_29], { name: 'AddDays', days: 1 }],
      ['LessThanOrEqual', [today], ['2024-02-28'], { name: 'AddDays', days: 1 }],
      ['GreaterThanOrEqual', [today], ['2024-03-01'], { name: 'AddDays', days: -1 }],
      ['IsNull', [], [MISSING, 'soon'], { name: 'AddDays', days: 1 }],
    ],
  },
  'a boolean': {
    type: 'Boolean',
    kind: 'boolean',
    given: [MISSING, 'true', true, false],
    cases: [
      ['Equals', ['true'], [true]],
      ['Equals', ['false'], [false]],
      ['NotEquals', ['true'], [MISSING, 'true', false]],
      ['IsNull', [], [MISSING, 'true']],
    ],
  },
  'a GUID': { type: 'Guid', kind: 'guid', given: [MISSING, ONE, TWO], cases: GUID_CASES },
  'a GUID in upper case': {
    type: 'Guid',
    kind: 'guid',
    given: ['AAAAAAAA-0000-4000-8000-000000000000'],
    cases: [['Equals', ['aaaaaaaa-0000-4000-8000-000000000000'], ['AAAAAAAA-0000-4000-8000-000000000000']]],
  },
  'a list': { type: 'List', kind: 'guids', given: [MISSING, [], [ONE], [TWO, ONE]], cases: LISTS },
  'a list in the type ExternalList': {
    type: 'ExternalList',
    kind: 'guids',
    given: [MISSING, [], [ONE], [TWO, ONE]],
    cases: LISTS,
  },
  'a list in the type Array': {
    type: 'Array',
    kind: 'guids',
    given: [MISSING, [], [ONE], [TWO, ONE]],
    cases: LISTS,
  },
}
