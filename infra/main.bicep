targetScope = 'subscription'

@description('Name of the environment: letters, digits and hyphens. It is part of every resource name.')
@minLength(1)
@maxLength(20)
param environmentName string

@description('Azure region of all resources.')
@minLength(1)
param location string

@description('Client ID of the multi-tenant application, which is registered in the tenant of this subscription.')
@minLength(36)
@maxLength(36)
param serviceClientId string

@description('Resource URI of the multi-tenant application. If empty, api://<client ID>.')
@maxLength(255)
param serviceResourceUri string = ''

@description('Email address that receives alerts and budget notifications.')
@minLength(3)
param alertEmail string

@description('Monthly budget in the currency of the subscription. 0 creates no budget.')
@minValue(0)
param budgetAmount int = 0

@description('Start date of the budget, the first day of a month. It cannot be changed after the budget is created. Empty: this month.')
@maxLength(10)
param budgetStartDate string = ''

@description('The first day of this month. Do not set it: only a default value can contain the time of the deployment.')
@minLength(10)
@maxLength(10)
param firstDayOfMonth string = utcNow('yyyy-MM-01')

@description('Whether the database has a delete lock and 30 days of continuous backup instead of 7.')
param production bool = false

@description('Capacity mode of Cosmos DB. Autoscale is cheaper if average use exceeds an eighth of peak use.')
@allowed(['serverless', 'autoscale'])
param cosmosMode string = 'serverless'

@description('Maximum request units per second, in steps of 1000. Applies to autoscale only.')
@minValue(1000)
@maxValue(1000000)
param cosmosMaxThroughput int = 4000

@description('Name of the Cosmos DB account. Empty: a unique name. After a restore, the name of the new account.')
@maxLength(44)
param cosmosAccountName string = ''

@description('Whether database, storage and instances are zone redundant. Requires a region with availability zones.')
param zoneRedundant bool = false

@description('Whether database, queues and storage use private endpoints only. Requires Service Bus Premium.')
param vnetEnabled bool = false

@description('Address range of the virtual network, a /24.')
@minLength(9)
@maxLength(18)
param vnetAddressPrefix string = '10.40.0.0/24'

@description('Address ranges of operators that may reach the private endpoints, in CIDR notation, comma-separated. Empty: only the app.')
@maxLength(4000)
param operatorAddressRanges string = ''

@description('Major version of Node.js. Run az functionapp list-flexconsumption-runtimes for the supported versions.')
@allowed(['22', '24'])
param nodeVersion string = '24'

@description('Memory of an instance in megabytes. Evaluation keeps the rows of a tenant in memory.')
@allowed([512, 2048, 4096])
param instanceMemoryMb int = 2048

@description('Maximum number of instances per scale group.')
@minValue(40)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Number of always-ready instances for HTTP requests. With zone redundancy at least 2.')
@minValue(0)
@maxValue(100)
param alwaysReadyInstanceCount int = 0

@description('Daily cap of log ingestion in gigabytes.')
@minValue(1)
@maxValue(1000)
param dailyLogQuotaGb int = 5

@description('Retention of logs in days.')
@allowed([30, 60, 90, 180, 365, 730])
param logRetentionDays int = 90

@description('Average number of active messages in a queue over 15 minutes above which the alert queue-backlog fires.')
@minValue(1)
param waitingMessageCount int = 1000

@description('URL of the authority that issues access tokens.')
@minLength(9)
param authorityUrl string = environment().authentication.loginEndpoint

@description('URL of Microsoft Graph.')
@minLength(9)
param graphUrl string = 'https://graph.microsoft.com'

@description('Scope of the application that access tokens of users must have.')
@minLength(1)
param apiScope string = 'user_impersonation'

@description('Client ID of the single-page application that signs people in to the console. Empty: no console.')
@maxLength(36)
param consoleClientId string = ''

@description('Tenants that may use the service: any, or tenant IDs, comma-separated. Without a default, so that a deployment names them.')
@minLength(3)
param tenants string

@description('Address ranges that may reach the app, in CIDR notation, comma-separated. Empty: all addresses.')
@maxLength(4000)
param allowedAddressRanges string = ''

