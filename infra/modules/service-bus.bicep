@description('Name of the Service Bus namespace.')
@minLength(6)
@maxLength(50)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Whether the namespace is reachable through private endpoints only. Requires the Premium tier.')
param privateNetwork bool

@description('Resource ID of the workspace that receives diagnostic logs.')
@minLength(1)
param workspaceId string

@description('Object ID of the identity that sends and receives messages.')
@minLength(36)
@maxLength(36)
param principalId string

// Same as shared/messaging/queues.ts. A test compares the two. Durations are in ISO 8601 format. The maximum lock
// duration of Service Bus is five minutes.
var queues = [
  { name: 'audits', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'deadlines', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'event-deliveries', lockDuration: 'PT1M', maxDeliveryCount: 10 }
  { name: 'evaluations', lockDuration: 'PT15S', maxDeliveryCount: 10 }
  { name: 'events', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'mails', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'membership-changes', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'sweeps', lockDuration: 'PT5M', maxDeliveryCount: 10 }
  { name: 'sync-jobs', lockDuration: 'PT5M', maxDeliveryCount: 10 }
]

// Reader. The platform reads the lengths of the queues with this identity to decide on the number of instances, which
// needs Microsoft.ServiceBus/namespaces/*/read; without it, it peeks at messages and estimates:
// https://learn.microsoft.com/azure/azure-functions/functions-bindings-service-bus-trigger, Scaling permissions.
// The other role that the page names, Azure Service Bus Data Owner, could change and delete queues. A custom role
// would require the right to define roles for the deployment.
var readerRoleId = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'

// Azure Service Bus Data Receiver, Azure Service Bus Data Sender
var receiverRoleId = '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
var senderRoleId = '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: privateNetwork ? 'Premium' : 'Standard'
    tier: privateNetwork ? 'Premium' : 'Standard'
    capacity: privateNetwork ? 1 : null
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: privateNetwork ? 'Disabled' : 'Enabled'
  }
}

resource serviceQueues 'Microsoft.ServiceBus/namespaces/queues@2024-01-01' = [for queue in queues: {
  parent: namespace
  name: queue.name
  properties: {
    lockDuration: queue.lockDuration
    maxDeliveryCount: queue.maxDeliveryCount
    deadLetteringOnMessageExpiration: true
    // Messages are idempotent notifications: a repeated message can be intended, and a duplicate is harmless.
    requiresDuplicateDetection: false
    requiresSession: false
  }
}]

resource receivers 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (queue, index) in queues: {
  name: guid(serviceQueues[index].id, principalId, receiverRoleId)
  scope: serviceQueues[index]
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', receiverRoleId)
  }
}]

resource senders 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for (queue, index) in queues: {
  name: guid(serviceQueues[index].id, principalId, senderRoleId)
  scope: serviceQueues[index]
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', senderRoleId)
  }
}]

resource reader 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(namespace.id, principalId, readerRoleId)
  scope: namespace
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', readerRoleId)
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: namespace
  properties: {
    workspaceId: workspaceId
    logs: [
      { categoryGroup: 'allLogs', enabled: true }
    ]
    metrics: [
      { category: 'AllMetrics', enabled: true }
    ]
  }
}

@description('Resource ID of the namespace.')
output id string = namespace.id

@description('Host name of the namespace.')
output hostName string = split(replace(namespace.properties.serviceBusEndpoint, 'https://', ''), ':')[0]
