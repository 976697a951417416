import { TRACER_NAME } from '../../../../shared/kernel/tracing.ts'
import type { DeployedResource } from '../bicep/value.ts'
import { isObject, textOfValue } from '../bicep/value.ts'
import { at, expect, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

/** Conditions in the logs that need an alert, with patterns that the query must contain. */
const LOG_CONDITIONS: Readonly<Record<string, readonly RegExp[]>> = {
  'failed sync jobs': [/'sync\.jobs'/, /Properties\.outcome == 'Failed'/],
  'a sweep older than two hours': [/'sweep\.age'/, /\blastReported < ago\(2h\)/, /> 7[0-2]\d\d\b/],
  // Without a row, lastReported is null and comparisons with it are false.
  'sweeps that never ran': [/'sweep\.age'/, /\bisnull\(lastReported\) and firstRun < ago\(2h\)/],
  // The Functions host reports each request as well.
  'server errors': [
    new RegExp(`^AppRequests\n\\| where AppRoleName == '${TRACER_NAME}' and toint\\(ResultCode\\) >= 500\n`),
  ],
  // The host reports requests of availability tests also when no function runs.
  'missing telemetry': [
    /^AppMetrics\n\| where Name == 'sweep\.age'\n/,
    /\bisnull\(lastReported\) or lastReported < ago\(30m\)/,
  ],
  'the daily cap of the logs': [/\b_LogOperation\b/, /'OverQuota'/],
}

/** The dimension values of the alert for throttling. */
const REFUSALS_OF_DATABASE = ['429']

/** Alerts are enabled, and cover all conditions that an operator must know of. */
export const alertsAreComplete: Rule = (subject) => {
  const metricAlerts = ofType(subject, 'Microsoft.Insights/metricAlerts')
  const logAlerts = ofType(subject, 'Microsoft.Insights/scheduledQueryRules')
  for (const alert of [...metricAlerts, ...logAlerts]) expect(subject, alert, 'properties.enabled', true)
  const queries = logAlerts.flatMap((alert) => criteriaOf(alert).map(({ query }) => textOfValue(query ?? '')))
  for (const [condition, patterns] of Object.entries(LOG_CONDITIONS)) {
    const isCovered = queries.some((query) => patterns.every((pattern) => pattern.test(query)))
    if (!isCovered) subject.report(startOf(subject), `no alert covers ${condition}`)
  }
  const dimensions = metricAlerts.flatMap((alert) => criteriaOf(alert).flatMap((item) => itemsOf(item.dimensions)))
  const isThrottlingWatched = dimensions.some(
    (item) => isObject(item) && textOfValue(item.values ?? '') === textOfValue(REFUSALS_OF_DATABASE),
  )
  if (!isThrottlingWatched) subject.report(startOf(subject), 'no alert covers database responses with status 429')
}

const AVAILABILITY = 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'

/**
 * An availability test requests the health check, and its failure raises an alert: an invalid setting leaves no log.
 */
export const healthCheckIsMonitored: Rule = (subject) => {
  const site = ofType(subject, 'Microsoft.Web/sites')[0]?.id
  const tests = ofType(subject, 'Microsoft.Insights/webtests')
  const health = tests.find(
    (test) => at(test, 'properties.Request.RequestUrl') === `https://${site}.properties.defaultHostName/health`,
  )
  if (health === undefined) return subject.report(startOf(subject), 'no availability test requests /health')
  expect(subject, health, 'properties.Enabled', true)
  expect(subject, health, 'properties.ValidationRules.ExpectedHttpStatusCode', 200)
  const alert = ofType(subject, 'Microsoft.Insights/metricAlerts').find(
    (item) => textOfValue(at(item, 'properties.criteria.webTestId') ?? '') === health.id,
  )
  if (alert === undefined) return subject.report(health.at, 'no alert covers a failed health check')
  const criteria = at(alert, 'properties.criteria')
  if (!isObject(criteria) || criteria['odata.type'] !== AVAILABILITY) {
    subject.report(alert.at, `the criteria of a web test must be ${AVAILABILITY}`)
  }
  const failed = Number(at(alert, 'properties.criteria.failedLocationCount'))
  const locationCount = itemsOf(at(health, 'properties.Locations')).length
  if (!(failed >= 2 && failed <= locationCount)) {
    subject.report(alert.at, `failedLocationCount must be 2 to ${locationCount}: it is ${failed}`)
  }
}

/** Action groups and budgets have recipients. */
export const notificationsHaveRecipients: Rule = (subject) => {
  for (const group of ofType(subject, 'Microsoft.Insights/actionGroups')) {
    expect(subject, group, 'properties.enabled', true)
    const receivers = itemsOf(at(group, 'properties.emailReceivers'))
    const hasReceiver = receivers.some((item) => isObject(item) && textOfValue(item.emailAddress ?? '') !== '')
    if (!hasReceiver) subject.report(group.at, 'the action group has no receiver')
  }
  for (const budget of ofType(subject, 'Microsoft.Consumption/budgets')) {
    const notifications = at(budget, 'properties.notifications')
    const all = isObject(notifications) ? Object.values(notifications) : []
    const complete = all.filter(
      (item) => isObject(item) && item.enabled === true && itemsOf(item.contactEmails).length > 0,
    )
    if (complete.length === 0 || complete.length < all.length) {
      subject.report(budget.at, 'a notification of the budget is disabled or has no contact')
    }
  }
}

function criteriaOf(alert: DeployedResource) {
  return itemsOf(at(alert, 'properties.criteria.allOf')).filter(isObject)
}

/** The place of faults about missing alerts: the action group. */
const startOf = (subject: Subject) =>
  ofType(subject, 'Microsoft.Insights/actionGroups')[0]?.at ?? { file: 'infra/main.bicep', line: 1 }
