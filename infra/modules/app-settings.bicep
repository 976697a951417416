@description('Name of the function app.')
@minLength(1)
param appName string

@description('Client ID of the identity that reads and writes the data of the service.')
@minLength(36)
@maxLength(36)
param serviceIdentityClientId string

@description('Client ID of the identity that signs in to the directories.')
@minLength(36)
@maxLength(36)
param graphIdentityClientId string

@description('Client ID of the identity that the Functions host uses for its own blobs.')
@minLength(36)
@maxLength(36)
param hostIdentityClientId string

@description('Blob endpoint of the host storage account.')
@minLength(1)
param blobEndpoint string

@description('Host name of the Service Bus namespace.')
@minLength(1)
param serviceBusHostName string

@description('Endpoint of the Cosmos DB account.')
@minLength(1)
param cosmosEndpoint string

@description('Connection string of Application Insights. It contains no secret because local authentication is disabled.')
@minLength(1)
param applicationInsightsConnectionString string

@description('URL of the authority that issues access tokens.')
@minLength(9)
param authorityUrl string

@description('URL of Microsoft Graph.')
@minLength(9)
param graphUrl string

@description('Tenant in which the multi-tenant application is registered.')
@minLength(36)
@maxLength(36)
param homeTenantId string

@description('Client ID of the multi-tenant application.')
@minLength(36)
@maxLength(36)
param serviceClientId string

@description('Resource URI of the multi-tenant application.')
@minLength(1)
param serviceResourceUri string

@description('Scope of the application that access tokens of users must have.')
@minLength(1)
param apiScope string

@description('Client ID of the single-page application that signs people in to the console. Empty: no console.')
@maxLength(36)
param consoleClientId string

@description('Tenants that may use the service: any, or tenant IDs, comma-separated.')
@minLength(3)
param tenants string

@description('Maximum requests of one caller to one instance per minute. 0 for no limit.')
@minValue(0)
@maxValue(999999999)
param requestsPerCallerPerMinute int

@description('Maximum requests of all callers of one tenant to one instance per minute. 0 for no limit.')
@minValue(0)
@maxValue(999999999)
param requestsPerTenantPerMinute int

@description('Delay in milliseconds before an evaluation, during which changes are collected.')
@minValue(0)
@maxValue(60000)
param evaluationDelayMs int

@description('Days for which changes of the members of collections are kept.')
@minValue(1)
@maxValue(3650)
param historyDays int

@description('Memory of an instance for the core objects of its tenants, in megabytes.')
@minValue(100)
@maxValue(3000)
param rowsMemoryMb int

@description('Delay in seconds before each retry of a failed sync job, comma-separated.')
@minLength(1)
param syncRetryDelaysS string

@description('Run time in seconds after which a sync job continues in a new message.')
@minValue(10)
@maxValue(540)
param syncBatchS int

@description('Duration in seconds of the lease that a worker holds on a group link.')
@minValue(10)
@maxValue(3600)
param syncLeaseS int

@description('Limit for differences between the clocks of instances, in seconds.')
@minValue(0)
@maxValue(600)
param clockDifferenceS int

@description('Maximum writes to the directory of one tenant per 150 seconds.')
@minValue(1)
@maxValue(3000)
param directoryWritesPerTenant int

@description('Maximum writes to all directories together per 300 seconds.')
@minValue(1)
@maxValue(70000)
param directoryWritesTotal int

@description('Prefixes of addresses that get events besides public ones by https, comma-separated. Empty for none.')
@maxLength(4000)
param eventTargets string

@description('Address of the mailbox that mails are sent from. Empty: no mails.')
@maxLength(254)
param mailSender string

@description('Address at which people reach the service, for links in mails. Empty: the host name of the function app.')
@maxLength(2000)
param publicUrl string

resource app 'Microsoft.Web/sites@2024-11-01' existing = {
  name: appName
}

resource settings 'Microsoft.Web/sites/config@2024-11-01' = {
  parent: app
  name: 'appsettings'
  properties: {
    // Settings of the Functions host. Its storage has an identity of its own; telemetry and triggers use the service's.
    AzureWebJobsDisableHomepage: 'true'
    // Run by operators with the master key only: https://learn.microsoft.com/azure/azure-functions/disable-function
    // Linux replaces the dots by underscores; the host reads both forms.
    'AzureWebJobs.sweep.Disabled': 'true'
    'AzureWebJobs.sweepAfterRestore.Disabled': 'true'
    AzureWebJobsStorage__blobServiceUri: blobEndpoint
    AzureWebJobsStorage__credential: 'managedidentity'
    AzureWebJobsStorage__clientId: hostIdentityClientId
    APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsightsConnectionString
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${serviceIdentityClientId};Authorization=AAD'
    ServiceBus__fullyQualifiedNamespace: serviceBusHostName
    ServiceBus__credential: 'managedidentity'
    ServiceBus__clientId: serviceIdentityClientId

    // Settings of the service.
    AUTHORITY_URL: authorityUrl
    SERVICE_CLIENT_ID: serviceClientId
    SERVICE_RESOURCE_URI: serviceResourceUri
    API_SCOPE: apiScope
    CONSOLE_CLIENT_ID: consoleClientId
    CONSOLE_AUTHORITY_URL: authorityUrl
    TENANTS: tenants
    REQUESTS_PER_CALLER_PER_MINUTE: string(requestsPerCallerPerMinute)
    REQUESTS_PER_TENANT_PER_MINUTE: string(requestsPerTenantPerMinute)
    HOME_TENANT_ID: homeTenantId
    GRAPH_URL: graphUrl
    MANAGED_IDENTITY_CLIENT_ID: serviceIdentityClientId
    GRAPH_IDENTITY_CLIENT_ID: graphIdentityClientId
    COSMOS_ENDPOINT: cosmosEndpoint
    // The alerts and the workbook query events of this level.
    LOG_LEVEL: 'info'
    ROWS_MEMORY_MB: string(rowsMemoryMb)
    EVALUATION_DELAY_MS: string(evaluationDelayMs)
    HISTORY_DAYS: string(historyDays)
    SYNC_RETRY_DELAYS_S: syncRetryDelaysS
    SYNC_BATCH_S: string(syncBatchS)
    SYNC_LEASE_S: string(syncLeaseS)
    CLOCK_DIFFERENCE_S: string(clockDifferenceS)
    DIRECTORY_WRITES_PER_TENANT: string(directoryWritesPerTenant)
    DIRECTORY_WRITES_TOTAL: string(directoryWritesTotal)
    EVENT_TARGETS: eventTargets
    MAIL_SENDER: mailSender
    PUBLIC_URL: publicUrl
  }
}
