import { dirname, join, normalize } from 'node:path/posix'
import type { AzureTypes } from './azure-types.ts'
import { checkValue } from './check-value.ts'
import { type Evaluation, evaluate, iterations } from './evaluate-expression.ts'
import { type Report, suggestion } from './fault.ts'
import { type Location, locationOf } from './nodes.ts'
import type { Declaration, Module, Parameter, Resource, Template, Templates } from './template.ts'
import { checkParameter } from './template-parameters.ts'
import {
  type DeployedResource,
  isObject,
  type ObjectValue,
  Opaque,
  Reference,
  textOfValue,
  type Value,
} from './value.ts'

export type DeployedOutput = { readonly name: string; readonly value: Value; readonly at: Location }

/** The resources and outputs that a template and its modules deploy with one set of parameters. */
export type Deployment = {
  /** Excludes resources whose condition is false. */
  readonly resources: readonly DeployedResource[]
  /** The outputs of all templates. */
  readonly outputs: readonly DeployedOutput[]
}

export type DeploymentInput = {
  readonly templates: Templates
  readonly azureTypes: AzureTypes
  /** Reads a file of the project by its path relative to the project folder. */
  readonly readText: (file: string) => string
  readonly report: Report
}

type Collected = DeploymentInput & { readonly resources: DeployedResource[]; readonly outputs: DeployedOutput[] }

/**
 * Evaluates a deployment, and checks its resources against their types. Values that only the cloud knows are opaque, as
 * are parameters of the main template without a value.
 */
export function deploy(file: string, parameters: ObjectValue, input: DeploymentInput): Deployment {
  const collected: Collected = { ...input, resources: [], outputs: [] }
  const template = input.templates.get(file)
  if (template !== undefined) deployTemplate(template, parameters, collected)
  return collected
}

/** Deploys one template. Declarations are evaluated at their first reference, in any order. @returns the outputs */
function deployTemplate(template: Template, parameters: ObjectValue, collected: Collected): ObjectValue {
  const { file, declarations } = template
  const values = new Map<string, Value>()
  const context: Evaluation = {
    types: collected.azureTypes,
    valueOfName(name) {
      const declaration = declarations.find((candidate) => candidate.name === name && candidate.kind !== 'output')
      if (declaration === undefined || values.has(name)) return values.get(name)
      const value = evaluated(declaration, parameters, context, collected)
      values.set(name, value)
      return value
    },
    readText: (path) => collected.readText(normalize(join(dirname(file), path))),
    fault: (node, message) => collected.report(locationOf(node, file), message),
  }
  const outputs: Record<string, Value> = {}
  for (const declaration of declarations) {
    if (declaration.kind !== 'output') context.valueOfName(declaration.name)
    else {
      const value = evaluate(declaration.value, new Map(), context)
      outputs[declaration.name] = value
      collected.outputs.push({ name: declaration.name, value, at: declaration.at })
    }
  }
  return outputs
}

function evaluated(
  declaration: Declaration,
  parameters: ObjectValue,
  context: Evaluation,
  collected: Collected,
): Value {
  switch (declaration.kind) {
    case 'parameter':
      return parameterValue(declaration, parameters, context, collected)
    case 'resource':
    case 'module': {
      const isLoop = declaration.body.type === 'for_statement'
      const all = iterations(declaration.body, new Map(), context).map(({ body, inner, isIncluded }) => {
        const value = evaluate(body, inner, context)
        const object = isObject(value) ? value : {}
        return declaration.kind === 'resource'
          ? deployResource(declaration, object, isIncluded, collected)
          : deployModule(declaration, object, isIncluded, collected)
      })
      return isLoop ? all : (all[0] ?? null)
    }
    default:
      return evaluate(declaration.value, new Map(), context)
  }
}

function parameterValue(
  parameter: Parameter,
  parameters: ObjectValue,
  context: Evaluation,
  { report }: Collected,
): Value {
  const passed = parameters[parameter.name]
  const usual = parameter.default && evaluate(parameter.default, new Map(), context)
  const value = passed ?? usual ?? new Opaque(`<${parameter.name}>`)
  checkParameter(parameter, value, (message) => report(parameter.at, message))
  return value
}

/** Members of a declaration that belong to Bicep, not to the resource. */
const DECLARATION_MEMBERS: readonly string[] = ['scope', 'parent', 'dependsOn']

function deployResource(
  declaration: Resource,
  body: ObjectValue,
  isIncluded: boolean,
  collected: Collected,
): Reference {
  const { azureTypes, report, resources } = collected
  const [type = ''] = declaration.type.split('@')
  const name = body.name ?? ''
  const [parent, scope] = [resourceOf(body.parent), resourceOf(body.scope)]
  const id = parent
    ? `${parent.id}/${type.split('/').at(-1)}/${textOfValue(name)}`
    : `${scope?.id ?? ''}/providers/${type}/${textOfValue(name)}`
  const properties = azureTypes.bodyOf(declaration.type)
  const resource = { type, name, id, at: declaration.at, body, parent, scope, properties }
  const parentType = type.split('/').slice(0, -1).join('/')
  if (parent !== undefined && parent.type !== parentType) {
    report(declaration.at, `the parent of ${textOfValue(name)} must be a ${parentType}, not a ${parent.type}`)
  }
  if (properties === undefined) {
    report(declaration.at, `no resource type ${declaration.type}${suggestion(declaration.type, azureTypes.names)}`)
  } else if (!declaration.isExisting) {
    const own = Object.fromEntries(Object.entries(body).filter(([member]) => !DECLARATION_MEMBERS.includes(member)))
    checkValue(own, properties, '', azureTypes, (message) => report(declaration.at, message))
  }
  if (isIncluded && !declaration.isExisting) resources.push(resource)
  return new Reference(resource, {})
}

function deployModule(declaration: Module, body: ObjectValue, isIncluded: boolean, collected: Collected): Reference {
  const template = collected.templates.get(declaration.file)
  if (template === undefined) {
    const known = [...collected.templates.keys()]
    collected.report(declaration.at, `file ${declaration.file} does not exist${suggestion(declaration.file, known)}`)
    return new Reference(undefined, {})
  }
  const parameters = isObject(body.params) ? body.params : {}
  checkNames(declaration, parameters, template, collected.report)
  return new Reference(undefined, isIncluded ? deployTemplate(template, parameters, collected) : {})
}

/** A module gets all parameters without a default, and no others. */
function checkNames({ at }: Module, passed: ObjectValue, { declarations }: Template, report: Report): void {
  const parameters = declarations.filter((declaration): declaration is Parameter => declaration.kind === 'parameter')
  const names = parameters.map(({ name }) => name)
  for (const name of Object.keys(passed)) {
    if (!names.includes(name)) report(at, `params.${name} does not exist${suggestion(name, names)}`)
  }
  for (const { name, default: usual } of parameters) {
    if (usual === undefined && passed[name] === undefined) report(at, `params.${name} is required`)
  }
}

const resourceOf = (value: Value | undefined): DeployedResource | undefined =>
  value instanceof Reference ? value.resource : undefined
