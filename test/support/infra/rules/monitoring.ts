import { suggestion } from '../bicep/fault.ts'
import { type DeployedResource, isObject, Opaque, plain, textOfValue, type Value } from '../bicep/value.ts'
import { at, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

/** Metrics for alerts with their dimensions, by resource type. The type data does not contain metrics. */
const METRICS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Microsoft.ServiceBus/namespaces': {
    ActiveMessages: ['EntityName'],
    DeadletteredMessages: ['EntityName'],
    ThrottledRequests: ['EntityName', 'MessagingErrorSubCode', 'OperationResult'],
  },
  'Microsoft.DocumentDB/databaseAccounts': {
    TotalRequests: ['DatabaseName', 'CollectionName', 'Region', 'StatusCode', 'OperationType', 'Status'],
    NormalizedRUConsumption: ['DatabaseName', 'CollectionName', 'Region', 'PartitionKeyRangeId'],
  },
}

/** Metrics that need an alert. */
const WATCHED: readonly string[] = ['DeadletteredMessages', 'ActiveMessages', 'TotalRequests']

const DIAGNOSED: readonly string[] = [
  'Microsoft.DocumentDB/databaseAccounts',
  'Microsoft.OperationalInsights/workspaces',
  'Microsoft.ServiceBus/namespaces',
  'Microsoft.Storage/storageAccounts/blobServices',
  'Microsoft.Web/sites',
]

/** Audit logs of changes to a resource, by resource type. */
const LOGGED: Readonly<Record<string, readonly string[]>> = {
  'Microsoft.DocumentDB/databaseAccounts': ['ControlPlaneRequests'],
}

/** A row for each operation of the service on the database; what Application Insights has already. */
const TOO_LARGE: readonly string[] = ['DataPlaneRequests', 'FunctionAppLogs']

/** Alerts use existing metrics of the right resource, and have action groups. */
export const alertsUseExistingMetrics: Rule = (subject) => {
  const watched = new Set<string>()
  for (const alert of ofType(subject, 'Microsoft.Insights/metricAlerts')) {
    for (const criterion of itemsOf(at(alert, 'properties.criteria.allOf'))) {
      if (isObject(criterion)) watched.add(checkCriterion(subject, alert, criterion))
    }
    const actions = itemsOf(at(alert, 'properties.actions')).map((item) =>
      isObject(item) ? (item.actionGroupId ?? '') : '',
    )
    checkActions(subject, alert, actions)
  }
  for (const alert of ofType(subject, 'Microsoft.Insights/scheduledQueryRules')) {
    checkActions(subject, alert, itemsOf(at(alert, 'properties.actions.actionGroups')))
    const workspaces = ofType(subject, 'Microsoft.OperationalInsights/workspaces').map(({ id }) => id)
    const scopes = itemsOf(at(alert, 'properties.scopes')).map(textOfValue)
    if (scopes.length !== 1 || !workspaces.includes(scopes[0] ?? '')) {
      subject.report(alert.at, 'the scope of a query must be the workspace')
    }
  }
  const where = ofType(subject, 'Microsoft.Insights/actionGroups')[0]?.at ?? { file: 'infra/main.bicep', line: 1 }
  for (const metric of WATCHED) if (!watched.has(metric)) subject.report(where, `no alert watches ${metric}`)
}

function checkCriterion({ report }: Subject, alert: DeployedResource, criterion: Record<string, Value>): string {
  const where = alert.at
  const scopes = itemsOf(at(alert, 'properties.scopes')).map(textOfValue)
  const namespace = textOfValue(criterion.metricNamespace ?? '')
  const metrics = METRICS[namespace]
  const metric = textOfValue(criterion.metricName ?? '')
  if (metrics === undefined)
    report(where, `the metrics of ${namespace} are not known${suggestion(namespace, Object.keys(METRICS))}`)
  else if (metrics[metric] === undefined) {
    report(where, `${namespace} has no metric ${metric}${suggestion(metric, Object.keys(metrics))}`)
  }
  for (const scope of scopes) {
    if (!scope.includes(`/providers/${namespace}/`))
      report(where, `${metric} is a metric of ${namespace}, not of ${scope}`)
  }
  for (const dimension of itemsOf(criterion.dimensions)) {
    const name = isObject(dimension) ? textOfValue(dimension.name ?? '') : ''
    const known = metrics?.[metric]
    if (known && !known.includes(name)) report(where, `${metric} has no dimension ${name}${suggestion(name, known)}`)
  }
  return metric
}

