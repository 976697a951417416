@description('Beginning of every name.')
@minLength(1)
@maxLength(40)
param namePrefix string

@description('Azure region, for the alerts that query logs.')
@minLength(1)
param location string

@description('Tags of every resource.')
param tags object

@description('Who is told.')
@minLength(3)
param email string

@description('Resource id of the workspace with the logs.')
@minLength(1)
param workspaceId string

@description('Resource id of the Service Bus namespace.')
@minLength(1)
param serviceBusId string

@description('Resource id of the Cosmos DB account.')
@minLength(1)
param cosmosId string

@description('Messages that may wait in a queue for a quarter of an hour.')
@minValue(1)
param waitingMessageCount int

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: '${namePrefix}-people'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'collections'
    enabled: true
    emailReceivers: [
      {
        name: 'operators'
        emailAddress: email
        useCommonAlertSchema: true
      }
    ]
  }
}

// Severity: 1 people are affected, 2 they will be, 3 worth a look.
var metricAlerts = [
  {
    name: 'dead-letters'
    description: 'Messages were given up after ten deliveries. What they named is not done until the next sweep.'
    severity: 1
    scope: serviceBusId
    metricNamespace: 'Microsoft.ServiceBus/namespaces'
    metricName: 'DeadletteredMessages'
    timeAggregation: 'Maximum'
    threshold: 0
    windowSize: 'PT5M'
    dimensions: [{ name: 'EntityName', operator: 'Include', values: ['*'] }]
  }
  {
    name: 'queue-backlog'
    description: 'Messages come in faster than they are worked off.'
    severity: 2
    scope: serviceBusId
    metricNamespace: 'Microsoft.ServiceBus/namespaces'
    metricName: 'ActiveMessages'
    timeAggregation: 'Average'
    threshold: waitingMessageCount
    windowSize: 'PT15M'
    dimensions: [{ name: 'EntityName', operator: 'Include', values: ['*'] }]
  }
  {
    name: 'messaging-throttled'
    description: 'Service Bus refuses calls: the namespace is too small.'
    severity: 2
    scope: serviceBusId
    metricNamespace: 'Microsoft.ServiceBus/namespaces'
    metricName: 'ThrottledRequests'
    timeAggregation: 'Total'
    threshold: 10
    windowSize: 'PT15M'
    dimensions: []
  }
  {
    name: 'database-throttled'
    description: 'Cosmos DB answers 429: the request units do not suffice. Some are normal, the client repeats them.'
    severity: 2
    scope: cosmosId
    metricNamespace: 'Microsoft.DocumentDB/databaseAccounts'
    metricName: 'TotalRequests'
    timeAggregation: 'Count'
    threshold: 100
    windowSize: 'PT5M'
    dimensions: [{ name: 'StatusCode', operator: 'Include', values: ['429'] }]
  }
]

// The measures are those of shared/kernel/metrics.ts, in the tables of Application Insights. A tenant that has missed
// one sweep is two hours old when the next one comes, give or take some seconds.
var logAlerts = [
  {
    name: 'failed-jobs'
    description: 'Sync jobs have used up their retries: groups are not as their collections say.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    lookBack: 'PT15M'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'sync.jobs' and Properties.outcome == 'Failed' and Sum > 0
'''
  }
  {
    name: 'sweep-overdue'
    description: 'A tenant was not swept within two hours, or no sweep ran at all: nobody makes up for what was missed.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    lookBack: 'P2D'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'sweep.age'
| summarize lastTold = max(TimeGenerated), longestAgoS = maxif(Max, TimeGenerated > ago(15m))
| where lastTold < ago(2h) or longestAgoS > 7100
'''
  }
  {
    name: 'server-errors'
    description: 'Requests were answered with a server error, by the service or by the host in its stead.'
    severity: 1
    evaluationFrequency: 'PT5M'
    windowSize: 'PT5M'
    lookBack: 'PT5M'
    threshold: 5
    query: '''
AppRequests
| where toint(ResultCode) >= 500
'''
  }
  {
    name: 'logs-capped'
    description: 'The daily cap of the logs is reached. Alerts that read logs are blind until tomorrow.'
    severity: 3
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    lookBack: 'PT15M'
    threshold: 0
    query: '''
_LogOperation
| where Category =~ 'Ingestion' and Detail has 'OverQuota'
'''
  }
]

resource metricRules 'Microsoft.Insights/metricAlerts@2018-03-01' = [for alert in metricAlerts: {
  name: '${namePrefix}-${alert.name}'
  location: 'global'
  tags: tags
  properties: {
    description: alert.description
    severity: alert.severity
    enabled: true
    scopes: [alert.scope]
    evaluationFrequency: 'PT5M'
    windowSize: alert.windowSize
    autoMitigate: true
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          criterionType: 'StaticThresholdCriterion'
          name: alert.name
          metricNamespace: alert.metricNamespace
          metricName: alert.metricName
          timeAggregation: alert.timeAggregation
          operator: 'GreaterThan'
          threshold: alert.threshold
          dimensions: alert.dimensions
        }
      ]
    }
    actions: [{ actionGroupId: people.id }]
  }
}]

resource logRules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [for alert in logAlerts: {
  name: '${namePrefix}-${alert.name}'
  location: location
  tags: tags
  kind: 'LogAlert'
  properties: {
    displayName: '${namePrefix}-${alert.name}'
    description: alert.description
    severity: alert.severity
    enabled: true
    scopes: [workspaceId]
    evaluationFrequency: alert.evaluationFrequency
    windowSize: alert.windowSize
    overrideQueryTimeRange: alert.lookBack
    // The tables come into being with the first telemetry, which is after this.
    skipQueryValidation: true
    autoMitigate: true
    criteria: {
      allOf: [
        {
          query: alert.query
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: alert.threshold
          failingPeriods: {
            numberOfEvaluationPeriods: 1
            minFailingPeriodsToAlert: 1
          }
        }
      ]
    }
    actions: { actionGroups: [people.id] }
  }
}]
