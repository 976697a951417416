@description('Name of the Cosmos DB account.')
@minLength(3)
@maxLength(44)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Capacity mode: serverless (billed per request) or autoscale (billed per hour up to a maximum).')
@allowed(['serverless', 'autoscale'])
param mode string

@description('Maximum request units per second, shared by all containers, in steps of 1000. Applies to autoscale only.')
@minValue(1000)
@maxValue(1000000)
param autoscaleMaxThroughput int

@description('Whether the account is zone redundant.')
param zoneRedundant bool

@description('Whether the account is reachable through private endpoints only.')
param privateNetwork bool

@description('Tier of the continuous backup.')
@allowed(['Continuous7Days', 'Continuous30Days'])
param backupTier string

@description('Whether the account has a delete lock.')
param deleteLock bool

@description('Resource ID of the workspace that receives diagnostic logs.')
@minLength(1)
param workspaceId string

@description('Object ID of the identity that reads and writes data.')
@minLength(36)
@maxLength(36)
param principalId string

// Cosmos DB Built-in Data Contributor, a role of the Cosmos DB account and not of Azure.
var dataContributorRoleId = '00000000-0000-0000-0000-000000000002'

var databaseId = 'collections'

// Same as shared/cosmos/containers.ts, which explains the paths. A test compares the two.
var containers = [
  {
    id: 'coreObjects'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [
      { path: '/*' }
      { path: '/objectType/?' }
      { path: '/attributes/nin/?' }
      { path: '/attributes/directoryObjectId/?' }
      { path: '/attributes/directoryOnPremisesSamAccountName/?' }
      { path: '/attributes/employeeId/?' }
      { path: '/externalId/?' }
      { path: '/accountChangedAtMs/?' }
      { path: '/claimedAccount/?' }
      { path: '/unresolvedIn/?' }
    ]
    excludedPaths: [
      { path: '/contributors/*' }
      { path: '/changes/*' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: [
      [{ path: '/search/identity/name', order: 'ascending' }, { path: '/search/identity/text', order: 'ascending' }]
      [{ path: '/search/orgUnit/name', order: 'ascending' }, { path: '/search/orgUnit/text', order: 'ascending' }]
      [{ path: '/search/relationship/name', order: 'ascending' }, { path: '/search/relationship/text', order: 'ascending' }]
    ]
  }
  {
    id: 'connectors'
    partitionKey: '/tenantId'
    defaultTtl: null
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [{ path: '/attributeTypes/*' }, { path: '/"_etag"/?' }]
    compositeIndexes: []
  }
  {
    id: 'connectorObjects'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [
      { path: '/*' }
      { path: '/data/nin/?' }
      { path: '/data/directoryObjectId/?' }
      { path: '/foldedKeys/nin/?' }
      { path: '/foldedKeys/email/?' }
      { path: '/foldedKeys/employeeNumber/?' }
      { path: '/foldedKeys/directoryUserPrincipalName/?' }
      { path: '/hasConflicts/?' }
    ]
    excludedPaths: [
      { path: '/data/*' }
      { path: '/formerIds/*' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'collections'
    partitionKey: '/tenantId'
    defaultTtl: null
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/definition/?' }
      { path: '/description/?' }
      { path: '/entry/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'members'
    partitionKey: '/membersOf'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/ids/*' }
      { path: '/causes/*' }
      { path: '/accounts/*' }
      { path: '/packedAdded/?' }
      { path: '/packedRemoved/?' }
      { path: '/packedRows/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'requests'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/notes/?' }
      { path: '/lifecycle/*' }
      { path: '/causes/*' }
      { path: '/entry/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'links'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: [{ paths: ['/directoryGroupId'] }]
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/lease/*' }
      { path: '/recentWrites/*' }
      { path: '/removalWindow/*' }
      { path: '/unseenAdditions/*' }
      { path: '/unresolved/*' }
      { path: '/withoutAccount/*' }
      { path: '/acceptedWithoutAccount/*' }
      { path: '/entry/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'jobs'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/unresolved/*' }
      { path: '/journal/*' }
      { path: '/error/?' }
      { path: '/approvalNotes/?' }
      { path: '/entry/?' }
      { path: '/packedLinks/?' }
      { path: '/packedAdded/?' }
      { path: '/packedRemoved/?' }
      { path: '/skippedCounts/*' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'removalPlans'
    partitionKey: '/planOf'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/accounts/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'tenants'
    partitionKey: '/tenantId'
    defaultTtl: null
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/entries/*' }
      { path: '/customAttributes/*' }
      { path: '/trackedGroups/*' }
      { path: '/sweepLog/*' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'events'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/subscriptions/*' }
      { path: '/deliveries/*' }
      { path: '/entry/?' }
      { path: '/notice/*' }
      { path: '/mailbox/*' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
  {
    id: 'idempotencyKeys'
    partitionKey: '/tenantId'
    defaultTtl: -1
    uniqueKeys: []
    includedPaths: [{ path: '/*' }]
    excludedPaths: [
      { path: '/result/?' }
      { path: '/fingerprint/?' }
      { path: '/seed/?' }
      { path: '/inProgressUntilMs/?' }
      { path: '/"_etag"/?' }
    ]
    compositeIndexes: []
  }
]

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-04-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    consistencyPolicy: { defaultConsistencyLevel: 'Strong' }
    locations: [
      {
        locationName: location
        failoverPriority: 0
        isZoneRedundant: zoneRedundant
      }
    ]
    capabilities: mode == 'serverless' ? [{ name: 'EnableServerless' }] : []
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: backupTier }
    }
    disableLocalAuth: true
    disableKeyBasedMetadataWriteAccess: true
    minimalTlsVersion: 'Tls12'
    publicNetworkAccess: privateNetwork ? 'Disabled' : 'Enabled'
  }
}

resource database 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2025-04-15' = {
  parent: account
  name: databaseId
  properties: {
    resource: { id: databaseId }
    options: mode == 'serverless' ? {} : {
      autoscaleSettings: { maxThroughput: autoscaleMaxThroughput }
    }
  }
}

resource databaseContainers 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers@2025-04-15' = [for container in containers: {
  parent: database
  name: container.id
  properties: {
    resource: {
      id: container.id
      partitionKey: {
        paths: [container.partitionKey]
        kind: 'Hash'
        version: 2
      }
      defaultTtl: container.defaultTtl
      uniqueKeyPolicy: { uniqueKeys: container.uniqueKeys }
      indexingPolicy: {
        automatic: true
        indexingMode: 'consistent'
        includedPaths: container.includedPaths
        excludedPaths: container.excludedPaths
        compositeIndexes: container.compositeIndexes
      }
    }
  }
}]

// The service reads and writes all containers of its database and has no access to other databases.
resource dataContributor 'Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments@2025-04-15' = {
  parent: account
  name: guid(database.id, principalId, dataContributorRoleId)
  properties: {
    principalId: principalId
    roleDefinitionId: '${account.id}/sqlRoleDefinitions/${dataContributorRoleId}'
    scope: '${account.id}/dbs/${databaseId}'
  }
}

// All other resources can be redeployed. This account holds the only copy of the data.
resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (deleteLock) {
  name: 'keep'
  scope: account
  properties: {
    level: 'CanNotDelete'
    notes: 'This account holds the only copy of the data. Remove this lock before you delete the account.'
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: account
  properties: {
    workspaceId: workspaceId
    // Resource-specific tables. Requests for data are not logged: a row of about 1 KB for each operation of the service
    // would be most of all logs. The guide logs them for the time of an operator's access.
    logAnalyticsDestinationType: 'Dedicated'
    logs: [
      { category: 'ControlPlaneRequests', enabled: true }
    ]
    metrics: [
      { category: 'AllMetrics', enabled: true }
    ]
  }
}

@description('Resource ID of the account.')
output id string = account.id

@description('Endpoint of the account.')
output endpoint string = account.properties.documentEndpoint
