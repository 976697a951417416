import { decoratorOf } from '../bicep/declared-type.ts'
import type { ParameterDeclaration, Template } from '../bicep/syntax.ts'
import type { ObjectValue, Value } from './value.ts'

/** Every other value a parameter with few of them may have, its default left out. */
function otherValues({ type, decorators, default: given }: ParameterDeclaration): Value[] {
  if (type.kind === 'named' && type.name === 'bool') {
    return [true, false].filter((value) => given?.kind !== 'boolean' || given.value !== value)
  }
  const allowed = decoratorOf(decorators, 'allowed')?.arguments[0]
  const items = allowed?.kind === 'array' ? allowed.items : []
  const values = items.flatMap((item): Value[] => {
    if (item.kind === 'string') return [item.parts.join('')]
    return item.kind === 'number' ? [item.value] : []
  })
  const usual = given?.kind === 'string' ? given.parts.join('') : given?.kind === 'number' ? given.value : undefined
  return values.filter((value) => value !== usual)
}

/** A number that is not the default, where one has to be tried: what is conditional on `> 0` for one. */
const otherNumber = ({ type, default: given }: ParameterDeclaration): Value[] =>
  type.kind === 'named' && type.name === 'int' && given?.kind === 'number' && given.value === 0 ? [100] : []

/**
 * Sets of parameters to deploy with: the defaults, each other value by itself, and all first other values together. What
 * holds in all of them does not hang on a parameter.
 */
export function scenariosOf(template: Template): ObjectValue[] {
  const single: ObjectValue[] = []
  const together: Record<string, Value> = {}
  for (const declaration of template.declarations) {
    if (declaration.kind !== 'parameter') continue
    const values = [...otherValues(declaration), ...otherNumber(declaration)]
    for (const value of values) single.push({ [declaration.name]: value })
    if (values[0] !== undefined) together[declaration.name] = values[0]
  }
  return [{}, ...single, together]
}
