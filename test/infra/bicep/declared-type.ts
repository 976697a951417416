import type { CallExpression, ParameterDeclaration, TypeExpression } from './syntax.ts'
import { ANY, arrayOf, BOOL, choiceOf, INT, OPEN_OBJECT, type Property, STRING, type ValueType } from './value-type.ts'

const PRIMITIVES: Record<string, ValueType> = {
  string: STRING,
  secureString: STRING,
  int: INT,
  bool: BOOL,
  array: arrayOf(ANY),
  object: OPEN_OBJECT,
  secureObject: OPEN_OBJECT,
}

/** Finds a type by its declared name; undefined if there is none. */
export type NamedTypes = (name: string) => ValueType | undefined

/** Converts a type expression to a type of the checker. */
export function declaredType(type: TypeExpression, named: NamedTypes): ValueType {
  switch (type.kind) {
    case 'named':
      return PRIMITIVES[type.name] ?? named(type.name) ?? ANY
    case 'literal':
      return literalType(type.value)
    case 'array': {
      const item = declaredType(type.item, named)
      return arrayOf(item)
    }
    case 'union':
      return choiceOf(type.options.map((option) => declaredType(option, named)))
    case 'object': {
      const properties = type.properties.map(({ name, type: each }): [string, Property] => {
        const known = declaredType(each, named)
        const isOptional = known.kind === 'choice' && known.options.some(({ kind }) => kind === 'null')
        return [name, { type: () => known, required: !isOptional, readOnly: false }]
      })
      return { kind: 'object', properties: new Map(properties) }
    }
    case 'other':
      return ANY
  }
}

function literalType(value: string | number | boolean | null): ValueType {
  if (value === null) return { kind: 'null' }
  if (typeof value === 'string') return { kind: 'string', value }
  return typeof value === 'number' ? { kind: 'int', value } : { kind: 'bool', value }
}

/** A parameter's type, narrowed by its decorators. */
export function parameterType(parameter: ParameterDeclaration, named: NamedTypes): ValueType {
  const type = declaredType(parameter.type, named)
  const allowed = decoratorOf(parameter.decorators, 'allowed')?.arguments[0]
  if (allowed?.kind === 'array') {
    const options = allowed.items.flatMap((item) => {
      if (item.kind === 'string') return [literalType(item.parts.join(''))]
      return item.kind === 'number' || item.kind === 'boolean' ? [literalType(item.value)] : []
    })
    return choiceOf(options)
  }
  const limit = (name: string): number | undefined => {
    const given = decoratorOf(parameter.decorators, name)?.arguments[0]
    return given?.kind === 'number' ? given.value : undefined
  }
  const [minLength, maxLength] = [limit('minLength'), limit('maxLength')]
  const [minValue, maxValue] = [limit('minValue'), limit('maxValue')]
  if (type.kind === 'string') return { ...type, limits: { minLength, maxLength } }
  if (type.kind !== 'int') return type
  return { ...type, ...(minValue === undefined ? {} : { minValue }), ...(maxValue === undefined ? {} : { maxValue }) }
}

/** Whether a parameter is marked as secure, so that its value is not logged. */
export const isSecure = ({ decorators, type }: ParameterDeclaration): boolean =>
  decoratorOf(decorators, 'secure') !== undefined || (type.kind === 'named' && type.name.startsWith('secure'))

export const decoratorOf = (decorators: readonly CallExpression[], name: string): CallExpression | undefined =>
  decorators.find((decorator) => decorator.name === name)
