import type { Report } from '../bicep/fault.ts'
import type { Template } from '../bicep/syntax.ts'
import type { Deployment } from '../deployment/deploy.ts'
import { type DeployedResource, isObject, placeOf, textOfValue, type Value, valueAt } from '../deployment/value.ts'

/** What the code says that the templates have to agree with. */
export type ProjectFacts = {
  /** Settings' names that registered functions give as their connection. */
  readonly connections: readonly string[]
  /** Major version of Node.js that the project runs on. */
  readonly nodeMajor: string
  /** Names of the services in `azure.yaml`. */
  readonly serviceNames: readonly string[]
}

/** What rules about the text of the templates look at. */
export type TemplateSubject = { readonly templates: readonly Template[]; readonly report: Report }

/** What rules about a deployment look at. */
export type Subject = TemplateSubject & {
  readonly deployment: Deployment
  readonly facts: ProjectFacts
  /** Deployed with nothing but the defaults of its parameters. */
  readonly isDefault: boolean
}

/** Looks at what would be deployed, and reports what must not be so. */
export type Rule = (subject: Subject) => void

/** Looks at the templates as they are written, whatever their parameters. */
export type TemplateRule = (subject: TemplateSubject) => void

/** The deployed resources of a type. */
export const ofType = ({ deployment }: Subject, type: string): DeployedResource[] =>
  deployment.resources.filter((resource) => resource.type === type)

/** The value at a dotted path of a resource. */
export const at = (resource: DeployedResource, path: string): Value | undefined =>
  valueAt(resource.body, ...path.split('.'))

/** Where a resource's property is written, or would be. */
export function place(resource: DeployedResource, path: string): DeployedResource['at'] {
  let [object, found] = [resource.body as Value | undefined, resource.at]
  for (const name of path.split('.')) {
    if (!isObject(object)) break
    found = placeOf(object, name) ?? found
    object = object[name]
  }
  return found
}

/** Reports a property that has none of the values it may have. */
export function expect({ report }: Subject, resource: DeployedResource, path: string, ...allowed: Value[]): void {
  const value = at(resource, path)
  if (allowed.some((each) => textOfValue(each) === textOfValue(value ?? '<unset>'))) return
  const wanted = allowed.map(textOfValue).join(' or ')
  const found = value === undefined ? 'not set' : textOfValue(value)
  report(place(resource, path), `${path} of ${resource.type} has to be ${wanted}: it is ${found}`)
}

/** The items of an array; none if it is something else. */
export const itemsOf = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? value : [])
