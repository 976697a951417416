import { dirname, join, normalize } from 'node:path/posix'
import { fileOfModule, type Templates } from '../bicep/check-module.ts'
import { fullTypes } from '../bicep/resource-type.ts'
import type {
  Declaration,
  Location,
  ModuleDeclaration,
  ParameterDeclaration,
  ResourceDeclaration,
  Template,
} from '../bicep/syntax.ts'
import { type Evaluation, evaluate, iterations, type Locals } from './evaluate.ts'
import {
  type DeployedResource,
  isObject,
  nameOwner,
  type ObjectValue,
  Opaque,
  Reference,
  textOfValue,
  type Value,
} from './value.ts'

export type Output = { readonly name: string; readonly value: Value; readonly at: Location }

/** The resources and outputs that a template and its modules deploy with one set of parameters. */
export type Deployment = {
  /** Excludes resources whose condition is false. */
  readonly resources: readonly DeployedResource[]
  /** The outputs of all templates. */
  readonly outputs: readonly Output[]
}

export type DeploymentInput = {
  readonly templates: Templates
  /** Reads a file of the project by its path relative to the project folder. */
  readonly readText: (file: string) => string
}

/**
 * Evaluates a deployment. Values that only the cloud knows are opaque; parameters without a value get a placeholder.
 */
export function deploy(file: string, parameters: ObjectValue, input: DeploymentInput): Deployment {
  const resources: DeployedResource[] = []
  const outputs: Output[] = []
  const template = input.templates.get(file)
  if (template !== undefined) new TemplateDeployment(template, parameters, { ...input, resources, outputs }).run()
  return { resources, outputs }
}

type Collected = DeploymentInput & { readonly resources: DeployedResource[]; readonly outputs: Output[] }

/** One template with its parameters. Declarations are evaluated at their first reference, in any order. */
class TemplateDeployment {
  readonly #template: Template
  readonly #parameters: ObjectValue
  readonly #collected: Collected
  readonly #types: ReadonlyMap<ResourceDeclaration, string>
  readonly #declarations = new Map<string, Declaration>()
  readonly #values = new Map<string, Value>()
  readonly #context: Evaluation

  constructor(template: Template, parameters: ObjectValue, collected: Collected) {
    this.#template = template
    this.#parameters = parameters
    this.#collected = collected
    this.#types = fullTypes(template)
    for (const declaration of template.declarations) {
      if (declaration.kind !== 'output') this.#declarations.set(declaration.name, declaration)
    }
    this.#context = {
      valueOfName: (name) => this.#valueOf(name),
      readText: (path) => collected.readText(normalize(join(dirname(template.file), path))),
    }
  }

  /** Evaluates everything. @returns the outputs */
  run(): ObjectValue {
    const outputs: Record<string, Value> = {}
    for (const declaration of this.#template.declarations) {
      if (declaration.kind === 'resource' || declaration.kind === 'module') this.#valueOf(declaration.name)
      if (declaration.kind !== 'output') continue
      const value = evaluate(declaration.value, new Map(), this.#context)
      outputs[declaration.name] = value
      this.#collected.outputs.push({ name: declaration.name, value, at: declaration.at })
    }
    return outputs
  }

  #valueOf(name: string): Value {
    const known = this.#values.get(name)
    if (known !== undefined) return known
    // The value of a declaration that refers to itself.
    this.#values.set(name, new Opaque(`<${name}>`))
    const declaration = this.#declarations.get(name)
    const value = declaration === undefined ? new Opaque(`<${name}>`) : this.#evaluated(declaration)
    this.#values.set(name, value)
    return value
  }

  #evaluated(declaration: Declaration): Value {
    switch (declaration.kind) {
      case 'parameter': {
        const given = this.#parameters[declaration.name]
        if (given !== undefined) return given
        if (declaration.default === undefined) return madeUpValue(declaration)
        return evaluate(declaration.default, new Map(), this.#context)
      }
      case 'variable':
        return evaluate(declaration.value, new Map(), this.#context)
      case 'resource':
        return this.#each(declaration, new Map(), (locals, isDeployed) =>
          this.#resource(declaration, locals, isDeployed),
        )
      case 'module':
        return this.#each(declaration, new Map(), (locals, isDeployed) => this.#module(declaration, locals, isDeployed))
      default:
        return null
    }
  }

  #each(
    { loop, condition }: ResourceDeclaration | ModuleDeclaration,
    locals: Locals,
    make: (locals: Locals, isDeployed: boolean) => Reference,
  ): Value {
    const one = (inner: Locals) => {
      return make(inner, condition === undefined || evaluate(condition, inner, this.#context) !== false)
    }
    return loop === undefined ? one(locals) : iterations(loop, locals, this.#context).map(one)
  }

  #resource(
    declaration: ResourceDeclaration,
    locals: Locals,
    isDeployed: boolean,
    outer?: DeployedResource,
  ): Reference {
    const all = evaluate(declaration.body, locals, this.#context)
    const body = isObject(all) ? all : {}
    const [type = ''] = (this.#types.get(declaration) ?? '').split('@')
    const name = body.name ?? ''
    const parent = outer ?? resourceOf(body.parent)
    const scope = resourceOf(body.scope)
    const id = parent
      ? `${parent.id}/${type.split('/').at(-1)}/${textOfValue(name)}`
      : `${scope?.id ?? ''}/providers/${type}/${textOfValue(name)}`
    const isThere = isDeployed && !declaration.existing
    const resource = { type, name, id, at: declaration.at, body, parent, scope, isDeployed: isThere }
    if (isObject(body.properties)) nameOwner(body.properties, `${id}.properties`)
    if (isThere) this.#collected.resources.push(resource)
    for (const child of declaration.body.resources) {
      const value = this.#each(child, locals, (inner, isChildThere) =>
        this.#resource(child, inner, isThere && isChildThere, resource),
      )
      this.#values.set(child.name, value)
    }
    return new Reference(resource, {})
  }

  #module(declaration: ModuleDeclaration, locals: Locals, isDeployed: boolean): Reference {
    const template = this.#collected.templates.get(fileOfModule(declaration))
    if (template === undefined || !isDeployed) return new Reference(undefined, {})
    const body = evaluate(declaration.body, locals, this.#context)
    const parameters = isObject(body) && isObject(body.params) ? body.params : {}
    const outputs = new TemplateDeployment(template, parameters, this.#collected).run()
    return new Reference(undefined, outputs)
  }
}

const resourceOf = (value: Value | undefined): DeployedResource | undefined =>
  value instanceof Reference ? value.resource : undefined

/** The placeholder of a parameter without a value: a text with the name of the parameter. */
function madeUpValue({ name, type }: ParameterDeclaration): Value {
  if (type.kind === 'array' || (type.kind === 'named' && type.name === 'array')) return []
  if (type.kind === 'object' || (type.kind === 'named' && /object$/i.test(type.name))) return {}
  if (type.kind === 'named' && type.name === 'int') return 1
  if (type.kind === 'named' && type.name === 'bool') return true
  return `<${name}>`
}
