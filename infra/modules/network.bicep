@description('Whether to create the virtual network. If false, this module creates no resources.')
param enabled bool

@description('Name of the virtual network.')
@minLength(1)
param name string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Address range of the network, a /24. Half is for the app, half for the private endpoints.')
@minLength(9)
@maxLength(18)
param addressPrefix string

@description('Address ranges of operators that may reach the private endpoints, in CIDR notation. Empty: only the app.')
param operatorAddressRanges array

@description('Resource ID of the Cosmos DB account.')
@minLength(1)
param cosmosId string

@description('Name of the private endpoint of the Cosmos DB account, after the name of the network.')
@minLength(1)
@maxLength(26)
param cosmosEndpointName string

@description('Resource ID of the Service Bus namespace.')
@minLength(1)
param serviceBusId string

@description('Resource ID of the storage account.')
@minLength(1)
param storageId string

var appSubnetName = 'app'
var endpointSubnetName = 'private-endpoints'

var endpoints = [
  { name: cosmosEndpointName, resourceId: cosmosId, groupId: 'Sql', zone: 'privatelink.documents.azure.com' }
  { name: 'service-bus', resourceId: serviceBusId, groupId: 'namespace', zone: 'privatelink.servicebus.windows.net' }
  { name: 'storage', resourceId: storageId, groupId: 'blob', zone: 'privatelink.blob.${environment().suffixes.storage}' }
]

// Nothing reaches the app through its subnet: requests come through the public address of the app.
resource appSecurity 'Microsoft.Network/networkSecurityGroups@2024-07-01' = if (enabled) {
  name: '${name}-app'
  location: location
  tags: tags
  properties: {
    securityRules: [
      {
        name: 'deny-inbound'
        properties: {
          direction: 'Inbound'
          access: 'Deny'
          priority: 4096
          protocol: '*'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
    ]
  }
}

// Operators replay dead letters and change documents from a network that is connected with this one.
var operatorRules = empty(operatorAddressRanges) ? [] : [
  {
    name: 'allow-operators'
    properties: {
      direction: 'Inbound'
      access: 'Allow'
      priority: 110
      protocol: 'Tcp'
      sourceAddressPrefixes: operatorAddressRanges
      sourcePortRange: '*'
      destinationAddressPrefix: cidrSubnet(addressPrefix, 25, 1)
      destinationPortRanges: ['443', '5671']
    }
  }
]

// Only the app and operators reach the private endpoints, by HTTPS and AMQP.
resource endpointSecurity 'Microsoft.Network/networkSecurityGroups@2024-07-01' = if (enabled) {
  name: '${name}-private-endpoints'
  location: location
  tags: tags
  properties: {
    securityRules: concat(operatorRules, [
      {
        name: 'allow-app'
        properties: {
          direction: 'Inbound'
          access: 'Allow'
          priority: 100
          protocol: 'Tcp'
          sourceAddressPrefix: cidrSubnet(addressPrefix, 25, 0)
          sourcePortRange: '*'
          destinationAddressPrefix: cidrSubnet(addressPrefix, 25, 1)
          destinationPortRanges: ['443', '5671']
        }
      }
      {
        name: 'deny-inbound'
        properties: {
          direction: 'Inbound'
          access: 'Deny'
          priority: 4096
          protocol: '*'
          sourceAddressPrefix: '*'
          sourcePortRange: '*'
          destinationAddressPrefix: '*'
          destinationPortRange: '*'
        }
      }
    ])
  }
}

resource network 'Microsoft.Network/virtualNetworks@2024-07-01' = if (enabled) {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: [addressPrefix] }
    subnets: [
      {
        name: appSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 25, 0)
          networkSecurityGroup: { id: appSecurity.id }
          delegations: [
            {
              name: 'functions'
              properties: { serviceName: 'Microsoft.App/environments' }
            }
          ]
        }
      }
      {
        name: endpointSubnetName
        properties: {
          addressPrefix: cidrSubnet(addressPrefix, 25, 1)
          networkSecurityGroup: { id: endpointSecurity.id }
          privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'
        }
      }
    ]
  }
}

resource zones 'Microsoft.Network/privateDnsZones@2024-06-01' = [for endpoint in endpoints: if (enabled) {
  name: endpoint.zone
  location: 'global'
  tags: tags
}]

resource zoneLinks 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [for (endpoint, index) in endpoints: if (enabled) {
  parent: zones[index]
  name: name
  location: 'global'
  tags: tags
  properties: {
    registrationEnabled: false
    virtualNetwork: { id: network.id }
  }
}]

resource privateEndpoints 'Microsoft.Network/privateEndpoints@2024-07-01' = [for endpoint in endpoints: if (enabled) {
  name: '${name}-${endpoint.name}'
  location: location
  tags: tags
  properties: {
    subnet: { id: '${network.id}/subnets/${endpointSubnetName}' }
    privateLinkServiceConnections: [
      {
        name: endpoint.name
        properties: {
          privateLinkServiceId: endpoint.resourceId
          groupIds: [endpoint.groupId]
        }
      }
    ]
  }
}]

resource zoneGroups 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-07-01' = [for (endpoint, index) in endpoints: if (enabled) {
  parent: privateEndpoints[index]
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: endpoint.name
        properties: { privateDnsZoneId: zones[index].id }
      }
    ]
  }
}]

@description('Resource ID of the subnet of the app. Empty without a virtual network.')
output appSubnetId string = enabled ? '${network.id}/subnets/${appSubnetName}' : ''
