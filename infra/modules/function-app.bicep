@description('Name of the function app.')
@minLength(2)
@maxLength(60)
param name string

@description('Name of the hosting plan.')
@minLength(1)
param planName string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Name of the service in azure.yaml. azd deploys the code to the app with this tag.')
@minLength(1)
param serviceName string

@description('Major version of Node.js.')
@allowed(['22', '24'])
param nodeVersion string

@description('Memory of an instance in megabytes.')
@allowed([512, 2048, 4096])
param instanceMemoryMb int

@description('Maximum number of instances per scale group.')
@minValue(40)
@maxValue(1000)
param maximumInstanceCount int

@description('Number of always-ready instances for HTTP requests.')
@minValue(0)
@maxValue(100)
param alwaysReadyInstanceCount int

@description('Whether the app is zone redundant.')
param zoneRedundant bool

@description('Resource ID of the subnet for outbound traffic. Empty without virtual network integration.')
@maxLength(1000)
param subnetId string

@description('Resource ID of the identity that reads and writes the data of the service.')
@minLength(1)
param serviceIdentityId string

@description('Resource ID of the identity that signs in to the directories.')
@minLength(1)
param graphIdentityId string

@description('Resource ID of the identity that the Functions host uses for its own blobs.')
@minLength(1)
param hostIdentityId string

@description('Resource ID of the identity that writes and reads the deployment package.')
@minLength(1)
param deploymentIdentityId string

@description('URL of the blob container with the deployment package.')
@minLength(1)
param deploymentContainerUrl string

@description('Resource ID of the workspace that receives diagnostic metrics.')
@minLength(1)
param workspaceId string

@description('Address ranges that may reach the app, in CIDR notation. Empty: all addresses.')
param allowedAddressRanges array

// Without this rule, the alert for a failed health check would fire for as long as address ranges are given.
var availabilityTestRule = {
  name: 'availability-tests'
  action: 'Allow'
  tag: 'ServiceTag'
  ipAddress: 'ApplicationInsightsAvailability'
  priority: 99
}
var addressRangeRules = [for (range, index) in allowedAddressRanges: {
  name: 'allowed-${index}'
  action: 'Allow'
  ipAddress: range
  priority: 100 + index
}]

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
      '${serviceIdentityId}': {}
      '${graphIdentityId}': {}
      '${hostIdentityId}': {}
      '${deploymentIdentityId}': {}
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
            userAssignedIdentityResourceId: deploymentIdentityId
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
      minTlsVersion: '1.3'
      scmMinTlsVersion: '1.3'
      ftpsState: 'Disabled'
      http20Enabled: true
      ipSecurityRestrictionsDefaultAction: empty(allowedAddressRanges) ? 'Allow' : 'Deny'
      scmIpSecurityRestrictionsDefaultAction: empty(allowedAddressRanges) ? 'Allow' : 'Deny'
      scmIpSecurityRestrictionsUseMain: true
      ipSecurityRestrictions: empty(allowedAddressRanges) ? [] : concat([availabilityTestRule], addressRangeRules)
    }
  }
}

// Deployments use Microsoft Entra ID sign-in. Publishing passwords are disabled.
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
    // The category FunctionAppLogs would repeat what the host and the service export to Application Insights (AppTraces).
    metrics: [
      { category: 'AllMetrics', enabled: true }
    ]
  }
}

@description('Name of the function app.')
output name string = app.name

@description('Base URL of the API.')
output url string = 'https://${app.properties.defaultHostName}'
