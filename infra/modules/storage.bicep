@description('Name of the storage account. It contains only the deployment package and the leases of the Functions host.')
@minLength(3)
@maxLength(24)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Whether the account uses zone-redundant storage.')
param zoneRedundant bool

@description('Whether the account is reachable through private endpoints only.')
param privateNetwork bool

@description('Resource ID of the workspace that receives diagnostic logs.')
@minLength(1)
param workspaceId string

@description('Object ID of the identity that the Functions host uses for its own blobs.')
@minLength(36)
@maxLength(36)
param hostPrincipalId string

@description('Object ID of the identity that writes and reads the deployment package.')
@minLength(36)
@maxLength(36)
param deploymentPrincipalId string

// Storage Blob Data Owner, Storage Blob Data Contributor
var blobOwnerRoleId = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
var blobContributorRoleId = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

// The containers of the Functions host: leases of timers and instances, and keys. The host would create them; its
// identity may not.
var hostContainerNames = ['azure-webjobs-hosts', 'azure-webjobs-secrets']

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS' }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: privateNetwork ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: privateNetwork ? 'Deny' : 'Allow'
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: { enabled: true, days: 7 }
    containerDeleteRetentionPolicy: { enabled: true, days: 7 }
  }
}

resource deployments 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = {
  parent: blobs
  name: 'deployments'
  properties: { publicAccess: 'None' }
}

resource hostContainers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [for hostContainerName in hostContainerNames: {
  parent: blobs
  name: hostContainerName
  properties: { publicAccess: 'None' }
}]

resource hostBlobOwner 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (hostContainerName, index) in hostContainerNames: {
  name: guid(hostContainers[index].id, hostPrincipalId, blobOwnerRoleId)
  scope: hostContainers[index]
  properties: {
    principalId: hostPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobOwnerRoleId)
  }
}]

resource deploymentBlobContributor 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(deployments.id, deploymentPrincipalId, blobContributorRoleId)
  scope: deployments
  properties: {
    principalId: deploymentPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobContributorRoleId)
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: blobs
  properties: {
    workspaceId: workspaceId
    logs: [
      { category: 'StorageRead', enabled: true }
      { category: 'StorageWrite', enabled: true }
      { category: 'StorageDelete', enabled: true }
    ]
    metrics: [
      { category: 'Transaction', enabled: true }
    ]
  }
}

@description('Resource ID of the account.')
output id string = account.id

@description('Blob endpoint, with a trailing slash.')
output blobEndpoint string = account.properties.primaryEndpoints.blob

@description('URL of the blob container with the deployment package.')
output deploymentContainerUrl string = '${account.properties.primaryEndpoints.blob}${deployments.name}'
