import { anywhere, inModule, inResource, inVariable, type SeededFault, seededFault } from './seeded-fault.ts'

/** An alert in a list, including its brackets. */
const logAlert = (name: string) => new RegExp(`\\n  \\{\\n    name: '${name}'[\\s\\S]*?'''[\\s\\S]*?'''\\n  \\}`)

/** Mistakes that deploy but prevent monitoring. */
export const OPERATION_FAULTS: readonly SeededFault[] = [
  seededFault(
    'a missing alert for failed jobs',
    inVariable('logAlerts', logAlert('failed-jobs'), ''),
    /no alert covers failed sync jobs/,
  ),
  seededFault(
    'a missing alert for an overdue sweep',
    inVariable('logAlerts', logAlert('sweep-overdue'), ''),
    /no alert covers a sweep older than two hours/,
  ),
  seededFault(
    'a late alert for an overdue sweep',
    inVariable('logAlerts', /ago\(2h\) or longestAgoS > 7100/, 'ago(5h) or longestAgoS > 17000'),
    /no alert covers a sweep older than two hours/,
  ),
  seededFault(
    'a missing alert for server errors',
    inVariable('logAlerts', logAlert('server-errors'), ''),
    /no alert covers server errors/,
  ),
  seededFault(
    'a missing alert for missing telemetry',
    inVariable('logAlerts', logAlert('no-telemetry'), ''),
    /no alert covers missing telemetry/,
  ),
  seededFault(
    'an alert for missing telemetry that an empty table does not raise',
    inVariable('logAlerts', /isnull\(lastReported\) or /, ''),
    /no alert covers missing telemetry/,
  ),
  seededFault(
    'a health check of another path',
    inVariable('healthCheck', /\/health/, '/ready'),
    /no availability test requests \/health/,
  ),
  seededFault(
    'a health check that accepts 404',
    inVariable('healthCheck', /expectedStatus: 200/, 'expectedStatus: 404'),
    /ExpectedHttpStatusCode .* must be 200/,
  ),
  seededFault(
    'a disabled health check',
    inResource('Microsoft.Insights/webtests', /\n {4}Enabled: true/, '\n    Enabled: false'),
    /properties\.Enabled of Microsoft\.Insights\/webtests must be true/,
  ),
  seededFault(
    'a missing alert for a failed health check',
    inResource('Microsoft.Insights/metricAlerts', /webTestId: healthTest\.id/, 'webTestId: componentId'),
    /no alert covers a failed health check/,
  ),
  seededFault(
    'a health check whose alert needs more failed locations than the test has',
    inVariable('healthCheck', /failedLocationCount: 3/, 'failedLocationCount: 6'),
    /failedLocationCount must be 2 to 5/,
  ),
  seededFault(
    'an alert for another status than that of throttling',
    inVariable('metricAlerts', /'429'/, "'200'"),
    /no alert covers database responses with status 429/,
  ),
  seededFault(
    'disabled alerts',
    inResource(
      'Microsoft.Insights/metricAlerts',
      /(scopes: \[alert\.scope\][\s\S]*)?enabled: true(\n +scopes: \[alert)/,
      'enabled: false$2',
    ),
    /enabled of Microsoft\.Insights\/metricAlerts must be true/,
  ),
  seededFault(
    'a disabled action group',
    inResource('Microsoft.Insights/actionGroups', /enabled: true/, 'enabled: false'),
    /enabled of Microsoft\.Insights\/actionGroups must be true/,
  ),
  seededFault(
    'a budget without contacts',
    inResource('Microsoft.Consumption/budgets', /(80[\s\S]*?contactEmails: \[)email/, '$1'),
    /a notification of the budget is disabled or has no contact/,
  ),
  seededFault('no workbook', inModule('workbook', /^[\s\S]*$/, ''), /the workbook is missing/),
  seededFault(
    'a workspace without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: workspace/, 'scope: component'),
    /no diagnostic settings for Microsoft\.OperationalInsights\/workspaces/,
  ),
  seededFault(
    'a number without bounds',
    anywhere(/@minValue\(1000\)\n@maxValue\(1000000\)\n(param cosmosMaxThroughput)/, '$1'),
    /parameter cosmosMaxThroughput has none of @allowed, @minValue, @maxValue/,
  ),
  seededFault(
    'a choice without allowed values',
    anywhere(/@allowed\(\['serverless', 'autoscale'\]\)\n(param cosmosMode)/, '$1'),
    /parameter cosmosMode has none of @allowed/,
  ),
]
