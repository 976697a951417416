import { dirname, join, normalize } from 'node:path/posix'
import { checkAssignable } from './assignable.ts'
import { declaredType, parameterType } from './declared-type.ts'
import { suggestion } from './fault.ts'
import { type Inference, infer, type Locals, loopLocals } from './infer.ts'
import type { Declaration, ModuleDeclaration, ParameterDeclaration, Template } from './syntax.ts'
import { ANY, type ObjectType, type Property, type ValueType } from './value-type.ts'

/** All templates of the project by file; undefined for a file with syntax errors, which are reported separately. */
export type Templates = ReadonlyMap<string, Template | undefined>

const MODULE_MEMBERS: readonly string[] = ['name', 'params', 'scope', 'dependsOn']

const isParameter = (declaration: Declaration): declaration is ParameterDeclaration => declaration.kind === 'parameter'

/** The file that a module's path refers to. */
export const fileOfModule = ({ at, path }: ModuleDeclaration): string => normalize(join(dirname(at.file), path))

/** The kind of scope a template is deployed to. */
export function targetScopeOf(template: Template): string {
  const stated = template.declarations.find((declaration) => declaration.kind === 'scope')
  return stated?.value ?? 'resourceGroup'
}

/** A template's parameters as an object: those without a default are required. */
export function parametersType(template: Template): ObjectType {
  const properties = template.declarations.filter(isParameter).map((parameter): [string, Property] => {
    const type = parameterType(parameter, namedTypesOf(template))
    const isOptional = type.kind === 'choice' && type.options.some(({ kind }) => kind === 'null')
    return [parameter.name, { type: () => type, required: !parameter.default && !isOptional, readOnly: false }]
  })
  return { kind: 'object', properties: new Map(properties) }
}

/** Finds the types that a template declares. */
export function namedTypesOf(template: Template): (name: string) => ValueType | undefined {
  const named = (name: string): ValueType | undefined => {
    const found = template.declarations.find((each) => each.kind === 'type' && each.name === name)
    return found?.kind === 'type' ? declaredType(found.type, named) : undefined
  }
  return named
}

/** The type of a reference to a module: an array if it is declared in a loop. */
export function moduleType(module: ModuleDeclaration, templates: Templates): ValueType {
  const template = templates.get(fileOfModule(module))
  if (template === undefined) return ANY
  const outputs = template.declarations.flatMap((declaration): [string, Property][] => {
    if (declaration.kind !== 'output') return []
    const type = declaredType(declaration.type, namedTypesOf(template))
    return [[declaration.name, { type: () => type, required: true, readOnly: true }]]
  })
  const one: ValueType = { kind: 'module', outputs: { kind: 'object', properties: new Map(outputs) } }
  return module.loop === undefined ? one : { kind: 'array', item: () => one }
}

/** Checks that the module's file exists, that its parameters are set, and that it supports the scope. */
export function checkModule(module: ModuleDeclaration, templates: Templates, context: Inference, scope: string): void {
  const { report } = context
  const inner: Locals = module.loop ? loopLocals(module.loop, new Map(), context) : new Map()
  if (module.condition) infer(module.condition, inner, context)
  const body = infer(module.body, inner, context)
  const file = fileOfModule(module)
  if (!templates.has(file)) {
    report(module.at, `file ${module.path} does not exist${suggestion(file, templates.keys())}`)
    return
  }
  const template = templates.get(file)
  if (template === undefined || body.kind !== 'object') return
  for (const [name, { at }] of body.properties) {
    if (!MODULE_MEMBERS.includes(name))
      report(at ?? module.at, `a module has no ${name}${suggestion(name, MODULE_MEMBERS)}`)
  }
  const given = body.properties.get('params')?.type() ?? { kind: 'object', at: module.at, properties: new Map() }
  checkAssignable({ ...given, at: module.at }, parametersType(template), {
    at: module.at,
    path: 'params',
    report,
    needsRequired: true,
  })
  if (targetScopeOf(template) !== scope && !body.properties.has('scope')) {
    report(module.at, `module ${module.name} requires a scope of kind ${targetScopeOf(template)}`)
  }
}
