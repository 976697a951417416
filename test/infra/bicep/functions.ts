import {
  ANY,
  arrayOf,
  BOOL,
  choiceOf,
  INT,
  OPEN_OBJECT,
  objectOf,
  optionsOf,
  type Property,
  STRING,
  type ValueType,
} from './value-type.ts'

/** Bicep's functions: their parameters (`?` may be left out, `...` may be repeated) and their result. */
const SIGNATURES = `
any(any) any
array(any) array
base64(string) string
base64ToString(string) string
cidrHost(string, int) string
cidrSubnet(string, int, int) string
coalesce(any, any...) any
concat(any...) any
contains(any, any) bool
dateTimeAdd(string, string, string?) string
dateTimeFromEpoch(int) string
dateTimeToEpoch(string) int
deployment() object
empty(any) bool
endsWith(string, string) bool
environment() object
extensionResourceId(string, string, string...) string
filter(array, any) array
first(any) any
flatten(array) array
format(string, any...) string
guid(string, string...) string
indexOf(any, any) int
int(any) int
intersection(any, any...) any
items(object) array
join(array, string) string
json(string) any
last(any) any
length(any) int
loadFileAsBase64(string) string
loadJsonContent(string, string?, string?) any
loadTextContent(string, string?) string
loadYamlContent(string, string?, string?) any
managementGroup(string?) scope
map(array, any) array
mapValues(object, any) object
max(any, any...) int
min(any, any...) int
newGuid() string
objectKeys(object) array
padLeft(any, int, string?) string
parseCidr(string) object
pickZones(string, string, string, int?, int?) array
range(int, int) array
readEnvironmentVariable(string, string?) string
reduce(array, any, any) any
reference(string, string?, string?) any
replace(string, string, string) string
resourceGroup(string?, string?) scope
resourceId(string, string, string...) string
shallowMerge(array) object
skip(any, int) any
sort(array, any) array
split(string, any) array
startsWith(string, string) bool
string(any) string
subscription(string?) scope
subscriptionResourceId(string, string, string...) string
substring(string, int, int?) string
take(any, int) any
tenant() scope
tenantResourceId(string, string, string...) string
toLower(string) string
toObject(array, any, any?) object
toUpper(string) string
trim(string) string
union(any, any, any...) any
uniqueString(string, string...) string
uri(string, string) string
uriComponent(string) string
uriComponentToString(string) string
utcNow(string?) string
`

export type Signature = {
  readonly parameters: readonly ValueType[]
  readonly minCount: number
  readonly maxCount: number
  readonly result: ValueType
}

const KINDS: Record<string, ValueType> = {
  any: ANY,
  array: arrayOf(ANY),
  bool: BOOL,
  int: INT,
  object: OPEN_OBJECT,
  string: STRING,
  scope: {
    kind: 'scope',
    properties: objectOf({
      id: STRING,
      name: STRING,
      location: STRING,
      tags: OPEN_OBJECT,
      subscriptionId: STRING,
      tenantId: STRING,
      displayName: STRING,
      properties: OPEN_OBJECT,
    }),
  },
}

/** Bicep's functions by name. */
export const FUNCTIONS: ReadonlyMap<string, Signature> = new Map(
  SIGNATURES.trim()
    .split('\n')
    .map((line) => {
      const [, name = '', list = '', result = ''] = /^(\w+)\((.*)\) (\w+)$/.exec(line) ?? []
      const parameters = list === '' ? [] : list.split(', ')
      const needed = parameters.filter((each) => !each.endsWith('?') && !each.endsWith('...'))
      const signature: Signature = {
        parameters: parameters.map((each) => KINDS[each.replace(/\W+$/, '')] ?? ANY),
        minCount: needed.length,
        maxCount: list.endsWith('...') ? Number.POSITIVE_INFINITY : parameters.length,
        result: KINDS[result] ?? ANY,
      }
      return [name, signature]
    }),
)

/** Functions that return secrets of a resource. They are called on the resource. */
export const KEY_FUNCTIONS: readonly string[] = ['listKeys', 'listSecrets', 'listConnectionStrings', 'listAccountSas']

/** The result type of a call, derived from its arguments where they are more specific than the signature. */
export function resultOf(name: string, given: readonly ValueType[], result: ValueType): ValueType {
  const [first = ANY, second = ANY] = given
  switch (name) {
    case 'union':
    case 'shallowMerge':
      return merged(given)
    case 'concat':
      return given.every((each) => each.kind === 'array') ? choiceArray(given) : STRING
    case 'filter':
    case 'sort':
    case 'take':
    case 'skip':
      return first.kind === 'array' ? first : ANY
    case 'map':
      return arrayOf(second)
    case 'first':
    case 'last':
      return first.kind === 'array' ? first.item() : first.kind === 'string' ? STRING : ANY
    case 'coalesce':
      return choiceOf(given.filter((each) => each.kind !== 'null'))
    case 'items':
      return arrayOf(objectOf({ key: STRING, value: ANY }))
    case 'split':
    case 'objectKeys':
      return arrayOf(STRING)
    case 'range':
      return arrayOf(INT)
    case 'environment':
      return objectOf({ name: STRING, suffixes: OPEN_OBJECT, resourceManager: STRING, authentication: OPEN_OBJECT })
    default:
      return result
  }
}

const choiceArray = (arrays: readonly ValueType[]): ValueType =>
  arrayOf(choiceOf(arrays.flatMap((each) => (each.kind === 'array' ? optionsOf(each.item()) : []))))

/** Merges objects, where later values win, or joins arrays. A property that only one alternative sets is optional. */
function merged(given: readonly ValueType[]): ValueType {
  if (given.every((each) => each.kind === 'array')) return choiceArray(given)
  const properties = new Map<string, Property>()
  for (const each of given) {
    const options = optionsOf(each)
    for (const option of options) {
      if (option.kind !== 'object' || option.others !== undefined) return OPEN_OBJECT
      for (const [name, property] of option.properties) {
        const before = properties.get(name)
        const isCertain = options.length === 1 && property.required
        const type = isCertain || !before ? property.type : () => choiceOf([before.type(), property.type()])
        properties.set(name, { ...property, type, required: isCertain || before?.required === true })
      }
    }
  }
  return { kind: 'object', properties }
}
