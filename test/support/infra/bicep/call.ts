import { isObject, Opaque, textOfValue, type Value } from './value.ts'

/** Results that only the cloud has. The rules do not depend on them, so they are constant. */
const SUBSCRIPTION = { id: '/subscriptions/<subscription>', tenantId: '00000000-0000-4000-8000-000000000001' }
const RESOURCE_GROUP = { id: `${SUBSCRIPTION.id}/resourceGroups/<group>`, name: '<group>' }
const ENVIRONMENT = {
  authentication: { loginEndpoint: 'https://login.microsoftonline.com/' },
  suffixes: { storage: 'core.windows.net' },
}

const isArray = (value: Value): value is readonly Value[] => Array.isArray(value)

const text = (value: Value | undefined): string => textOfValue(value ?? '')

/** The functions that the templates use. Undefined: only the cloud knows the result. */
const FUNCTIONS: Readonly<Record<string, (values: readonly Value[]) => Value | undefined>> = {
  cidrSubnet: () => undefined,
  concat: (values) => (values.every(isArray) ? values.flat() : undefined),
  empty: ([value]) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
  environment: () => ENVIRONMENT,
  guid: () => undefined,
  max: (values) => Math.max(...values.map(Number)),
  replace: ([whole, from, to]) => text(whole).replaceAll(text(from), text(to)),
  resourceGroup: () => RESOURCE_GROUP,
  split: ([whole, between]) => text(whole).split(text(between)),
  string: ([value]) => text(value),
  subscription: () => SUBSCRIPTION,
  subscriptionResourceId: ([type, name]) => `${SUBSCRIPTION.id}/providers/${text(type)}/${text(name)}`,
  toLower: ([value]) => text(value).toLowerCase(),
  union: (values) => (values.every(isObject) ? Object.assign({}, ...values) : undefined),
  uniqueString: () => 'a1b2c3d4e5f6g',
  utcNow: () => '2030-01-01',
}

/** The names of the known functions. */
export const FUNCTION_NAMES = Object.keys(FUNCTIONS)

/** The value of a call of a known function. */
export function call(name: string, values: readonly Value[]): Value {
  const value = FUNCTIONS[name]?.(values)
  return value ?? new Opaque(`${name}(${values.map(textOfValue).join(', ')})`, { call: { name, arguments: values } })
}
