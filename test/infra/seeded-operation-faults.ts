import { anywhere, inModule, inResource, inVariable, type SeededFault, seededFault } from './seeded-fault.ts'

/** An alert in a list, including its brackets. */
const logAlert = (name: string) => new RegExp(`\\n  \\{\\n    name: '${name}'[\\s\\S]*?'''[\\s\\S]*?'''\\n  \\}`)

/** Mistakes that deploy but prevent monitoring. */
export const OPERATION_FAULTS: readonly SeededFault[] = [
  seededFault(
    'failed jobs that nobody learns of',
    inVariable('logAlerts', logAlert('failed-jobs'), ''),
    /no alert tells of sync jobs that failed/,
  ),
  seededFault(
    'a sweep that nobody misses',
    inVariable('logAlerts', logAlert('sweep-overdue'), ''),
    /no alert tells of a sweep older than two hours/,
  ),
  seededFault(
    'a sweep that is missed too late',
    inVariable('logAlerts', /ago\(2h\) or longestAgoS > 7100/, 'ago(5h) or longestAgoS > 17000'),
    /no alert tells of a sweep older than two hours/,
  ),
  seededFault(
    'server errors that nobody learns of',
    inVariable('logAlerts', logAlert('server-errors'), ''),
    /no alert tells of server errors/,
  ),
  seededFault(
    'an app that is silent, which nobody learns of',
    inVariable('logAlerts', logAlert('no-telemetry'), ''),
    /no alert tells of an app that reports nothing/,
  ),
  seededFault(
    'silence that is only noticed in a table with rows',
    inVariable('logAlerts', /isnull\(lastReported\) or /, ''),
    /no alert tells of an app that reports nothing/,
  ),
  seededFault(
    'a health check of another path',
    inVariable('healthCheck', /\/health/, '/ready'),
    /no availability test requests \/health/,
  ),
  seededFault(
    'a health check that accepts 404',
    inVariable('healthCheck', /expectedStatus: 200/, 'expectedStatus: 404'),
    /ExpectedHttpStatusCode .* has to be 200/,
  ),
  seededFault(
    'a health check that is switched off',
    inResource('Microsoft.Insights/webtests', /\n {4}Enabled: true/, '\n    Enabled: false'),
    /properties\.Enabled of Microsoft\.Insights\/webtests has to be true/,
  ),
  seededFault(
    'a failed health check that no alert tells of',
    inResource('Microsoft.Insights/metricAlerts', /webTestId: healthTest\.id/, 'webTestId: componentId'),
    /no alert tells of a failed health check/,
  ),
  seededFault(
    'a health check that has to fail in more places than it is run from',
    inVariable('healthCheck', /failedLocationCount: 3/, 'failedLocationCount: 6'),
    /failedLocationCount has to be 2 to 5/,
  ),
  seededFault(
    'another status than that of throttling',
    inVariable('metricAlerts', /'429'/, "'200'"),
    /no alert tells of a database that answers 429/,
  ),
  seededFault(
    'alerts that are switched off',
    inResource(
      'Microsoft.Insights/metricAlerts',
      /(scopes: \[alert\.scope\][\s\S]*)?enabled: true(\n +scopes: \[alert)/,
      'enabled: false$2',
    ),
    /enabled of Microsoft\.Insights\/metricAlerts has to be true/,
  ),
  seededFault(
    'people who are not told',
    inResource('Microsoft.Insights/actionGroups', /enabled: true/, 'enabled: false'),
    /enabled of Microsoft\.Insights\/actionGroups has to be true/,
  ),
  seededFault(
    'a budget that tells nobody',
    inResource('Microsoft.Consumption/budgets', /(80[\s\S]*?contactEmails: \[)email/, '$1'),
    /the budget tells nobody/,
  ),
  seededFault('no workbook', inModule('workbook', /^[\s\S]*$/, ''), /there is no workbook/),
  seededFault(
    'a workspace without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: workspace/, 'scope: component'),
    /nothing is told of Microsoft\.OperationalInsights\/workspaces/,
  ),
  seededFault(
    'a number without bounds',
    anywhere(/@minValue\(1000\)\n@maxValue\(1000000\)\n(param cosmosMaxThroughput)/, '$1'),
    /parameter cosmosMaxThroughput has none of @allowed, @minValue, @maxValue/,
  ),
  seededFault(
    'a choice that is open',
    anywhere(/@allowed\(\['serverless', 'autoscale'\]\)\n(param cosmosMode)/, '$1'),
    /parameter cosmosMode has none of @allowed/,
  ),
]
