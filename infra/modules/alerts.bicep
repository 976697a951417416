@description('Prefix of every alert name.')
@minLength(1)
@maxLength(40)
param namePrefix string

@description('Azure region of the log alerts.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Email address that receives alerts.')
@minLength(3)
param email string

@description('Resource ID of the Log Analytics workspace.')
@minLength(1)
param workspaceId string

@description('Resource ID of the Application Insights component.')
@minLength(1)
param componentId string

@description('Base URL of the API.')
@minLength(1)
param apiUrl string

@description('Resource ID of the Service Bus namespace.')
@minLength(1)
param serviceBusId string

@description('Resource ID of the Cosmos DB account.')
@minLength(1)
param cosmosId string

@description('Average number of active messages in a queue over 15 minutes above which queue-backlog fires.')
@minValue(1)
param waitingMessageCount int

resource operators 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: '${namePrefix}-operators'
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

// Severity 1: users are affected. Severity 2: users will be affected. Severity 3: needs attention.
var metricAlerts = [
  {
    name: 'dead-letters'
    description: 'Messages failed for about 90 minutes and were dead-lettered. The next sweep repeats most of their work.'
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
    description: 'Messages arrive faster than they are processed.'
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
    description: 'Service Bus throttles requests. The namespace is too small.'
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
    description: 'Cosmos DB throttles requests (429). The client retries; many 429 responses mean too few request units.'
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

// The Functions host exports requests of its own to the same tables, for each availability test as well: only what the
// service itself writes shows that it runs, and its role names the requests that it has answered.
//
// Metrics are stored in the tables of Application Insights. The age of a tenant's sweep is about two hours, give or take
// some seconds, when the tenant has missed one sweep. Where no sweep was reported in two days, the app is given two hours
// after its first run; the alert no-telemetry covers an app that does not run. A tenant that is too large is refused again
// in each hour, by the evaluation that its sweep enqueues.
//
// Telemetry arrives some minutes after it was generated. A query looks back further than to its last evaluation, and takes
// what has arrived since: each record counts once.
var logAlerts = [
  {
    name: 'failed-jobs'
    description: 'Sync jobs failed: after all retries, or at once where a retry cannot help. Directory groups differ from their collections.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'sync.jobs' and Properties.outcome == 'Failed' and Sum > 0
| where ingestion_time() > ago(15m)
'''
  }
  {
    name: 'removals-held'
    description: 'The removal guard holds removals from directory groups. A person can approve or reject them.'
    severity: 2
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'removals.held' and Sum > 0
| where ingestion_time() > ago(15m)
'''
  }
  {
    name: 'events-not-delivered'
    description: 'Receivers of events fail: a subscription was disabled, or events were dropped because too many waited.'
    severity: 2
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 0
    query: '''
AppMetrics
| where Name in ('events.dropped', 'subscriptions.disabled') and Sum > 0
| where ingestion_time() > ago(15m)
'''
  }
  {
    name: 'mails-not-sent'
    description: 'The directory refused mails for good.'
    severity: 3
    evaluationFrequency: 'PT1H'
    windowSize: 'PT2H'
    lookBack: 'PT2H'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'mails.sent' and tostring(Properties.outcome) == 'Refused' and Sum > 0
| where ingestion_time() > ago(1h)
'''
  }
  {
    name: 'links-paused'
    description: 'Group links remove no members, because some members of their collections have no directory account.'
    severity: 3
    evaluationFrequency: 'PT1H'
    windowSize: 'PT2H'
    lookBack: 'PT2H'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'links.paused' and Sum > 0
| where ingestion_time() > ago(1h)
'''
  }
  {
    name: 'account-conflict'
    description: 'A connector assigned a directory account to an identity, and another identity holds the account.'
    severity: 2
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'account.conflicts' and Sum > 0
| where ingestion_time() > ago(15m)
'''
  }
  {
    name: 'sweep-overdue'
    description: 'A tenant was not swept within two hours, or no sweep ran. Missed messages are not recovered.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    lookBack: 'P2D'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'sweep.age'
| summarize lastReported = max(TimeGenerated), longestAgoS = maxif(Max, TimeGenerated > ago(30m))
| extend firstRun = toscalar(AppRequests | summarize min(TimeGenerated))
| where (isnull(lastReported) and firstRun < ago(2h)) or lastReported < ago(2h) or longestAgoS > 7100
'''
  }
  {
    name: 'tenant-too-large'
    description: 'The core objects of a tenant do not fit into the memory for rows. Its collections are not evaluated.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT2H'
    lookBack: 'PT2H'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'evaluation.refused' and Sum > 0
'''
  }
  {
    name: 'server-errors'
    description: 'The service answered requests with a server error (5xx).'
    severity: 1
    evaluationFrequency: 'PT5M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 5
    query: '''
AppRequests
| where AppRoleName == 'collections-service' and toint(ResultCode) >= 500
| where ingestion_time() > ago(5m)
'''
  }
  {
    name: 'no-telemetry'
    description: 'The timer that runs every minute has reported nothing for half an hour. The app does not run, or cannot export.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT15M'
    lookBack: 'P2D'
    threshold: 0
    query: '''
AppMetrics
| where Name == 'sweep.age'
| summarize lastReported = max(TimeGenerated)
| where isnull(lastReported) or lastReported < ago(30m)
'''
  }
  {
    name: 'logs-capped'
    description: 'Log ingestion reached its daily cap. Until it resets, log alerts do not fire, but no-telemetry and sweep-overdue do.'
    severity: 1
    evaluationFrequency: 'PT15M'
    windowSize: 'PT30M'
    lookBack: 'PT30M'
    threshold: 0
    query: '''
_LogOperation
| where Category =~ 'Ingestion' and Detail has 'OverQuota'
'''
  }
]

// Requests from outside. The Functions host answers 404 on every path when the app cannot read its settings.
var healthCheck = {
  name: 'service-unreachable'
  description: 'The health check fails from several regions. Without valid settings, every path of the app returns 404.'
  severity: 1
  url: '${apiUrl}/health'
  expectedStatus: 200
  failedLocationCount: 3
}

// Amsterdam, Dublin, Virginia, California, Singapore
var testLocationIds = ['emea-nl-ams-azr', 'emea-gb-db3-azr', 'us-va-ash-azr', 'us-ca-sjc-azr', 'apac-sg-sin-azr']

resource healthTest 'Microsoft.Insights/webtests@2022-06-15' = {
  name: '${namePrefix}-${healthCheck.name}'
  location: location
  // Application Insights finds its tests by this tag.
  tags: union(tags, { 'hidden-link:${componentId}': 'Resource' })
  kind: 'standard'
  properties: {
    SyntheticMonitorId: '${namePrefix}-${healthCheck.name}'
    Name: '${namePrefix}-${healthCheck.name}'
    Description: healthCheck.description
    Enabled: true
    Frequency: 300
    Timeout: 30
    Kind: 'standard'
    RetryEnabled: true
    Locations: [for locationId in testLocationIds: { Id: locationId }]
    Request: {
      RequestUrl: healthCheck.url
      HttpVerb: 'GET'
      ParseDependentRequests: false
      FollowRedirects: false
    }
    ValidationRules: {
      ExpectedHttpStatusCode: healthCheck.expectedStatus
      SSLCheck: true
      SSLCertRemainingLifetimeCheck: 7
    }
  }
}

resource healthRule 'Microsoft.Insights/metricAlerts@2018-03-01' = {
  name: '${namePrefix}-${healthCheck.name}'
  location: 'global'
  tags: tags
  properties: {
    description: healthCheck.description
    severity: healthCheck.severity
    enabled: true
    scopes: [healthTest.id, componentId]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    autoMitigate: true
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'
      webTestId: healthTest.id
      componentId: componentId
      failedLocationCount: healthCheck.failedLocationCount
    }
    actions: [{ actionGroupId: operators.id }]
  }
}

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
    actions: [{ actionGroupId: operators.id }]
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
    // The tables are created by the first telemetry, after this deployment.
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
    actions: { actionGroups: [operators.id] }
  }
}]
