@description('Name of the function app that takes the settings.')
@minLength(1)
param appName string

@description('Client id of the managed identity.')
@minLength(36)
@maxLength(36)
param identityClientId string

@description('Address of the blobs of the host storage.')
@minLength(1)
param blobEndpoint string

@description('Host name of the Service Bus namespace.')
@minLength(1)
param serviceBusHostName string

@description('Address of the Cosmos DB account.')
@minLength(1)
param cosmosEndpoint string

@description('Connection string of Application Insights. It holds no secret: keys are switched off there.')
@minLength(1)
param applicationInsightsConnectionString string

@description('Where access tokens come from.')
@minLength(9)
param authorityUrl string

@description('Microsoft Graph.')
@minLength(9)
param graphUrl string

@description('Directory tenant in which the multi-tenant application is registered.')
@minLength(36)
@maxLength(36)
param homeTenantId string

@description('Client id of the multi-tenant application.')
@minLength(36)
@maxLength(36)
param serviceClientId string

@description('Resource URI of the multi-tenant application.')
@minLength(1)
param serviceResourceUri string

@description('Milliseconds for which changes are gathered before collections are evaluated.')
@minValue(0)
@maxValue(60000)
param evaluationDelayMs int

@description('Seconds before each retry of a failed sync job, separated by commas.')
@minLength(1)
param syncRetryDelaysS string

@description('Seconds of work after which a sync job goes on in a new message.')
@minValue(10)
@maxValue(540)
param syncSliceS int

@description('Seconds for which a worker that died holds up the sync of its link.')
@minValue(10)
@maxValue(3600)
param syncLeaseS int

@description('Writes to the directory of one tenant per 150 seconds at most.')
@minValue(1)
@maxValue(3000)
param directoryWritesPerTenant int

@description('Writes to all directories together per 300 seconds at most.')
@minValue(1)
@maxValue(70000)
param directoryWritesInAll int

resource app 'Microsoft.Web/sites@2024-11-01' existing = {
  name: appName
}

resource settings 'Microsoft.Web/sites/config@2024-11-01' = {
  parent: app
  name: 'appsettings'
  properties: {
    // The host: its storage, its telemetry and its triggers, all by the managed identity.
    AzureWebJobsDisableHomepage: 'true'
    AzureWebJobsStorage__blobServiceUri: blobEndpoint
    AzureWebJobsStorage__credential: 'managedidentity'
    AzureWebJobsStorage__clientId: identityClientId
    APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsightsConnectionString
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identityClientId};Authorization=AAD'
    ServiceBus__fullyQualifiedNamespace: serviceBusHostName
    ServiceBus__credential: 'managedidentity'
    ServiceBus__clientId: identityClientId

    // The service: as in shared/settings/settings.ts.
    AUTHORITY_URL: authorityUrl
    SERVICE_CLIENT_ID: serviceClientId
    SERVICE_RESOURCE_URI: serviceResourceUri
    HOME_TENANT_ID: homeTenantId
    GRAPH_URL: graphUrl
    MANAGED_IDENTITY_CLIENT_ID: identityClientId
    COSMOS_ENDPOINT: cosmosEndpoint
    // Alerts and workbook read what is logged at this level.
    LOG_LEVEL: 'info'
    EVALUATION_DELAY_MS: string(evaluationDelayMs)
    SYNC_RETRY_DELAYS_S: syncRetryDelaysS
    SYNC_SLICE_S: string(syncSliceS)
    SYNC_LEASE_S: string(syncLeaseS)
    DIRECTORY_WRITES_PER_TENANT: string(directoryWritesPerTenant)
    DIRECTORY_WRITES_IN_ALL: string(directoryWritesInAll)
  }
}
