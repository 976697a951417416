import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { azureTypes } from './bicep/azure-types.ts'
import { checkTemplate } from './bicep/check-template.ts'
import { parseProject } from './bicep/read-project.ts'

/** Type data of one resource and its child. */
const TYPES = azureTypes({
  resources: { 'Microsoft.Test/shops@2024-01-01': 0, 'Microsoft.Test/shops/shelves@2024-01-01': 8 },
  types: [
    { $type: 'ResourceType', name: 'shops', body: { $ref: 1 }, writableScopes: 8 },
    {
      $type: 'ObjectType',
      properties: {
        name: { type: { $ref: 2 }, flags: 9 },
        id: { type: { $ref: 2 }, flags: 10 },
        location: { type: { $ref: 2 }, flags: 1 },
        tags: { type: { $ref: 6 }, flags: 0 },
        properties: { type: { $ref: 3 }, flags: 0 },
      },
    },
    { $type: 'StringType', minLength: 3, maxLength: 10, pattern: '^[a-z]+$' },
    {
      $type: 'ObjectType',
      properties: {
        size: { type: { $ref: 4 }, flags: 1 },
        openAt: { type: { $ref: 5 }, flags: 0 },
        heads: { type: { $ref: 7 }, flags: 0 },
        address: { type: { $ref: 2 }, flags: 2 },
      },
    },
    { $type: 'UnionType', elements: [{ $ref: 10 }, { $ref: 11 }, { $ref: 12 }] },
    { $type: 'IntegerType', minValue: 0, maxValue: 23 },
    { $type: 'ObjectType', properties: {}, additionalProperties: { $ref: 12 } },
    { $type: 'ArrayType', itemType: { $ref: 12 } },
    { $type: 'ResourceType', name: 'shelves', body: { $ref: 9 }, writableScopes: 8 },
    { $type: 'ObjectType', properties: { name: { type: { $ref: 12 }, flags: 9 } } },
    { $type: 'StringLiteralType', value: 'Small' },
    { $type: 'StringLiteralType', value: 'Large' },
    { $type: 'StringType' },
  ],
})

/** Errors of the checker for a file, `line: message`. The project also contains `other.bicep`. */
function faultsOf(text: string): string[] {
  const other = `param count int\nparam names string[] = []\noutput total int = count + length(names)\n`
  const { templates, faults } = parseProject(
    new Map([
      ['main.bicep', text],
      ['other.bicep', other],
    ]),
  )
  const main = templates.get('main.bicep')
  const found = main ? checkTemplate(main, templates, TYPES) : faults
  return found.map(({ line, message }) => `${line}: ${message}`)
}

const shop = (properties: string, more = '') => `resource shop 'Microsoft.Test/shops@2024-01-01' = {
  name: 'corner'
  location: 'here'
  properties: { ${properties} }
  ${more}
}`

describe('the checker accepts', () => {
  for (const [claim, text] of [
    ['conditions over several lines', "param a bool\noutput b string = a\n  ? 'yes'\n  : 'no'"],
    ['lambdas', `var a = [{ n: 'x' }]\noutput b array = map(filter(a, one => one.n == 'x'), one => '\${one.n}!')`],
    ['loops with an index', `var a = ['x', 'y']\noutput b array = [for (one, index) in a: '\${one}\${index}']`],
    ['conditional loops', "param a array\noutput b array = [for one in a: if (one != 'x') { n: one }]"],
    ['comments between everything', '// first\nparam a string /* what */ // more\n// last\noutput b string = a'],
    ['text over several lines with quotes in it', `output a string = '''\n'it' \${is}\n'''`],
    ['escapes', `output a string = 'it\\'s \\\${a} \\u{41}'`],
    ['user-defined types', 'type size = { width: int, height: int? }\nparam a size\noutput b int = a.width'],
    ['properties whose names are computed', `param a string\noutput b object = { '\${a}-b': 1, 'c.d': 2 }`],
    ['absent members behind .?', 'var a = { b: 1 }\noutput c int = a.?d ?? a.b'],
    [
      'a property that only one branch sets',
      "param a bool\nvar b = union({ c: 1 }, a ? { d: 'x' } : {})\noutput e string = b.d",
    ],
    ['a resource with all required properties', shop("size: 'Small', openAt: 8, heads: ['a']")],
    ['a property from one of two branches', `param a bool\n${shop("size: a ? 'Small' : 'Large'")}`],
    ['null for an optional property', shop("size: 'Small', openAt: null")],
    ['a child within its parent', shop("size: 'Small'", "resource shelf 'shelves' = { name: 'first' }")],
    [
      'an existing resource with only a name',
      "resource shop 'Microsoft.Test/shops@2024-01-01' existing = { name: 'corner' }\noutput a string = shop.properties.address",
    ],
    [
      'a module with its parameters',
      "module other 'other.bicep' = { name: 'other', params: { count: 1 } }\noutput a int = other.outputs.total",
    ],
  ] as const) {
    it(claim, () => assert.deepEqual(faultsOf(text), []))
  }
})

