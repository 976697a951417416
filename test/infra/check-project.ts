import type { AzureTypes } from './bicep/azure-types.ts'
import { checkTemplate } from './bicep/check-template.ts'
import { describeFault, type Report } from './bicep/fault.ts'
import { parseProject, type TemplateTexts } from './bicep/read-project.ts'
import type { Template } from './bicep/syntax.ts'
import { deploy } from './deployment/deploy.ts'
import { scenariosOf } from './deployment/scenarios.ts'
import { alertsAreComplete, healthCheckIsMonitored, notificationsHaveRecipients } from './rules/alerts.ts'
import { settingsMatchTheCode } from './rules/app-settings.ts'
import { databaseIsProtected, functionAppRunsTheCode } from './rules/function-app.ts'
import { identitiesAreSeparate } from './rules/identities.ts'
import { localAuthenticationIsOff, secretsStaySecret, templatesHoldNoSecrets } from './rules/local-authentication.ts'
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
  secretsStaySecret,
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

/** The distinct errors of the templates, as `file:line: message`. Syntax errors hide other errors. */
export function checkProject({ texts, azureTypes, facts, readText }: Project): string[] {
  const { templates, faults } = parseProject(texts)
  if (faults.length > 0) return faults.map(describeFault)
  const found = new Set<string>()
  const all = [...templates.values()].filter((template) => template !== undefined)
  for (const template of all) {
    for (const fault of checkTemplate(template, templates, azureTypes)) found.add(describeFault(fault))
  }
  const report: Report = ({ file, line }, message) => found.add(describeFault({ file, line, message }))
  for (const rule of TEMPLATE_RULES) rule({ templates: all, report })
  for (const [index, parameters] of scenarios(templates.get(MAIN)).entries()) {
    const deployment = deploy(MAIN, parameters, { templates, readText })
    const subject = { deployment, templates: all, facts, report, isDefault: index === 0 }
    for (const rule of RULES) rule(subject)
  }
  return [...found]
}

const scenarios = (main: Template | undefined) => (main === undefined ? [{}] : scenariosOf(main))
