import type { DeployedResource } from '../deployment/value.ts'
import { isObject, textOfValue } from '../deployment/value.ts'
import { at, expect, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

/** What somebody is told of that stands in the logs, and what a query has to look at for that. */
const ASKED: Readonly<Record<string, readonly RegExp[]>> = {
  'sync jobs that failed': [/'sync\.jobs'/, /Properties\.outcome == 'Failed'/],
  'a sweep older than two hours': [/'sweep\.age'/, /\bago\(2h\)/, /> 7[0-2]\d\d\b/],
  'server errors': [/\bAppRequests\b/, /toint\(ResultCode\) >= 500\b/],
  'an app that reports nothing': [/\bAppRequests\b/, /\bisnull\(/, /\bago\(30m\)/],
  'logs that are capped': [/\b_LogOperation\b/, /'OverQuota'/],
}

/** What somebody is told of that is a metric of one value of a dimension. */
const REFUSALS_OF_DATABASE = ['429']

/** Alerts are switched on, and together they watch what an operator has to learn of. */
export const alertsAreComplete: Rule = (subject) => {
  const metricAlerts = ofType(subject, 'Microsoft.Insights/metricAlerts')
  const logAlerts = ofType(subject, 'Microsoft.Insights/scheduledQueryRules')
  for (const alert of [...metricAlerts, ...logAlerts]) expect(subject, alert, 'properties.enabled', true)
  const queries = logAlerts.flatMap((alert) => criteriaOf(alert).map(({ query }) => textOfValue(query ?? '')))
  for (const [what, words] of Object.entries(ASKED)) {
    const isWatched = queries.some((query) => words.every((word) => word.test(query)))
    if (!isWatched) subject.report(startOf(subject), `no alert tells of ${what}`)
  }
  const dimensions = metricAlerts.flatMap((alert) => criteriaOf(alert).flatMap((each) => itemsOf(each.dimensions)))
  const isThrottlingWatched = dimensions.some(
    (each) => isObject(each) && textOfValue(each.values ?? '') === textOfValue(REFUSALS_OF_DATABASE),
  )
  if (!isThrottlingWatched) subject.report(startOf(subject), 'no alert tells of a database that answers 429')
}

const AVAILABILITY = 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'

/** The health check is requested from outside, and an alert fires when it fails: a faulty setting leaves no log. */
export const healthIsWatched: Rule = (subject) => {
  const site = ofType(subject, 'Microsoft.Web/sites')[0]?.id
  const tests = ofType(subject, 'Microsoft.Insights/webtests')
  const health = tests.find(
    (test) => at(test, 'properties.Request.RequestUrl') === `https://${site}.properties.defaultHostName/health`,
  )
  if (health === undefined) return subject.report(startOf(subject), 'no availability test requests /health')
  expect(subject, health, 'properties.Enabled', true)
  expect(subject, health, 'properties.ValidationRules.ExpectedHttpStatusCode', 200)
  const alert = ofType(subject, 'Microsoft.Insights/metricAlerts').find(
    (each) => textOfValue(at(each, 'properties.criteria.webTestId') ?? '') === health.id,
  )
  if (alert === undefined) return subject.report(health.at, 'no alert tells of a failed health check')
  const criteria = at(alert, 'properties.criteria')
  if (!isObject(criteria) || criteria['odata.type'] !== AVAILABILITY) {
    subject.report(alert.at, `the criteria of a web test have to be ${AVAILABILITY}`)
  }
  const failed = Number(at(alert, 'properties.criteria.failedLocationCount'))
  const locationCount = itemsOf(at(health, 'properties.Locations')).length
  if (!(failed >= 2 && failed <= locationCount)) {
    subject.report(alert.at, `failedLocationCount has to be 2 to ${locationCount}: it is ${failed}`)
  }
}

/** Whom alerts and budgets tell can be told. */
export const somebodyIsTold: Rule = (subject) => {
  for (const group of ofType(subject, 'Microsoft.Insights/actionGroups')) {
    expect(subject, group, 'properties.enabled', true)
    const receivers = itemsOf(at(group, 'properties.emailReceivers'))
    const isTold = receivers.some((each) => isObject(each) && textOfValue(each.emailAddress ?? '') !== '')
    if (!isTold) subject.report(group.at, 'the action group tells nobody')
  }
  for (const budget of ofType(subject, 'Microsoft.Consumption/budgets')) {
    const notifications = at(budget, 'properties.notifications')
    const all = isObject(notifications) ? Object.values(notifications) : []
    const telling = all.filter(
      (each) => isObject(each) && each.enabled === true && itemsOf(each.contactEmails).length > 0,
    )
    if (telling.length === 0 || telling.length < all.length) subject.report(budget.at, 'the budget tells nobody')
  }
}

function criteriaOf(alert: DeployedResource) {
  return itemsOf(at(alert, 'properties.criteria.allOf')).filter(isObject)
}

/** What lacks has no line of its own: it would stand beside those whom the alerts tell. */
const startOf = (subject: Subject) =>
  ofType(subject, 'Microsoft.Insights/actionGroups')[0]?.at ?? { file: 'infra/main.bicep', line: 1 }
