@description('Name of the managed identity.')
@minLength(1)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of every resource.')
param tags object

// The one identity of the service: towards the database, the queues, the storage and the monitoring, and as the federated
// credential of the multi-tenant application towards the directories.
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Resource id, by which other resources take the identity on.')
output id string = identity.id

@description('Object id, to which roles are assigned; also the subject of the federated credential.')
output principalId string = identity.properties.principalId

@description('Client id, by which the service names the identity that it wants a token of.')
output clientId string = identity.properties.clientId