@description('Maximum requests of one caller to one instance per minute. 0 for no limit.')
@minValue(0)
@maxValue(999999999)
param requestsPerCallerPerMinute int = 6000

@description('Maximum requests of all callers of one tenant to one instance per minute. 0 for no limit.')
@minValue(0)
@maxValue(999999999)
param requestsPerTenantPerMinute int = 30000

@description('Delay in milliseconds before an evaluation, during which changes are collected.')
@minValue(0)
@maxValue(60000)
param evaluationDelayMs int = 500

@description('Days for which changes of the members of collections are kept.')
@minValue(1)
@maxValue(3650)
param historyDays int = 400

@description('Delay in seconds before each retry of a failed sync job, comma-separated.')
@minLength(1)
param syncRetryDelaysS string = '15,60,240'

@description('Run time in seconds after which a sync job continues in a new message. The host times out after 600.')
@minValue(10)
@maxValue(540)
param syncBatchS int = 240

@description('Duration in seconds of the lease that a worker holds on a group link.')
@minValue(10)
@maxValue(3600)
param syncLeaseS int = 60

@description('Limit for differences between the clocks of instances, in seconds. After a crash, leases end this much later.')
@minValue(0)
@maxValue(600)
param clockDifferenceS int = 120

@description('Maximum writes to the directory of one tenant per 150 seconds. Microsoft Graph throttles at 3000.')
@minValue(1)
@maxValue(3000)
param directoryWritesPerTenant int = 2400

@description('Maximum writes to all directories together per 300 seconds. Microsoft Graph throttles at 70000.')
@minValue(1)
@maxValue(70000)
param directoryWritesTotal int = 56000

@description('Prefixes of addresses that get events besides public ones by https, comma-separated: scheme and host, with a port and path if those matter.')
@maxLength(4000)
param eventTargets string = ''

@description('Address of the mailbox in the home tenant that mails are sent from. Empty: no mails.')
@maxLength(254)
param mailSender string = ''

@description('Address at which people reach the service, for links in mails. Empty: the host name of the function app.')
@maxLength(2000)
param publicUrl string = ''

@description('Name of the identity that signs in to the directories. Empty: one of its own. Another name rotates it.')
@maxLength(128)
param graphIdentityName string = ''

