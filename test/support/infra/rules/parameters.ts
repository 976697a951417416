import { type Report, suggestion } from '../bicep/fault.ts'
import type { Parameter, Template } from '../bicep/template.ts'
import { checkParameter, decoratorValue } from '../bicep/template-parameters.ts'
import type { Value } from '../bicep/value.ts'
import type { TemplateRule } from './rule.ts'

/** Parameters and outputs have descriptions. */
export const parametersAreDescribed: TemplateRule = ({ templates, report }) => {
  for (const { kind, name, at, decorators } of templates.flatMap(({ declarations }) => declarations)) {
    if (kind !== 'parameter' && kind !== 'output') continue
    if (String(decoratorValue({ decorators }, 'description') ?? '').trim() === '')
      report(at, `${kind} ${name} has no @description`)
  }
}

/** Decorators that constrain parameters, by type. Other types have few values or no such decorator. */
const CONSTRAINTS: Readonly<Record<string, readonly string[]>> = {
  string: ['allowed', 'minLength', 'maxLength'],
  int: ['allowed', 'minValue', 'maxValue'],
}

const parametersOf = ({ declarations }: Template): Parameter[] =>
  declarations.filter((candidate): candidate is Parameter => candidate.kind === 'parameter')

/** Parameters are constrained, so that invalid values are rejected before the deployment. */
export const parametersAreConstrained: TemplateRule = ({ templates, report }) => {
  for (const { name, at, type, decorators } of templates.flatMap(parametersOf)) {
    const constraints = CONSTRAINTS[type]
    if (constraints === undefined || constraints.some((decorator) => decorators.has(decorator))) continue
    report(at, `parameter ${name} has none of ${constraints.map((decorator) => `@${decorator}`).join(', ')}`)
  }
}

/** A variable of the azd environment, with its optional default after `=`. */
const SUBSTITUTION = /^\$\{\w+(?:=(.*))?\}$/

/**
 * Checks a parameters file (JSON) against its template.
 * @param isComplete Whether the file must set every parameter without a default.
 */
export function checkParametersFile(
  file: string,
  text: string,
  template: Template,
  isComplete: boolean,
  report: Report,
): void {
  const { parameters = {} } = JSON.parse(text) as { parameters?: Record<string, { value: Value }> }
  const known = parametersOf(template)
  const lineOf = (name: string) => text.slice(0, Math.max(0, text.indexOf(`"${name}"`))).split('\n').length
  for (const [name, { value }] of Object.entries(parameters)) {
    const at = { file, line: lineOf(name) }
    const parameter = known.find((candidate) => candidate.name === name)
    const effective = parameter && substituted(value, parameter)
    if (parameter === undefined)
      report(
        at,
        `parameter ${name} does not exist${suggestion(
          name,
          known.map((parameter) => parameter.name),
        )}`,
      )
    else if (effective !== undefined) checkParameter(parameter, effective, (message) => report(at, message))
  }
  if (parameters.production?.value === true && parameters.vnetEnabled?.value !== true) {
    report({ file, line: lineOf('production') }, 'production must not have public access: vnetEnabled must be true')
  }
  if (!isComplete) return
  for (const { name, default: usual } of known) {
    if (usual === undefined && parameters[name] === undefined) report({ file, line: 1 }, `parameter ${name} is not set`)
  }
}

/** azd inserts the text of a variable as the value, for any type. Undefined: the variable has no default. */
function substituted(value: Value, { type }: Parameter): Value | undefined {
  const substitution = typeof value === 'string' ? SUBSTITUTION.exec(value) : null
  if (substitution === null) return value
  const [, usual = ''] = substitution
  if (usual === '') return undefined
  return type === 'string' ? usual : (JSON.parse(usual) as Value)
}
