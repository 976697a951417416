@description('Name of the Log Analytics workspace.')
@minLength(1)
param workspaceName string

@description('Name of the Application Insights component.')
@minLength(1)
param componentName string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Daily cap of log ingestion in gigabytes. Logs beyond the cap are lost until the cap resets.')
@minValue(1)
@maxValue(1000)
param dailyLogQuotaGb int

@description('Retention of logs in days.')
@allowed([30, 60, 90, 180, 365, 730])
param logRetentionDays int

@description('Object ID of the identity that sends telemetry.')
@minLength(36)
@maxLength(36)
param publisherPrincipalId string

// Monitoring Metrics Publisher
var publisherRoleId = '3913510d-42f4-4e42-8a64-420c390055eb'

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-02-01' = {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: logRetentionDays
    workspaceCapping: { dailyQuotaGb: dailyLogQuotaGb }
    features: {
      disableLocalAuth: true
      enableLogAccessUsingOnlyResourcePermissions: true
    }
  }
}

resource component 'Microsoft.Insights/components@2020-02-02' = {
  name: componentName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    IngestionMode: 'LogAnalytics'
    DisableLocalAuth: true
  }
}

resource publisher 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(component.id, publisherPrincipalId, publisherRoleId)
  scope: component
  properties: {
    principalId: publisherPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', publisherRoleId)
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: workspace
  properties: {
    workspaceId: workspace.id
    logs: [
      { categoryGroup: 'audit', enabled: true }
    ]
  }
}

@description('Resource ID of the workspace.')
output workspaceId string = workspace.id

@description('Resource ID of the Application Insights component.')
output componentId string = component.id

@description('Connection string of Application Insights. It grants no access because local authentication is disabled.')
output connectionString string = component.properties.ConnectionString
