targetScope = 'subscription'

@description('Name of the environment, part of every name: letters, digits and hyphens.')
@minLength(1)
@maxLength(20)
param environmentName string

@description('Azure region of everything.')
@minLength(1)
param location string

@description('Client id of the multi-tenant application, registered in the tenant of this subscription.')
@minLength(36)
@maxLength(36)
param serviceClientId string

@description('Resource URI of that application; empty for api:// and its client id.')
@maxLength(255)
param serviceResourceUri string = ''

@description('Whom alerts and budget tell.')
@minLength(3)
param alertEmail string

@description('Money per month, in the currency of the subscription, from which the budget warns; 0 for no budget.')
@minValue(0)
param budgetAmount int = 0

@description('First day of the month from which the budget counts. A budget keeps the one that it was made with.')
@minLength(10)
@maxLength(10)
param budgetStartDate string = utcNow('yyyy-MM-01')

@description('Keeps the database from being deleted, and lets it be restored to any time of 30 days rather than 7.')
param production bool = false

@description('How Cosmos DB is paid: serverless below about an eighth of the busiest hour on average, autoscale above.')
@allowed(['serverless', 'autoscale'])
param cosmosMode string = 'serverless'

@description('Request units per second at most, in steps of 1000. For autoscale only.')
@minValue(1000)
@maxValue(1000000)
param cosmosMaxThroughput int = 4000

@description('Spreads database, storage and instances over zones. Needs a region with zones.')
param zoneRedundant bool = false

@description('Lets database, queues and storage be reached through a private network only. Takes Premium messaging.')
param vnetEnabled bool = false

@description('Addresses of the private network: a /24.')
@minLength(9)
@maxLength(18)
param vnetAddressPrefix string = '10.40.0.0/24'

@description('Major version of Node.js: see az functionapp list-flexconsumption-runtimes.')
@allowed(['22', '24'])
param nodeVersion string = '24'

@description('Megabytes of memory of an instance. Evaluation holds the rows of a tenant in memory.')
@allowed([512, 2048, 4096])
param instanceMemoryMb int = 2048

@description('Instances at most, of each group of functions that scales together.')
@minValue(40)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Instances that always stand ready for HTTP requests; with zones at least two.')
@minValue(0)
@maxValue(100)
param alwaysReadyInstanceCount int = 0

@description('Gigabytes of logs that are taken in per day at most.')
@minValue(1)
@maxValue(1000)
param dailyLogQuotaGb int = 5

@description('Days for which logs are kept.')
@allowed([30, 60, 90, 180, 365, 730])
param logRetentionDays int = 30

@description('Messages that may wait in a queue for a quarter of an hour before somebody is told.')
@minValue(1)
param waitingMessageCount int = 1000

@description('Where access tokens come from.')
@minLength(9)
param authorityUrl string = environment().authentication.loginEndpoint

@description('Microsoft Graph.')
@minLength(9)
param graphUrl string = 'https://graph.microsoft.com'

@description('Milliseconds for which changes are gathered before collections are evaluated.')
@minValue(0)
@maxValue(60000)
param evaluationDelayMs int = 500

@description('Seconds before each retry of a failed sync job, separated by commas.')
@minLength(1)
param syncRetryDelaysS string = '15,60,240'

@description('Seconds of work after which a sync job goes on in a new message. The host stops it after 600.')
@minValue(10)
@maxValue(540)
param syncSliceS int = 240

@description('Seconds for which a worker that died holds up the sync of its link.')
@minValue(10)
@maxValue(3600)
param syncLeaseS int = 60

@description('Writes to the directory of one tenant per 150 seconds at most. The directory refuses 3000.')
@minValue(1)
@maxValue(3000)
param directoryWritesPerTenant int = 2400

@description('Writes to all directories together per 300 seconds at most. The directory refuses 70000.')
@minValue(1)
@maxValue(70000)
param directoryWritesInAll int = 56000

// Unique for the subscription, the environment and the region: some names are the whole cloud's.
var suffix = uniqueString(subscription().id, environmentName, location)
var baseName = 'collections-${environmentName}'
var uniqueName = 'collections-${suffix}'
var names = {
  resourceGroup: 'rg-${baseName}'
  identity: 'id-${baseName}'
  workspace: 'log-${baseName}'
  component: 'appi-${baseName}'
  storage: 'st${suffix}'
  serviceBus: 'sb-${uniqueName}'
  cosmos: 'cosmos-${uniqueName}'
  plan: 'plan-${baseName}'
  app: 'func-${uniqueName}'
  network: 'vnet-${baseName}'
  budget: 'budget-${baseName}'
}
var tags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2024-07-01' = {
  name: names.resourceGroup
  location: location
  tags: tags
}

