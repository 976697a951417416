import assert from 'node:assert/strict'
import { type Deployment, deploy } from './bicep/deploy.ts'
import { describeFault } from './bicep/fault.ts'
import { parseTemplates, readTemplateTexts } from './bicep/template.ts'
import { isObject, type ObjectValue, textOfValue } from './bicep/value.ts'
import { MAIN } from './check-project.ts'
import { projectFolder, readProjectText, readTypes } from './project-facts.ts'

const { templates } = parseTemplates(readTemplateTexts(projectFolder))
const azureTypes = readTypes()

/** What the templates deploy with these parameters; the others have their defaults. Fails where they are invalid. */
export function deployed(parameters: ObjectValue): Deployment {
  const faults: string[] = []
  const deployment = deploy(MAIN, parameters, {
    templates,
    azureTypes,
    readText: readProjectText,
    report: (at, message) => void faults.push(describeFault({ ...at, message })),
  })
  assert.deepEqual(faults, [])
  return deployment
}

/** The names of the deployed resources of a type. */
export const namesOf = ({ resources }: Deployment, type: string): string[] =>
  resources.filter((resource) => resource.type === type).map(({ name }) => textOfValue(name))

/** The app settings by name, as text. */
export function appSettingsOf({ resources }: Deployment): Readonly<Record<string, string>> {
  const config = resources.find(({ type, name }) => type === 'Microsoft.Web/sites/config' && name === 'appsettings')
  const { properties } = config?.body ?? {}
  assert.ok(isObject(properties))
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, textOfValue(value)]))
}
