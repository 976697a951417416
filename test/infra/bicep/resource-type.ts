import type { AzureTypes } from './azure-types.ts'
import type { Fault } from './fault.ts'
import { suggestion } from './fault.ts'
import type { ResourceDeclaration, Template } from './syntax.ts'
import { ANY, type Property, type ValueType } from './value-type.ts'

/** `<type>@<version>` of each resource of a file. Nested resources inherit the version, and the type as a prefix. */
export function fullTypes(template: Template): ReadonlyMap<ResourceDeclaration, string> {
  const full = new Map<ResourceDeclaration, string>()
  const add = (resource: ResourceDeclaration, parent: string | undefined): void => {
    const [type = '', version] = resource.type.split('@')
    const [parentType, parentVersion] = parent?.split('@') ?? []
    const name = parentType === undefined ? type : `${parentType}/${type}`
    full.set(resource, `${name}@${version ?? parentVersion ?? ''}`)
    for (const child of resource.body.resources) add(child, full.get(resource))
  }
  for (const declaration of template.declarations) if (declaration.kind === 'resource') add(declaration, undefined)
  return full
}

/** The type of a reference to a resource; an array if the resource is declared in a loop. */
export function resourceType(
  resource: ResourceDeclaration,
  types: ReadonlyMap<ResourceDeclaration, string>,
  azureTypes: AzureTypes,
): ValueType {
  const type = types.get(resource) ?? resource.type
  const body = azureTypes.find(type)?.body ?? ANY
  const children = resource.body.resources.map((child): [string, Property] => [
    child.name,
    { type: () => resourceType(child, types, azureTypes), required: true, readOnly: false },
  ])
  const one: ValueType = { kind: 'resource', type, body, children: new Map(children) }
  return resource.loop === undefined ? one : { kind: 'array', item: () => one }
}

/** The fault of a resource whose type or version is missing in the type data. */
export function unknownType(resource: ResourceDeclaration, type: string, azureTypes: AzureTypes): Fault | undefined {
  if (azureTypes.find(type) !== undefined) return undefined
  const [name = '', version = ''] = type.split('@')
  const versions = azureTypes.names.filter((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}@`))
  const message =
    versions.length > 0
      ? `${name} has no API version ${version}; it has ${versions.map((each) => each.split('@')[1]).join(', ')}`
      : `there is no resource type ${name}${suggestion(
          name,
          azureTypes.names.map((each) => each.split('@')[0] ?? each),
        )}`
  return { ...resource.at, message }
}
