import { MAX_DEPTH } from '../domain/criteria/check-condition.ts'
import { MAX_ENTRY_COUNT } from '../domain/criteria/check-leaf.ts'
import { COMPUTED_ATTRIBUTES, type ComputedName } from '../domain/criteria/computed-attributes.ts'
import type { Operator } from '../domain/criteria/condition.ts'
import { MAX_LEAF_COUNT } from '../domain/criteria/condition-findings.ts'
import { FUNCTION_TYPES, type FunctionName } from '../domain/criteria/field-expression.ts'
import { MEMBERSHIP_OPERATORS, OPERATORS_OF } from '../domain/criteria/operators-of-types.ts'
import { type PublicFile, type PublicFiles, textFile } from '../http/public-files.ts'

const OPERATOR_MEANINGS: Record<Operator, string> = {
  Equals: 'The values are the same.',
  NotEquals: 'They are not the same, or the attribute is missing.',
  Contains: 'A text contains the value; a list has it as an entry.',
  NotContains: 'It does not, or the attribute is missing.',
  ContainsAny: `A list of texts has at least one of up to ${MAX_ENTRY_COUNT} values as an entry.`,
  StartsWith: 'A text starts with the value.',
  EndsWith: 'A text ends with the value.',
  In: `The value is one of a list of up to ${MAX_ENTRY_COUNT} values.`,
  GreaterThan: 'Later or greater. Texts are ordered by code point.',
  GreaterThanOrEqual: 'Later or greater, or equal.',
  LessThan: 'Earlier or less.',
  LessThanOrEqual: 'Earlier or less, or equal.',
  IsNull: 'The attribute is missing. Takes no value. Its opposite is a NOT group around it.',
}

const FUNCTIONS: Record<FunctionName, readonly [call: string, meaning: string]> = {
  Substring: ['Substring(id,start,length)', 'A part of the text. The first character has the number 0.'],
  ToUpper: ['ToUpper(id)', 'The text in capital letters.'],
  ToLower: ['ToLower(id)', 'The text in small letters.'],
  AddDays: ['AddDays(id,days)', 'The time so many days later; earlier for a negative number.'],
  Today: [
    'Today()',
    'The beginning of the day of evaluation in the time zone of the tenant. As a value also AddDays(Today(),-30).',
  ],
}

const COMPUTED_MEANINGS: Record<ComputedName, string> = {
  relationshipIsActive: 'The day of its end date has not passed. The start date does not matter.',
  relationshipIsPrimary: 'It is the primary position of the person.',
  orgUnitWithAncestors: 'The unit, its parent, and so on up to the root.',
  identityManagedOrgUnits: 'The units whose manager the person is.',
  identityDeputyOfOrgUnits: 'The units one of whose deputies the person is.',
  identityHasReports: 'Some active position has the person as its manager, directly or through its unit.',
}

type Example = {
  readonly meaning: string
  readonly elsewhere?: { readonly product: string; readonly rule: string }
  readonly condition: object
}

export type ConditionLanguagePage = {
  /** The path of the page. Its style sheet has the same path with `.css`. */
  readonly path: string
  readonly examples: readonly Example[]
}

