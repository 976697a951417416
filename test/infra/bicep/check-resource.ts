import { checkAssignable } from './assignable.ts'
import { type Inference, infer, type Locals, loopLocals } from './infer.ts'
import { unknownType } from './resource-type.ts'
import type { ResourceDeclaration } from './syntax.ts'
import { BOOL, type ObjectType, type ValueType } from './value-type.ts'

/** Members of a declaration that belong to Bicep, not to the resource. */
const DECLARATION_MEMBERS: readonly string[] = ['scope', 'parent', 'dependsOn']

/** What the check of a resource needs from its file. */
export type ResourceContext = Inference & {
  readonly fullTypes: ReadonlyMap<ResourceDeclaration, string>
  readonly targetScope: string
}

/** Checks a declaration and its nested declarations against the resource type. */
export function checkResource(resource: ResourceDeclaration, locals: Locals, context: ResourceContext): void {
  const inner = resource.loop ? loopLocals(resource.loop, locals, context) : locals
  if (resource.condition) {
    const target = { at: resource.condition.at, path: 'condition', report: context.report, needsRequired: false }
    checkAssignable(infer(resource.condition, inner, context), BOOL, target)
  }
  const body = infer(resource.body, inner, context)
  if (body.kind === 'object') {
    checkPlace(resource, body, context)
    checkBody(resource, body, context)
  }
  for (const child of resource.body.resources) checkResource(child, inner, context)
}

function checkBody(resource: ResourceDeclaration, body: ObjectType, context: ResourceContext): void {
  const { azureTypes, report } = context
  const fullType = context.fullTypes.get(resource) ?? resource.type
  const unknown = unknownType(resource, fullType, azureTypes)
  if (unknown) report(resource.at, unknown.message)
  const type = azureTypes.find(fullType)?.body
  const own: ObjectType = {
    ...body,
    at: resource.at,
    properties: new Map([...body.properties].filter(([name]) => !DECLARATION_MEMBERS.includes(name))),
  }
  if (!own.properties.has('name')) report(resource.at, `resource ${resource.name} has no name`)
  if (!type) return
  checkAssignable(own, type, { at: resource.at, path: '', report, needsRequired: !resource.existing })
}

/** A child needs its parent, and a resource needs a scope that its type supports. */
function checkPlace(resource: ResourceDeclaration, body: ObjectType, context: ResourceContext): void {
  const { azureTypes, report, targetScope } = context
  const fullType = context.fullTypes.get(resource) ?? resource.type
  const isNested = !resource.type.startsWith('Microsoft.')
  const parent = body.properties.get('parent')?.type()
  if (parent?.kind === 'resource') {
    const parentType = parent.type.split('@')[0] ?? ''
    const expected = fullType.split('@')[0]?.split('/').slice(0, -1).join('/') ?? ''
    if (parentType.toLowerCase() !== expected.toLowerCase()) {
      report(resource.at, `the parent of ${resource.name} must be a ${expected}, not a ${parentType}`)
    }
  } else if (parent !== undefined && parent.kind !== 'any') report(resource.at, 'parent must be a resource')
  const segments = fullType.split('@')[0]?.split('/').length ?? 0
  if (segments > 2 && !isNested && parent === undefined && isPlain(body.properties.get('name')?.type())) {
    report(resource.at, `${resource.name} is a child resource and has no parent`)
  }
  const scope = body.properties.get('scope')?.type()
  if (scope !== undefined && !['resource', 'scope', 'any', 'choice'].includes(scope.kind)) {
    report(resource.at, 'scope must be a resource or a scope')
  }
  const canBeHere = azureTypes.find(fullType)?.canBeIn(targetScope) ?? true
  if (!canBeHere && scope === undefined && parent === undefined && !isNested) {
    report(resource.at, `${resource.name} cannot be deployed to the scope ${targetScope}`)
  }
}

/** The name of a child without `parent` is its parent's name, a slash and its own name. */
const isPlain = (name: ValueType | undefined): boolean =>
  name?.kind === 'string' && name.value !== undefined && !name.value.includes('/')
