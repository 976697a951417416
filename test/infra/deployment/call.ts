import { entriesOf, isObject, type ObjectValue, Opaque, placeObject, textOfValue, type Value } from './value.ts'

/** Results that only the cloud has. The rules do not depend on them, so they are constant. */
const SUBSCRIPTION = {
  id: '/subscriptions/<subscription>',
  subscriptionId: '<subscription>',
  tenantId: '00000000-0000-4000-8000-000000000001',
}
const RESOURCE_GROUP = {
  id: `${SUBSCRIPTION.id}/resourceGroups/<group>`,
  name: '<group>',
  location: '<location>',
  tags: {},
}
const ENVIRONMENT = {
  name: 'AzureCloud',
  resourceManager: 'https://management.azure.com/',
  authentication: { loginEndpoint: 'https://login.microsoftonline.com/' },
  suffixes: { storage: 'core.windows.net', keyvaultDns: '.vault.azure.net' },
}

const providerPath = (scope: string, [type, ...names]: readonly Value[]): string => {
  const [provider, ...segments] = textOfValue(type ?? '').split('/')
  return [
    scope,
    'providers',
    provider,
    ...segments.flatMap((each, index) => [each, textOfValue(names[index] ?? '')]),
  ].join('/')
}

const isEmpty = (value: Value | undefined): boolean =>
  value === null || value === '' || (typeof value === 'object' && isPlain(value) && Object.keys(value).length === 0)

const isPlain = (value: Value): boolean => isObject(value) || Array.isArray(value)

/** Functions whose result does not depend on the cloud. They return undefined if their arguments are not known. */
const EVALUATED: Readonly<Record<string, (given: readonly Value[]) => Value | undefined>> = {
  any: ([value]) => value,
  array: ([value]) => (Array.isArray(value) ? value : [value ?? null]),
  coalesce: (given) => given.find((each) => each !== null),
  concat: (given) => (given.every(Array.isArray) ? given.flat() : given.map(textOfValue).join('')),
  contains: ([whole, part]) => contains(whole, part),
  empty: ([value]) => isEmpty(value),
  endsWith: ([text, end]) => textOfValue(text ?? '').endsWith(textOfValue(end ?? '')),
  environment: () => ENVIRONMENT,
  first: ([list]) => (Array.isArray(list) || typeof list === 'string' ? (list[0] ?? null) : undefined),
  flatten: ([list]) => (Array.isArray(list) ? list.flat() : undefined),
  format: ([text, ...given]) =>
    textOfValue(text ?? '').replace(/\{(\d+)\}/g, (_, index) => textOfValue(given[Number(index)] ?? '')),
  int: ([value]) => (typeof value === 'number' || typeof value === 'string' ? Number(value) : undefined),
  items: ([object]) => (isObject(object) ? Object.entries(object).map(([key, value]) => ({ key, value })) : undefined),
  join: ([list, between]) => (Array.isArray(list) ? list.map(textOfValue).join(textOfValue(between ?? '')) : undefined),
  json: ([text]) => (typeof text === 'string' ? (JSON.parse(text) as Value) : undefined),
  last: ([list]) => (Array.isArray(list) || typeof list === 'string' ? (list.at(-1) ?? null) : undefined),
  length: ([value]) =>
    typeof value === 'string'
      ? value.length
      : isPlain(value ?? null)
        ? Object.keys(value as ObjectValue).length
        : undefined,
  max: (given) => extreme(given, Math.max),
  min: (given) => extreme(given, Math.min),
  objectKeys: ([object]) => (isObject(object) ? Object.keys(object) : undefined),
  range: ([start, count]) => Array.from({ length: Number(count) }, (_, index) => Number(start) + index),
  replace: ([text, from, to]) => textOfValue(text ?? '').replaceAll(textOfValue(from ?? ''), textOfValue(to ?? '')),
  resourceGroup: () => RESOURCE_GROUP,
  resourceId: (given) => providerPath(RESOURCE_GROUP.id, given),
  skip: ([list, count]) => (Array.isArray(list) || typeof list === 'string' ? list.slice(Number(count)) : undefined),
  split: ([text, between]) => textOfValue(text ?? '').split(textOfValue(between ?? '')),
  startsWith: ([text, start]) => textOfValue(text ?? '').startsWith(textOfValue(start ?? '')),
  string: ([value]) => textOfValue(value ?? null),
  subscription: () => SUBSCRIPTION,
  subscriptionResourceId: (given) => providerPath(SUBSCRIPTION.id, given),
  take: ([list, count]) => (Array.isArray(list) || typeof list === 'string' ? list.slice(0, Number(count)) : undefined),
  toLower: ([text]) => (typeof text === 'string' ? text.toLowerCase() : undefined),
  toUpper: ([text]) => (typeof text === 'string' ? text.toUpperCase() : undefined),
  trim: ([text]) => (typeof text === 'string' ? text.trim() : undefined),
  union: (given) => merged(given),
  uniqueString: () => 'a1b2c3d4e5f6g',
  utcNow: () => '2030-01-01',
}

/** The value of a call; opaque if only the cloud knows it. */
export function call(name: string, given: readonly Value[]): Value {
  const known = Object.hasOwn(EVALUATED, name) ? EVALUATED[name]?.(given) : undefined
  return known ?? new Opaque(`${name}(${given.map(textOfValue).join(', ')})`, { name, given })
}

function contains(whole: Value | undefined, part: Value | undefined): boolean | undefined {
  if (Array.isArray(whole)) return whole.some((each) => textOfValue(each) === textOfValue(part ?? null))
  if (isObject(whole)) return Object.hasOwn(whole, textOfValue(part ?? ''))
  return typeof whole === 'string' ? whole.includes(textOfValue(part ?? '')) : undefined
}

function extreme(given: readonly Value[], of: (...numbers: number[]) => number): number | undefined {
  const numbers = given.flat().map(Number)
  return numbers.some(Number.isNaN) ? undefined : of(...numbers)
}

/** Merges objects recursively, where later values win. Merges arrays without duplicates. */
function merged(given: readonly Value[]): Value | undefined {
  if (given.every(Array.isArray)) {
    const items = given.flat() as Value[]
    return [...new Map(items.map((item) => [textOfValue(item), item])).values()]
  }
  if (!given.every(isObject)) return undefined
  const all: Record<string, Value> = {}
  for (const object of given) {
    for (const [name, value] of Object.entries(object)) {
      const before = all[name]
      all[name] = isObject(before) && isObject(value) ? (merged([before, value]) ?? value) : value
    }
  }
  placeObject(all, given.flatMap(entriesOf))
  return all
}
