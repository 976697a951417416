import { checkAssignable } from './assignable.ts'
import type { AzureTypes } from './azure-types.ts'
import { checkModule, moduleType, namedTypesOf, type Templates, targetScopeOf } from './check-module.ts'
import { checkResource } from './check-resource.ts'
import { declaredType, parameterType } from './declared-type.ts'
import type { Fault, Report } from './fault.ts'
import { type Inference, infer } from './infer.ts'
import { fullTypes, resourceType } from './resource-type.ts'
import { type NamedSymbol, type Scope, scopeOf } from './scope.ts'
import type { Declaration, ParameterDeclaration, Template } from './syntax.ts'
import { ANY, type ValueType } from './value-type.ts'

const DECORATORS: readonly string[] = [
  ...['description', 'allowed', 'minValue', 'maxValue', 'minLength', 'maxLength', 'secure', 'metadata'],
  ...['batchSize', 'export', 'discriminator', 'sealed'],
]

/** Checks a template against its own declarations, its modules and the types of the Azure resources. */
export function checkTemplate(template: Template, templates: Templates, azureTypes: AzureTypes): Fault[] {
  const faults = new Map<string, Fault>()
  // A variable that is used twice is checked twice.
  const report: Report = ({ file, line }, message) => faults.set(`${file}:${line}:${message}`, { file, line, message })
  const scope = scopeOf(template)
  const types = fullTypes(template)
  const declared = namedTypesOf(template)
  const typeOf = (declaration: Declaration): ValueType => {
    switch (declaration.kind) {
      case 'parameter':
        return parameterType(declaration, declared)
      case 'variable':
        return infer(declaration.value, new Map(), context)
      case 'resource':
        return resourceType(declaration, types, azureTypes)
      case 'module':
        return moduleType(declaration, templates)
      default:
        return ANY
    }
  }
  const context: Inference = { scope, azureTypes, report, typeOfName: nameFinder(scope, typeOf, report) }
  const targetScope = targetScopeOf(template)
  for (const declaration of template.declarations) {
    for (const { name, at } of declaration.decorators) {
      if (!DECORATORS.includes(name)) report(at, `decorator ${name} does not exist`)
    }
    if (declaration.kind === 'resource') {
      checkResource(declaration, new Map(), { ...context, fullTypes: types, targetScope })
    } else if (declaration.kind === 'module') checkModule(declaration, templates, context, targetScope)
    else checkValue(declaration, context, declared)
  }
  for (const { name, at } of scope.duplicates) report(at, `${name} is declared twice`)
  reportUnused(scope, report)
  return [...faults.values()].sort((first, second) => first.line - second.line)
}

/** Resolves names and counts their uses. The type of a variable is inferred at its first use. */
function nameFinder(
  { symbols }: Scope,
  typeOf: (declaration: Declaration) => ValueType,
  report: Report,
): Inference['typeOfName'] {
  const typed = (symbol: NamedSymbol): ValueType => {
    if (symbol.type === 'being inferred') {
      report(symbol.declaration.at, `${symbol.declaration.name} is defined by itself`)
      return ANY
    }
    if (symbol.type !== undefined) return symbol.type
    symbol.type = 'being inferred'
    symbol.type = typeOf(symbol.declaration)
    return symbol.type
  }
  return (name) => {
    const symbol = symbols.get(name)
    if (symbol === undefined) return undefined
    symbol.uses++
    return typed(symbol)
  }
}

function checkValue(
  declaration: Declaration,
  context: Inference,
  declared: (name: string) => ValueType | undefined,
): void {
  const { report } = context
  const assign = (value: ValueType, type: ValueType) =>
    checkAssignable(value, type, { at: declaration.at, path: declaration.name, report, needsRequired: true })
  if (declaration.kind === 'parameter') {
    checkLimits(declaration, report)
    if (declaration.default)
      assign(infer(declaration.default, new Map(), context), parameterType(declaration, declared))
  }
  if (declaration.kind === 'output') {
    assign(infer(declaration.value, new Map(), context), declaredType(declaration.type, declared))
  }
  // Unused ones as well.
  if (declaration.kind === 'variable') infer(declaration.value, new Map(), context)
}

/** Reports limits that do not apply to the type of the parameter. */
function checkLimits(parameter: ParameterDeclaration, report: Report): void {
  const type = declaredType(parameter.type, () => undefined)
  for (const { name, at } of parameter.decorators) {
    if (/^(min|max)Value$/.test(name) && type.kind !== 'int')
      report(at, `${name} applies to int, not to ${parameter.name}`)
    if (/^(min|max)Length$/.test(name) && !['string', 'array'].includes(type.kind)) {
      report(at, `${name} applies to strings and arrays, not to ${parameter.name}`)
    }
  }
}

function reportUnused({ symbols }: Scope, report: Report): void {
  for (const { declaration, uses } of symbols.values()) {
    const { kind, name, at } = declaration
    if (uses === 0 && (kind === 'parameter' || kind === 'variable')) report(at, `${kind} ${name} is not used`)
    const isUnusedReference = kind === 'resource' && declaration.existing && uses === 0
    if (isUnusedReference && declaration.body.resources.length === 0)
      report(at, `existing resource ${name} is not used`)
  }
}