/** The page that explains the language of conditions: what the checker accepts, with examples. */
export function conditionLanguagePage({ path, examples }: ConditionLanguagePage): PublicFiles {
  const headers = {
    'content-security-policy':
      "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  }
  return new Map<string, PublicFile>([
    [path, { ...textFile('text/html', () => page(path, examples)), headers }],
    [`${path}.css`, textFile('text/css', () => STYLE)],
  ])
}

function page(path: string, examples: readonly Example[]): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>The language of conditions</title>
    <link rel="stylesheet" href="${path}.css">
  </head>
  <body>
    <main>
${[introduction(), values(), operators(), functions(), specialAttributes(), positions(), warnings(), shown(examples)].join('\n')}
    </main>
  </body>
</html>
`
}

const introduction = () => `<h1>The language of conditions</h1>
<p>A criteria collection has a condition. It is evaluated on each <em>row</em>: a person with one of their positions and
its unit. A person without positions has one row, and so has a unit without positions. An object is a member when the
condition holds on at least one of its rows. Two leaves of an AND group speak of the same position.</p>
<h2>Form</h2>
${code({
  groupOperator: 'AND',
  conditions: [
    { id: 'relationshipTitle', field: 'ToLower(relationshipTitle)', operator: 'StartsWith', value: 'nurse' },
    { groupOperator: 'NOT', conditions: [{ id: 'identityEmail', field: 'identityEmail', operator: 'IsNull' }] },
  ],
})}
<p>A <em>group</em> has a <code>groupOperator</code> and <code>conditions</code>: <code>AND</code> holds when all of them
hold, <code>OR</code> when one does, <code>NOT</code> when none does. A <em>leaf</em> has an attribute as <code>id</code>,
the attribute or functions of it as <code>field</code>, an <code>operator</code> and a <code>value</code>. A condition is a
group, has at most ${MAX_DEPTH} levels and ${MAX_LEAF_COUNT} leaves. Operators are accepted in any case and stored as
written here. <code>GET /collections-criteria/beta/tenant-schemas</code> lists the attributes with their types.</p>
<p>When an attribute is missing on a row, <code>IsNull</code>, <code>NotEquals</code> and <code>NotContains</code> hold, and
no other operator does.</p>`

const values = () => `<h2>Values</h2>
${table(
  ['Type', 'Value'],
  [
    [
      'String',
      'A text. Letters are compared with their case, by code point, in composed form (NFC). Blanks at the ends of values and data do not count; results of Substring keep theirs.',
    ],
    ['Integer', 'A whole number of at most 16 digits, or a text of one.'],
    ['Boolean', 'true or false.'],
    [
      'DateTime',
      'An ISO 8601 date or time; <code>Today()</code>; <code>AddDays(Today(),-30)</code>. A date means its beginning in the time zone of the tenant.',
    ],
    ['Guid', 'The id of an object, in any case.'],
    ['List, ExternalList, Array', 'One entry of the list.'],
    ['StringList', 'One text of the list, with its case; with <code>ContainsAny</code> a list of texts.'],
  ],
)}
<p>A value can be another attribute of the same row, of the same type: <code>{ "attribute": "identityId" }</code>. With
<code>Contains</code>, a list is compared with the id of an object, a StringList with a String. Such a value takes no function, and is not allowed with
<code>In</code> and <code>ContainsAny</code>.</p>
<p>Attributes of one’s own are of type String, unless a connector gives them another type with <code>attributeTypes</code>:
Integer, Boolean, DateTime or StringList. A value that does not read as its type counts as missing.</p>`

function operators(): string {
  const types = Object.entries(OPERATORS_OF)
  const rows = Object.entries(OPERATOR_MEANINGS).map(([operator, meaning]) => {
    const allowed = types.filter(([, operators]) => operators.includes(operator as Operator)).map(([type]) => type)
    return [`<code>${operator}</code>`, meaning, allowed.join(', ')]
  })
  return `<h2>Operators</h2>\n${table(['Operator', 'Holds when', 'Types'], rows)}`
}

function functions(): string {
  const rows = Object.entries(FUNCTIONS).map(([name, [call, meaning]]) => [
    `<code>${call}</code>`,
    meaning,
    FUNCTION_TYPES[name as FunctionName],
  ])
  return `<h2>Functions in <code>field</code></h2>
${table(['Function', 'Result', 'Type'], rows)}
<p>Functions of texts can be nested. Any other combination is refused.</p>`
}

function specialAttributes(): string {
  const rows = Object.entries(COMPUTED_ATTRIBUTES).map(([name, { type }]) => [
    `<code>${name}</code>`,
    type,
    COMPUTED_MEANINGS[name as ComputedName],
  ])
  const operators = MEMBERSHIP_OPERATORS.map((operator) => `<code>${operator}</code>`).join(', ')
  return `<h2>Computed attributes</h2>
${table(
  ['Attribute', 'Type', 'Meaning'],
  [
    ...rows,
    [
      '<code>memberOfCollection</code>',
      'Guid',
      `The person, position or unit is a member of another collection of any kind. Operators: ${operators}.`,
    ],
    [
      '<code>directMemberOfDirectoryGroups</code>',
      'List',
      'Groups of the directory whose direct member the account is. Not those that the collection fills itself.',
    ],
    ['<code>assignedLicenses</code>', 'List', 'Licenses of the account.'],
  ],
)}`
}

const positions = () => `<h2>Any position of the person</h2>
<p>A group with <code>"over": "AnyPosition"</code> holds on a row when some row of the same person satisfies it. So "has no
employee position" is a NOT around such a group. It is not nested in another one, and not used in collections of
units.</p>`

const warnings = () => `<h2>Refusals and warnings</h2>
<p>A condition that cannot be evaluated is refused with the leaf as target: an unknown attribute, an operator or function
that the type does not have, a value that does not read as the type, an unknown member that resembles a known one. A
condition that reads the group that it fills is refused as well.</p>
<p>Warnings follow from the condition alone, whatever the data: <code>NeverHolds</code> and <code>AlwaysHolds</code> for the
smallest group of which that is proved, <code>Redundant</code> for a leaf that another one makes superfluous. Other
conditions can have the same faults without a warning.</p>`

function shown(examples: readonly Example[]): string {
  const parts = examples.map(({ meaning, elsewhere, condition }) => {
    const other =
      elsewhere === undefined
        ? ''
        : `<p>${elsewhere.product}:</p>\n<pre><code>${escaped(elsewhere.rule)}</code></pre>\n<p>Here:</p>\n`
    return `<section>\n<h3>${escaped(meaning)}</h3>\n${other}${code(condition)}\n</section>`
  })
  return `<h2>Examples</h2>\n${parts.join('\n')}`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((title) => `<th scope="col">${title}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')
  return `<div class="wide"><table><thead><tr>${head}</tr></thead>\n<tbody>${body}</tbody></table></div>`
}

const code = (value: object) => `<pre><code>${escaped(JSON.stringify(value, null, 2))}</code></pre>`

const escaped = (plain: string) => plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const STYLE = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
pre, .wide { overflow-x: auto; }
pre { padding: 0.75rem; border: 1px solid color-mix(in srgb, currentcolor 25%, transparent); border-radius: 0.25rem; }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: start; vertical-align: top; }
`
