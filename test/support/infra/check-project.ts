import type { AzureTypes } from './bicep/azure-types.ts'
import { deploy } from './bicep/deploy.ts'
import { describeFault, type Report } from './bicep/fault.ts'
import { scenariosOf } from './bicep/scenarios.ts'
import { parseTemplates, type TemplateTexts } from './bicep/template.ts'
import { alertsAreComplete, healthCheckIsMonitored, notificationsHaveRecipients } from './rules/alerts.ts'
import { settingsMatchTheCode } from './rules/app-settings.ts'
import { databaseIsProtected, functionAppRunsTheCode } from './rules/function-app.ts'
import { identitiesAreSeparate } from './rules/identities.ts'
import { localAuthenticationIsOff, templatesHoldNoSecrets } from './rules/local-authentication.ts'
import { alertsUseExistingMetrics, resourcesAreDiagnosed, workbooksCanBeOpened } from './rules/monitoring.ts'
import { closedResourcesAreReachable } from './rules/network.ts'
import { outputsMatchTheirNames } from './rules/outputs.ts'
import { parametersAreConstrained, parametersAreDescribed } from './rules/parameters.ts'
import { containersMatchTheCode, queuesMatchTheCode } from './rules/queues-and-containers.ts'
import { databaseRoleAssignmentsAreCorrect, roleAssignmentsAreCorrect } from './rules/role-assignments.ts'
import type { ProjectFacts, Rule, TemplateRule } from './rules/rule.ts'

/** Rules for every deployment, regardless of its parameters. */
const RULES: readonly Rule[] = [
  localAuthenticationIsOff,
  identitiesAreSeparate,
  roleAssignmentsAreCorrect,
  databaseRoleAssignmentsAreCorrect,
  settingsMatchTheCode,
  queuesMatchTheCode,
  containersMatchTheCode,
  alertsUseExistingMetrics,
  alertsAreComplete,
  healthCheckIsMonitored,
  notificationsHaveRecipients,
  workbooksCanBeOpened,
  resourcesAreDiagnosed,
  functionAppRunsTheCode,
  databaseIsProtected,
  closedResourcesAreReachable,
  outputsMatchTheirNames,
]

/** Rules for the text of the templates. */
const TEMPLATE_RULES: readonly TemplateRule[] = [
  templatesHoldNoSecrets,
  parametersAreDescribed,
  parametersAreConstrained,
]

/** The main template. */
export const MAIN = 'infra/main.bicep'

export type Project = {
  readonly texts: TemplateTexts
  readonly azureTypes: AzureTypes
  readonly facts: ProjectFacts
  readonly readText: (file: string) => string
}

/**
 * The distinct errors of the templates, as `file:line: message`. Syntax errors hide other errors. The rules of the
 * language itself are the Bicep compiler's, which the workflow runs.
 */
export function checkProject({ texts, azureTypes, facts, readText }: Project): string[] {
  const { templates, faults } = parseTemplates(texts)
  if (faults.length > 0) return faults.map(describeFault)
  const found = new Set<string>()
  const all = [...templates.values()]
  const report: Report = ({ file, line }, message) => found.add(describeFault({ file, line, message }))
  for (const rule of TEMPLATE_RULES) rule({ templates: all, report })
  const main = templates.get(MAIN)
  const scenarios = main === undefined ? [] : scenariosOf(main)
  for (const [index, parameters] of scenarios.entries()) {
    const deployment = deploy(MAIN, parameters, { templates, azureTypes, readText, report })
    const subject = { deployment, templates: all, facts, report, isDefault: index === 0 }
    for (const rule of RULES) rule(subject)
  }
  return [...found]
}