describe('the checker reports', () => {
  for (const [claim, text, fault] of [
    ['a bracket left open', 'output a object = {\n  b: 1\n', /syntax error|missing/],
    ['a string with a line break', "output a string = 'b\nc'", /1: a string must end on the line where it starts/],
    ['two statements on one line', 'param a int param b int', /two things on one line/],
    ['two items on one line', "output a array = ['b' 'c']", /two things on one line/],
    ['an operator at the beginning of a line', 'param a bool\noutput b bool = a\n  && !a', /one line/],
    [
      'a name misspelt within a lambda',
      'var a = [1]\noutput b array = map(a, one => onee)',
      /2: onee is not declared \(did you mean one\?\)/,
    ],
    [
      'a member that no item of a list has',
      "var a = [{ n: 'x' }]\noutput b array = [for one in a: one.m]",
      /object has no property m/,
    ],
    ['a loop over something else', "var a = 'x'\noutput b array = [for one in a: one]", /a loop needs an array/],
    ['a variable that is defined by itself', 'var a = b\nvar b = a\noutput c string = b', /is defined by itself/],
    ['a name that stands for two things', 'param a int\nvar a = 1\noutput b int = a', /2: a is declared twice/],
    ['a property set twice', 'output a object = { b: 1, b: 2 }', /b is set twice in one object/],
    [
      'a condition that is none',
      "param a string\noutput b string = a ? 'x' : 'y'",
      /condition must be of type bool, not string/,
    ],
    ['an output of another type', "output a int = 'x'", /a must be of type int, not 'x'/],
    ['a limit of the wrong kind', '@minValue(1)\nparam a string\noutput b string = a', /minValue applies to int/],
    [
      'a decorator that does not exist',
      "@descripton('x')\nparam a string\noutput b string = a",
      /decorator descripton does not exist/,
    ],
    ['a default beyond its limit', '@maxValue(3)\nparam a int = 4\noutput b int = a', /a must be at most 3, not 4/],
    ['an unused variable', 'var a = 1', /1: variable a is not used/],
    [
      'an unused existing resource',
      "resource shop 'Microsoft.Test/shops@2024-01-01' existing = { name: 'corner' }",
      /not used/,
    ],
    [
      'a value that a variable brings',
      `var a = 'Smal'\n${shop('size: a')}`,
      /1: properties\.size must be one of Small, Large, not 'Smal' \(did you mean Small\?\)/,
    ],
    [
      'a value that a loop brings',
      `var all = ['Small', 'Big']\nresource shops 'Microsoft.Test/shops@2024-01-01' = [for one in all: {\n  name: 'corner'\n  location: 'here'\n  properties: { size: one }\n}]`,
      /1: properties\.size .* not 'Big'/,
    ],
    [
      'a value that a parameter allows',
      `@allowed(['Small', 'Tiny'])\nparam a string\n${shop('size: a')}`,
      /properties\.size .* not 'Tiny'/,
    ],
    ['a read-only property', shop("size: 'Small', address: 'x'"), /properties\.address is read-only/],
    ['a required property that is null', shop('size: null'), /properties\.size may not be null/],
    ['a number beyond its limit', shop("size: 'Small', openAt: 24"), /properties\.openAt must be 0 to 23, not 24/],
    ['an item of the wrong type', shop("size: 'Small', heads: [1]"), /properties\.heads\[\] must be of type string/],
    ['a name that its pattern forbids', shop("size: 'Small'").replace('corner', 'Corner'), /2: name must match/],
    ['a name too long', shop("size: 'Small'").replace('corner', 'cornercorner'), /name must have 3 to 10 characters/],
    [
      'a child without its parent',
      "resource shelf 'Microsoft.Test/shops/shelves@2024-01-01' = { name: 'first' }",
      /child resource and has no parent/,
    ],
    [
      'a resource in a scope where it cannot be',
      `targetScope = 'subscription'\n${shop("size: 'Small'")}`,
      /cannot be deployed to the scope subscription/,
    ],
    [
      'a module of another scope',
      "targetScope = 'subscription'\nmodule other 'other.bicep' = { name: 'other', params: { count: 1 } }",
      /module other requires a scope of kind resourceGroup/,
    ],
    [
      'an item of the wrong type for a module',
      "module other 'other.bicep' = { name: 'other', params: { count: 1, names: [2] } }",
      /params\.names\[\] must be of type string/,
    ],
  ] as const) {
    it(claim, () => assert.match(faultsOf(text).join('\n'), fault))
  }
})
