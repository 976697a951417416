@description('Name of the function app.')
@minLength(2)
@maxLength(60)
param name string

@description('Name of its plan.')
@minLength(1)
param planName string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of every resource.')
param tags object

@description('Name of the service in azure.yaml, by which azd finds where to put the code.')
@minLength(1)
param serviceName string

@description('Major version of Node.js.')
@allowed(['22', '24'])
param nodeVersion string

@description('Megabytes of memory of an instance.')
@allowed([512, 2048, 4096])
param instanceMemoryMb int

@description('Instances at most, of each group of functions that scales together.')
@minValue(40)
@maxValue(1000)
param maximumInstanceCount int

@description('Instances that always stand ready for HTTP requests.')
@minValue(0)
@maxValue(100)
param alwaysReadyInstanceCount int

@description('Whether instances are spread over zones.')
param zoneRedundant bool

@description('Resource id of the subnet through which the app reaches the other resources; empty for none.')
@maxLength(1000)
param subnetId string

@description('Resource id of the managed identity.')
@minLength(1)
param identityId string

@description('Address of the container from which the code is run.')
@minLength(1)
param deploymentContainerUrl string

@description('Workspace that takes the diagnostic metrics.')
@minLength(1)
param workspaceId string

resource plan 'Microsoft.Web/serverfarms@2024-11-01' = {
  name: planName
  location: location
  tags: tags
  kind: 'functionapp'
  sku: {
    name: 'FC1'
    tier: 'FlexConsumption'
  }
  properties: {
    reserved: true
    zoneRedundant: zoneRedundant
  }
}

resource app 'Microsoft.Web/sites@2024-11-01' = {
  name: name
  location: location
  tags: union(tags, { 'azd-service-name': serviceName })
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${identityId}': {}
    }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    clientAffinityEnabled: false
    virtualNetworkSubnetId: empty(subnetId) ? null : subnetId
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: deploymentContainerUrl
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identityId
          }
        }
      }
      runtime: {
        name: 'node'
        version: nodeVersion
      }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemoryMb
        maximumInstanceCount: maximumInstanceCount
        alwaysReady: alwaysReadyInstanceCount == 0 ? [] : [
          { name: 'http', instanceCount: alwaysReadyInstanceCount }
        ]
      }
    }
    siteConfig: {
      minTlsVersion: '1.2'
      scmMinTlsVersion: '1.2'
      ftpsState: 'Disabled'
      http20Enabled: true
    }
  }
}

// Code is put in place with the operator's own sign-in: no publishing password is taken.
resource ftpPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = {
  parent: app
  name: 'ftp'
  properties: { allow: false }
}

resource scmPasswords 'Microsoft.Web/sites/basicPublishingCredentialsPolicies@2024-11-01' = {
  parent: app
  name: 'scm'
  properties: { allow: false }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: app
  properties: {
    workspaceId: workspaceId
    metrics: [
      { category: 'AllMetrics', enabled: true }
    ]
  }
}

@description('Name of the function app.')
output name string = app.name

@description('Where the API is.')
output url string = 'https://${app.properties.defaultHostName}'
