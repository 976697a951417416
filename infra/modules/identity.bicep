@description('Name of the managed identity.')
@minLength(1)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Resource ID of the identity.')
output id string = identity.id

@description('Object ID of the identity, used for role assignments and as subject of the federated credential.')
output principalId string = identity.properties.principalId

@description('Client ID of the identity, used by the service to request tokens.')
output clientId string = identity.properties.clientId