function checkActions(subject: Subject, alert: DeployedResource, actions: readonly Value[]): void {
  const groups = ofType(subject, 'Microsoft.Insights/actionGroups').map(({ id }) => id)
  const used = actions.map(textOfValue)
  if (used.length === 0 || used.some((item) => !groups.includes(item))) {
    subject.report(alert.at, `the alert ${textOfValue(alert.name)} has no action group`)
  }
}

/** The deployment has a workbook. Its name is a GUID, and its content has no unresolved placeholder. */
export const workbooksCanBeOpened: Rule = (subject) => {
  const workbooks = ofType(subject, 'Microsoft.Insights/workbooks')
  if (workbooks.length === 0) subject.report({ file: 'infra/main.bicep', line: 1 }, 'the workbook is missing')
  for (const workbook of workbooks) {
    const { name } = workbook
    const isGuid =
      name instanceof Opaque
        ? name.call?.name === 'guid'
        : /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(textOfValue(name))
    if (!isGuid) subject.report(workbook.at, `the workbook's name must be a GUID, not ${textOfValue(name)}`)
    const text = textOfValue(at(workbook, 'properties.serializedData') ?? '')
    const where = workbook.at
    const [blank] = /\{\{\w+\}\}/.exec(text) ?? []
    if (blank) subject.report(where, `the workbook contains the placeholder ${blank}`)
    checkWorkbook(text, (message) => subject.report(where, message))
  }
}

function checkWorkbook(text: string, fault: (message: string) => void): void {
  try {
    const { items } = JSON.parse(text) as { items?: unknown }
    if (!Array.isArray(items) || items.length === 0) fault('the workbook has no items')
  } catch (error) {
    fault(`the workbook is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Resources that store data or handle requests send diagnostics to the workspace. */
export const resourcesAreDiagnosed: Rule = (subject) => {
  const workspaces = ofType(subject, 'Microsoft.OperationalInsights/workspaces').map(({ id }) => id)
  const settings = ofType(subject, 'Microsoft.Insights/diagnosticSettings')
  for (const resource of DIAGNOSED.flatMap((type) => ofType(subject, type))) {
    const own = settings.filter((item) => item.scope?.id === resource.id)
    if (own.length === 0) subject.report(resource.at, `no diagnostic settings for ${resource.type}`)
    const logs = own.flatMap((item) => itemsOf(at(item, 'properties.logs')))
    const isLogged = (category: string) =>
      logs.some((item) => isObject(item) && item.category === category && item.enabled === true)
    for (const category of TOO_LARGE.filter(isLogged)) {
      subject.report(resource.at, `${category} of ${resource.type} are too large to be logged`)
    }
    for (const category of LOGGED[resource.type] ?? []) {
      if (!isLogged(category)) subject.report(resource.at, `${category} of ${resource.type} are not logged`)
    }
  }
  for (const setting of settings) {
    const workspace = textOfValue(at(setting, 'properties.workspaceId') ?? '')
    if (!workspaces.includes(workspace)) subject.report(setting.at, 'workspaceId must be the id of a workspace')
    const sent = ['logs', 'metrics'].flatMap((kind) => itemsOf(at(setting, `properties.${kind}`)))
    if (!sent.some((item) => isObject(item) && item.enabled === true)) {
      subject.report(setting.at, `the diagnostic settings send nothing: ${JSON.stringify(sent.map(plain))}`)
    }
  }
}
