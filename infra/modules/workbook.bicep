@description('Title of the workbook.')
@minLength(1)
param displayName string

@description('Azure region.')
@minLength(1)
param location string

@description('Tags of all resources.')
param tags object

@description('Resource ID of the workspace that the workbook queries.')
@minLength(1)
param workspaceId string

@description('Resource ID of the Service Bus namespace.')
@minLength(1)
param serviceBusId string

@description('Resource ID of the Cosmos DB account.')
@minLength(1)
param cosmosId string

var template = loadTextContent('../workbook.json')
var withServiceBus = replace(template, '{{serviceBusId}}', serviceBusId)
var withCosmos = replace(withServiceBus, '{{cosmosId}}', cosmosId)

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, 'workbook')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: displayName
    category: 'workbook'
    version: 'Notebook/1.0'
    sourceId: toLower(workspaceId)
    serializedData: withCosmos
  }
}
