import { type DeployedResource, isObject, textOfValue } from '../bicep/value.ts'
import { at, expect, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

/** The sub-resource of private endpoints, and the DNS zone of their address, by resource type. */
const PRIVATE: Readonly<Record<string, { readonly groupId: string; readonly zone: string }>> = {
  'Microsoft.DocumentDB/databaseAccounts': { groupId: 'Sql', zone: 'privatelink.documents.azure.com' },
  'Microsoft.ServiceBus/namespaces': { groupId: 'namespace', zone: 'privatelink.servicebus.windows.net' },
  'Microsoft.Storage/storageAccounts': { groupId: 'blob', zone: 'privatelink.blob.core.windows.net' },
}

/** A resource without public access has a private endpoint, and the app is in the network of the endpoint. */
export const closedResourcesAreReachable: Rule = (subject) => {
  const closed = Object.keys(PRIVATE)
    .flatMap((type) => ofType(subject, type))
    .filter((resource) => at(resource, 'properties.publicNetworkAccess') === 'Disabled')
  for (const resource of closed) checkEndpoint(subject, resource)
  if (closed.length === 0) return
  if (closed.length < Object.keys(PRIVATE).length) {
    subject.report(closed[0]?.at ?? { file: '', line: 0 }, 'public access is disabled for some resources only')
  }
  for (const namespace of ofType(subject, 'Microsoft.ServiceBus/namespaces')) {
    expect(subject, namespace, 'sku.name', 'Premium')
    expect(subject, namespace, 'sku.tier', 'Premium')
  }
  const subnets = ofType(subject, 'Microsoft.Network/virtualNetworks').flatMap((network) =>
    itemsOf(at(network, 'properties.subnets')).flatMap((subnet) =>
      isObject(subnet) && textOfValue(subnet).includes('Microsoft.App/environments')
        ? [`${network.id}/subnets/${textOfValue(subnet.name ?? '')}`]
        : [],
    ),
  )
  for (const site of ofType(subject, 'Microsoft.Web/sites')) {
    expect(subject, site, 'properties.virtualNetworkSubnetId', ...subnets)
  }
}

function checkEndpoint(subject: Subject, resource: DeployedResource): void {
  const { groupId = '', zone = '' } = PRIVATE[resource.type] ?? {}
  const endpoint = ofType(subject, 'Microsoft.Network/privateEndpoints').find((endpoint) =>
    textOfValue(at(endpoint, 'properties.privateLinkServiceConnections') ?? '').includes(`"${resource.id}"`),
  )
  if (endpoint === undefined) {
    subject.report(resource.at, `${resource.type} has neither public access nor a private endpoint`)
    return
  }
  const connections = at(endpoint, 'properties.privateLinkServiceConnections')
  if (!textOfValue(connections ?? '').includes(`"groupIds":["${groupId}"]`)) {
    subject.report(endpoint.at, `groupIds for ${resource.type} must be ${groupId}`)
  }
  const zoneOf = ofType(subject, 'Microsoft.Network/privateDnsZones').find(({ name }) => name === zone)
  const groups = ofType(subject, 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups')
  const isNamed = groups.some(
    (group) => group.parent?.id === endpoint.id && zoneOf && textOfValue(group.body).includes(`"${zoneOf.id}"`),
  )
  if (!isNamed) subject.report(endpoint.at, `the private endpoint of ${resource.type} is not in the DNS zone ${zone}`)
  const links = ofType(subject, 'Microsoft.Network/privateDnsZones/virtualNetworkLinks')
  if (zoneOf && !links.some(({ parent }) => parent?.id === zoneOf.id)) {
    subject.report(zoneOf.at, `the DNS zone ${zone} is not linked to a network`)
  }
}