module identity 'modules/identity.bicep' = {
  name: 'identity'
  scope: group
  params: {
    name: names.identity
    location: location
    tags: tags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  scope: group
  params: {
    workspaceName: names.workspace
    componentName: names.component
    location: location
    tags: tags
    dailyLogQuotaGb: dailyLogQuotaGb
    logRetentionDays: logRetentionDays
    publisherPrincipalId: identity.outputs.principalId
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  scope: group
  params: {
    name: names.storage
    location: location
    tags: tags
    zoneRedundant: zoneRedundant
    privateNetwork: vnetEnabled
    workspaceId: monitoring.outputs.workspaceId
    principalId: identity.outputs.principalId
  }
}

module serviceBus 'modules/service-bus.bicep' = {
  name: 'service-bus'
  scope: group
  params: {
    name: names.serviceBus
    location: location
    tags: tags
    privateNetwork: vnetEnabled
    workspaceId: monitoring.outputs.workspaceId
    principalId: identity.outputs.principalId
  }
}

module cosmos 'modules/cosmos.bicep' = {
  name: 'cosmos'
  scope: group
  params: {
    name: names.cosmos
    location: location
    tags: tags
    mode: cosmosMode
    autoscaleMaxThroughput: cosmosMaxThroughput
    zoneRedundant: zoneRedundant
    privateNetwork: vnetEnabled
    backupTier: production ? 'Continuous30Days' : 'Continuous7Days'
    deleteLock: production
    workspaceId: monitoring.outputs.workspaceId
    principalId: identity.outputs.principalId
  }
}

module network 'modules/network.bicep' = {
  name: 'network'
  scope: group
  params: {
    enabled: vnetEnabled
    name: names.network
    location: location
    tags: tags
    addressPrefix: vnetAddressPrefix
    cosmosId: cosmos.outputs.id
    serviceBusId: serviceBus.outputs.id
    storageId: storage.outputs.id
  }
}

module functionApp 'modules/function-app.bicep' = {
  name: 'function-app'
  scope: group
  params: {
    name: names.app
    planName: names.plan
    location: location
    tags: tags
    serviceName: 'api'
    nodeVersion: nodeVersion
    instanceMemoryMb: instanceMemoryMb
    maximumInstanceCount: maximumInstanceCount
    alwaysReadyInstanceCount: max(alwaysReadyInstanceCount, zoneRedundant ? 2 : 0)
    zoneRedundant: zoneRedundant
    subnetId: network.outputs.appSubnetId
    identityId: identity.outputs.id
    deploymentContainerUrl: storage.outputs.deploymentContainerUrl
    workspaceId: monitoring.outputs.workspaceId
  }
}

module appSettings 'modules/app-settings.bicep' = {
  name: 'app-settings'
  scope: group
  params: {
    appName: functionApp.outputs.name
    identityClientId: identity.outputs.clientId
    blobEndpoint: storage.outputs.blobEndpoint
    serviceBusHostName: serviceBus.outputs.hostName
    cosmosEndpoint: cosmos.outputs.endpoint
    applicationInsightsConnectionString: monitoring.outputs.connectionString
    authorityUrl: authorityUrl
    graphUrl: graphUrl
    homeTenantId: subscription().tenantId
    serviceClientId: serviceClientId
    serviceResourceUri: empty(serviceResourceUri) ? 'api://${serviceClientId}' : serviceResourceUri
    evaluationDelayMs: evaluationDelayMs
    syncRetryDelaysS: syncRetryDelaysS
    syncSliceS: syncSliceS
    syncLeaseS: syncLeaseS
    directoryWritesPerTenant: directoryWritesPerTenant
    directoryWritesInAll: directoryWritesInAll
  }
}

module alerts 'modules/alerts.bicep' = {
  name: 'alerts'
  scope: group
  params: {
    namePrefix: baseName
    location: location
    tags: tags
    email: alertEmail
    workspaceId: monitoring.outputs.workspaceId
    serviceBusId: serviceBus.outputs.id
    cosmosId: cosmos.outputs.id
    waitingMessageCount: waitingMessageCount
  }
}

module workbook 'modules/workbook.bicep' = {
  name: 'workbook'
  scope: group
  params: {
    displayName: baseName
    location: location
    tags: tags
    workspaceId: monitoring.outputs.workspaceId
    serviceBusId: serviceBus.outputs.id
    cosmosId: cosmos.outputs.id
  }
}

module budget 'modules/budget.bicep' = if (budgetAmount > 0) {
  name: 'budget'
  scope: group
  params: {
    name: names.budget
    amount: budgetAmount
    startDate: budgetStartDate
    email: alertEmail
  }
}

@description('Where everything is.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Where the API is.')
output API_URL string = functionApp.outputs.url

@description('Address of the Cosmos DB account.')
output COSMOS_ENDPOINT string = cosmos.outputs.endpoint

@description('Host name of the Service Bus namespace.')
output SERVICE_BUS_HOST_NAME string = serviceBus.outputs.hostName

@description('Issuer of the federated credential that the application takes on once.')
output FEDERATED_CREDENTIAL_ISSUER string = '${environment().authentication.loginEndpoint}${subscription().tenantId}/v2.0'

@description('Subject of that credential: the managed identity.')
output FEDERATED_CREDENTIAL_SUBJECT string = identity.outputs.principalId
