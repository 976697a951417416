import { checkAssignable } from '../bicep/assignable.ts'
import { parametersType } from '../bicep/check-module.ts'
import { type Report, suggestion } from '../bicep/fault.ts'
import type { Template } from '../bicep/syntax.ts'
import { ANY, arrayOf, choiceOf, objectOf, type ValueType } from '../bicep/value-type.ts'
import type { TemplateRule } from './rule.ts'

/** Parameters and outputs have descriptions. */
export const parametersAreDescribed: TemplateRule = ({ templates, report }) => {
  for (const { kind, name, at, decorators } of templates.flatMap(({ declarations }) => declarations)) {
    if (kind !== 'parameter' && kind !== 'output') continue
    const description = decorators.find((each) => each.name === 'description')?.arguments[0]
    const text = description?.kind === 'string' ? description.parts.join('').trim() : ''
    if (text === '') report(at, `${kind} ${name} has no @description`)
  }
}

/** Decorators that constrain parameters, by type. Other types have few values or no such decorator. */
const CONSTRAINTS: Readonly<Record<string, readonly string[]>> = {
  string: ['allowed', 'minLength', 'maxLength'],
  int: ['allowed', 'minValue', 'maxValue'],
}

/** Parameters are constrained, so that invalid values are rejected before the deployment. */
export const parametersAreConstrained: TemplateRule = ({ templates, report }) => {
  for (const declaration of templates.flatMap(({ declarations }) => declarations)) {
    if (declaration.kind !== 'parameter' || declaration.type.kind !== 'named') continue
    const { name, at, decorators, type } = declaration
    const constraints = CONSTRAINTS[type.name]
    if (constraints === undefined || decorators.some((each) => constraints.includes(each.name))) continue
    report(at, `parameter ${name} has none of ${constraints.map((each) => `@${each}`).join(', ')}`)
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
  const { parameters = {} } = JSON.parse(text) as { parameters?: Record<string, { value?: unknown }> }
  const known = parametersType(template)
  const lineOf = (name: string) => text.slice(0, Math.max(0, text.indexOf(`"${name}"`))).split('\n').length
  for (const [name, { value }] of Object.entries(parameters)) {
    const at = { file, line: lineOf(name) }
    const type = known.properties.get(name)?.type()
    if (type === undefined) report(at, `parameter ${name} does not exist${suggestion(name, known.properties.keys())}`)
    else checkAssignable(typeOfJson(value, type), type, { at, path: name, report, needsRequired: true })
  }
  if (parameters.production?.value === true && parameters.vnetEnabled?.value !== true) {
    report({ file, line: lineOf('production') }, 'production must not have public access: vnetEnabled must be true')
  }
  if (!isComplete) return
  for (const [name, { required }] of known.properties) {
    if (required && parameters[name] === undefined) report({ file, line: 1 }, `parameter ${name} is not set`)
  }
}

function typeOfJson(value: unknown, wanted: ValueType): ValueType {
  if (typeof value === 'string') {
    const substitution = SUBSTITUTION.exec(value)
    if (substitution === null) return { kind: 'string', value }
    // azd inserts the text of the variable as the value of the parameter, for any type.
    const [, usual] = substitution
    if (usual === undefined || usual === '') return ANY
    const isText =
      wanted.kind === 'string' || (wanted.kind === 'choice' && wanted.options.some(({ kind }) => kind === 'string'))
    return isText ? { kind: 'string', value: usual } : typeOfJson(JSON.parse(usual), wanted)
  }
  if (typeof value === 'number') return { kind: 'int', value }
  if (typeof value === 'boolean') return { kind: 'bool', value }
  if (Array.isArray(value)) return arrayOf(choiceOf(value.map((each) => typeOfJson(each, ANY))))
  if (typeof value !== 'object' || value === null) return { kind: 'null' }
  return objectOf(Object.fromEntries(Object.entries(value).map(([name, each]) => [name, typeOfJson(each, ANY)])))
}
