import type { Parameter, Template } from './template.ts'
import { allowedValues, decoratorValue } from './template-parameters.ts'
import type { ObjectValue, Value } from './value.ts'

/** The values of a parameter with few values; of a number from 0 on, 0 and another one. */
function fewValues(parameter: Parameter): readonly Value[] {
  if (parameter.type === 'bool') return [true, false]
  const allowed = allowedValues(parameter)
  if (allowed.length > 0) return allowed
  return parameter.default?.text === '0' && decoratorValue(parameter, 'minValue') === 0 ? [0, 100] : []
}

/**
 * Sets of parameters to deploy with: the defaults; each Boolean parameter inverted alone; and all other values of the
 * parameters, combined across parameters. A rule that holds for all sets does not depend on a parameter.
 */
export function scenariosOf({ declarations }: Template): ObjectValue[] {
  const alternatives = declarations.flatMap((declaration): [string, readonly Value[]][] => {
    if (declaration.kind !== 'parameter') return []
    const usual = declaration.default?.text.replaceAll("'", '')
    const values = fewValues(declaration).filter((value) => String(value) !== usual)
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
