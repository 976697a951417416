import { decoratorOf } from '../bicep/declared-type.ts'
import type { ParameterDeclaration, Template } from '../bicep/syntax.ts'
import type { ObjectValue, Value } from './value.ts'

/** All values of a parameter with few values, except its default. */
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

/** A number other than the default, for parameters in conditions such as `> 0`. */
const otherNumber = ({ type, default: given }: ParameterDeclaration): Value[] =>
  type.kind === 'named' && type.name === 'int' && given?.kind === 'number' && given.value === 0 ? [100] : []

/**
 * Sets of parameters to deploy with: the defaults; each Boolean parameter inverted alone; and all other values of the
 * parameters, combined across parameters. A rule that holds for all sets does not depend on a parameter.
 */
export function scenariosOf(template: Template): ObjectValue[] {
  const alternatives = template.declarations.flatMap((declaration): [string, Value[]][] => {
    if (declaration.kind !== 'parameter') return []
    const values = [...otherValues(declaration), ...otherNumber(declaration)]
    return values.length === 0 ? [] : [[declaration.name, values]]
  })
  const switches = alternatives.filter(([, [first]]) => typeof first === 'boolean')
  const roundCount = Math.max(0, ...alternatives.map(([, values]) => values.length))
  return [
    {},
    ...switches.map(([name, [value = true]]) => ({ [name]: value })),
    ...Array.from({ length: roundCount }, (_, round) =>
      Object.fromEntries(alternatives.map(([name, values]) => [name, values[round % values.length] ?? null])),
    ),
  ]
}
