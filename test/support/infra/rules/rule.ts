import type { Deployment } from '../bicep/deploy.ts'
import type { Report } from '../bicep/fault.ts'
import type { Template } from '../bicep/template.ts'
import { type DeployedResource, textOfValue, type Value, valueAt } from '../bicep/value.ts'

/** Facts of the code that the templates must match. */
export type ProjectFacts = {
  /** The connections of the registered functions, which are names of settings. */
  readonly connections: readonly string[]
  /** Major version of Node.js that the project runs on. */
  readonly nodeMajor: string
  /** Names of the services in `azure.yaml`. */
  readonly serviceNames: readonly string[]
}

/** The input of rules for the text of the templates. */
export type TemplateSubject = { readonly templates: readonly Template[]; readonly report: Report }

/** The input of rules for a deployment. */
export type Subject = TemplateSubject & {
  readonly deployment: Deployment
  readonly facts: ProjectFacts
  /** Whether all parameters have their defaults. */
  readonly isDefault: boolean
}

/** Checks a deployment and reports its faults. */
export type Rule = (subject: Subject) => void

/** Checks the text of the templates, independent of parameters. */
export type TemplateRule = (subject: TemplateSubject) => void

/** The deployed resources of a type. */
export const ofType = ({ deployment }: Subject, type: string): DeployedResource[] =>
  deployment.resources.filter((resource) => resource.type === type)

/** The value at a dotted path of a resource. */
export const at = (resource: DeployedResource, path: string): Value | undefined =>
  valueAt(resource.body, ...path.split('.'))

/** Reports a property whose value is not allowed. */
export function expect({ report }: Subject, resource: DeployedResource, path: string, ...allowed: Value[]): void {
  const value = at(resource, path)
  if (allowed.some((candidate) => textOfValue(candidate) === textOfValue(value ?? '<unset>'))) return
  const wanted = allowed.map(textOfValue).join(' or ')
  const found = value === undefined ? 'not set' : textOfValue(value)
  report(resource.at, `${path} of ${resource.type} must be ${wanted}: it is ${found}`)
}

/** The items of an array; empty for other values. */
export const itemsOf = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? value : [])
