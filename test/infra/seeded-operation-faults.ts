import { anywhere, inModule, inResource, inVariable, type SeededFault } from './seeded-fault.ts'

const fault = (name: string, seed: SeededFault['seed'], expected: RegExp): SeededFault => ({
  name,
  seed,
  expected,
  needsTypes: false,
})

/** An alert of a list, from its bracket to the next one. */
const logAlert = (name: string) => new RegExp(`\\n  \\{\\n    name: '${name}'[\\s\\S]*?'''[\\s\\S]*?'''\\n  \\}`)

/** What leaves an operator in the dark, though everything would be deployed. */
export const OPERATION_FAULTS: readonly SeededFault[] = [
  fault(
    'failed jobs that nobody learns of',
    inVariable('logAlerts', logAlert('failed-jobs'), ''),
    /no alert tells of sync jobs that failed/,
  ),
  fault(
    'a sweep that nobody misses',
    inVariable('logAlerts', logAlert('sweep-overdue'), ''),
    /no alert tells of a sweep older than two hours/,
  ),
  fault(
    'a sweep that is missed too late',
    inVariable('logAlerts', /ago\(2h\) or longestAgoS > 7100/, 'ago(5h) or longestAgoS > 17000'),
    /no alert tells of a sweep older than two hours/,
  ),
  fault(
    'server errors that nobody learns of',
    inVariable('logAlerts', logAlert('server-errors'), ''),
    /no alert tells of server errors/,
  ),
  fault(
    'another status than that of throttling',
    inVariable('metricAlerts', /'429'/, "'200'"),
    /no alert tells of a database that answers 429/,
  ),
  fault(
    'alerts that are switched off',
    inResource('Microsoft.Insights/metricAlerts', /enabled: true/, 'enabled: false'),
    /enabled of Microsoft\.Insights\/metricAlerts has to be true/,
  ),
  fault(
    'people who are not told',
    inResource('Microsoft.Insights/actionGroups', /enabled: true/, 'enabled: false'),
    /enabled of Microsoft\.Insights\/actionGroups has to be true/,
  ),
  fault(
    'a budget that tells nobody',
    inResource('Microsoft.Consumption/budgets', /(80[\s\S]*?contactEmails: \[)email/, '$1'),
    /the budget tells nobody/,
  ),
  fault('no workbook', inModule('workbook', /^[\s\S]*$/, ''), /there is no workbook/),
  fault(
    'a workspace without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: workspace/, 'scope: component'),
    /nothing is told of Microsoft\.OperationalInsights\/workspaces/,
  ),
  fault(
    'a number without bounds',
    anywhere(/@minValue\(1000\)\n@maxValue\(1000000\)\n(param cosmosMaxThroughput)/, '$1'),
    /parameter cosmosMaxThroughput has none of @allowed, @minValue, @maxValue/,
  ),
  fault(
    'a choice that is open',
    anywhere(/@allowed\(\['serverless', 'autoscale'\]\)\n(param cosmosMode)/, '$1'),
    /parameter cosmosMode has none of @allowed/,
  ),
]