// Some resource names must be globally unique.
var suffix = uniqueString(subscription().id, environmentName, location)
var baseName = 'collections-${environmentName}'
var uniqueName = 'collections-${suffix}'
var usualCosmosName = 'cosmos-${uniqueName}'
var names = {
  resourceGroup: 'rg-${baseName}'
  serviceIdentity: 'id-${baseName}-service'
  graphIdentity: empty(graphIdentityName) ? 'id-${baseName}-graph' : graphIdentityName
  hostIdentity: 'id-${baseName}-host'
  deploymentIdentity: 'id-${baseName}-deployment'
  workspace: 'log-${baseName}'
  component: 'appi-${baseName}'
  storage: 'st${suffix}'
  serviceBus: 'sb-${uniqueName}'
  cosmos: empty(cosmosAccountName) ? usualCosmosName : cosmosAccountName
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

// Four identities, so that the token of one gives no access to what the others are for.
module serviceIdentity 'modules/identity.bicep' = {
  name: 'service-identity'
  scope: group
  params: {
    name: names.serviceIdentity
    location: location
    tags: tags
  }
}

module graphIdentity 'modules/identity.bicep' = {
  name: 'graph-identity'
  scope: group
  params: {
    name: names.graphIdentity
    location: location
    tags: tags
  }
}

module hostIdentity 'modules/identity.bicep' = {
  name: 'host-identity'
  scope: group
  params: {
    name: names.hostIdentity
    location: location
    tags: tags
  }
}

module deploymentIdentity 'modules/identity.bicep' = {
  name: 'deployment-identity'
  scope: group
  params: {
    name: names.deploymentIdentity
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
    publisherPrincipalId: serviceIdentity.outputs.principalId
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
    hostPrincipalId: hostIdentity.outputs.principalId
    deploymentPrincipalId: deploymentIdentity.outputs.principalId
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
    principalId: serviceIdentity.outputs.principalId
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
    principalId: serviceIdentity.outputs.principalId
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
    operatorAddressRanges: empty(operatorAddressRanges) ? [] : split(replace(operatorAddressRanges, ' ', ''), ',')
    cosmosId: cosmos.outputs.id
    // A private endpoint cannot change its resource: another account has an endpoint of its own.
    cosmosEndpointName: names.cosmos == usualCosmosName ? 'cosmos' : 'cosmos-${uniqueString(names.cosmos)}'
    serviceBusId: serviceBus.outputs.id
    storageId: storage.outputs.id
  }
}

module functionApp 'modules/function-app.bicep' = {
  name: 'function-app'
  scope: group
  params: {
    name: names.app
    allowedAddressRanges: empty(allowedAddressRanges) ? [] : split(replace(allowedAddressRanges, ' ', ''), ',')
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
    serviceIdentityId: serviceIdentity.outputs.id
    graphIdentityId: graphIdentity.outputs.id
    hostIdentityId: hostIdentity.outputs.id
    deploymentIdentityId: deploymentIdentity.outputs.id
    deploymentContainerUrl: storage.outputs.deploymentContainerUrl
    workspaceId: monitoring.outputs.workspaceId
  }
}

module appSettings 'modules/app-settings.bicep' = {
  name: 'app-settings'
  scope: group
  params: {
    appName: functionApp.outputs.name
    serviceIdentityClientId: serviceIdentity.outputs.clientId
    graphIdentityClientId: graphIdentity.outputs.clientId
    hostIdentityClientId: hostIdentity.outputs.clientId
    blobEndpoint: storage.outputs.blobEndpoint
    serviceBusHostName: serviceBus.outputs.hostName
    cosmosEndpoint: cosmos.outputs.endpoint
    applicationInsightsConnectionString: monitoring.outputs.connectionString
    authorityUrl: authorityUrl
    graphUrl: graphUrl
    homeTenantId: subscription().tenantId
    serviceClientId: serviceClientId
    serviceResourceUri: empty(serviceResourceUri) ? 'api://${serviceClientId}' : serviceResourceUri
    apiScope: apiScope
    consoleClientId: consoleClientId
    tenants: tenants
    requestsPerCallerPerMinute: requestsPerCallerPerMinute
    requestsPerTenantPerMinute: requestsPerTenantPerMinute
    rowsMemoryMb: instanceMemoryMb * 35 / 100
    evaluationDelayMs: evaluationDelayMs
    historyDays: historyDays
    syncRetryDelaysS: syncRetryDelaysS
    syncBatchS: syncBatchS
    syncLeaseS: syncLeaseS
    clockDifferenceS: clockDifferenceS
    directoryWritesPerTenant: directoryWritesPerTenant
    directoryWritesTotal: directoryWritesTotal
    eventTargets: eventTargets
    mailSender: mailSender
    publicUrl: publicUrl
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
    componentId: monitoring.outputs.componentId
    apiUrl: functionApp.outputs.url
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
    // azd runs no hook before a preview, so that the environment can have no date yet.
    startDate: empty(budgetStartDate) ? firstDayOfMonth : budgetStartDate
    email: alertEmail
  }
}

@description('Resource group of all resources.')
output AZURE_RESOURCE_GROUP string = group.name

@description('Base URL of the API.')
output API_URL string = functionApp.outputs.url

@description('Endpoint of the Cosmos DB account.')
output COSMOS_ENDPOINT string = cosmos.outputs.endpoint

@description('Host name of the Service Bus namespace.')
output SERVICE_BUS_HOST_NAME string = serviceBus.outputs.hostName

@description('Issuer of the federated credential of the multi-tenant application.')
output FEDERATED_CREDENTIAL_ISSUER string = '${environment().authentication.loginEndpoint}${subscription().tenantId}/v2.0'

@description('Subject of the federated credential: the object ID of the identity that signs in to the directories.')
output FEDERATED_CREDENTIAL_SUBJECT string = graphIdentity.outputs.principalId
