import type { AzureTypes, StoredType } from './azure-types.ts'
import { checkValue } from './check-value.ts'
import { evaluate } from './evaluate-expression.ts'
import type { Parameter } from './template.ts'
import { isObject, Opaque, type Value } from './value.ts'

const NO_TYPES: AzureTypes = { names: [], bodyOf: () => undefined, at: () => ({ $type: 'AnyType' }) }

/** The value of the argument of a decorator, which names nothing. */
export function decoratorValue({ decorators }: Pick<Parameter, 'decorators'>, name: string): Value | undefined {
  const node = decorators.get(name)
  if (node === undefined) return undefined
  return evaluate(node, new Map(), {
    types: NO_TYPES,
    valueOfName: () => undefined,
    readText: () => '',
    fault: () => undefined,
  })
}

/** The values that a parameter allows; empty without `@allowed`. */
export function allowedValues(parameter: Parameter): readonly Value[] {
  const allowed = decoratorValue(parameter, 'allowed')
  return Array.isArray(allowed) ? allowed : []
}

/** Checks a value against the type and the limits of a parameter. */
export function checkParameter(parameter: Parameter, value: Value, fault: (message: string) => void): void {
  if (value instanceof Opaque) return
  const { name, type } = parameter
  const isRightKind = type === 'array' ? Array.isArray(value) : type === 'object' ? isObject(value) : undefined
  if (isRightKind === false) fault(`${name} must be of type ${type}`)
  if (isRightKind !== undefined) return
  const allowed = allowedValues(parameter)
  if (allowed.length > 0 && !allowed.includes(value))
    fault(`${name} must be one of ${allowed.join(', ')}, not ${String(value)}`)
  checkValue(value, storedType(parameter), name, NO_TYPES, fault)
}

function storedType(parameter: Parameter): StoredType {
  const limits = ['minLength', 'maxLength', 'minValue', 'maxValue'].map((name) => [
    name,
    decoratorValue(parameter, name),
  ])
  const known = Object.fromEntries(limits.filter(([, value]) => value !== undefined))
  if (parameter.type === 'bool') return { $type: 'BooleanType' }
  return { $type: parameter.type === 'int' ? 'IntegerType' : 'StringType', ...known }
}
