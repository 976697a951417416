import { anywhere, append, inModule, inResource, inVariable, type SeededFault, seededFault } from './seeded-fault.ts'

const SERVICE_BUS = 'Microsoft.ServiceBus/namespaces'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'
const STORAGE = 'Microsoft.Storage/storageAccounts'

/** Mistakes that the Azure resource types detect. */
export const TYPE_FAULTS: readonly SeededFault[] = [
  seededFault(
    'a property that does not exist',
    inResource(STORAGE, /accessTier:/, 'accesTier:'),
    /properties\.accesTier does not exist.*accessTier/,
  ),
  seededFault(
    'a property of another level',
    inResource('Microsoft.Web/sites', /^ {2}properties: \{/m, '$&\n    kind: kind'),
    /kind/,
  ),
  seededFault(
    'a misspelt value of an enumeration',
    inResource(STORAGE, /kind: 'StorageV2'/, "kind: 'StorageV22'"),
    /kind must be one of .*did you mean StorageV2/,
  ),
  seededFault(
    'a misspelt value in a variable',
    anywhere(/timeAggregation: 'Maximum'/, "timeAggregation: 'Maximun'"),
    /timeAggregation.*did you mean Maximum/,
  ),
  seededFault(
    'a misspelt value in one branch of a condition',
    inResource(STORAGE, /'Standard_ZRS'/, "'Standard_ZSR'"),
    /sku\.name.*Standard_ZSR/,
  ),
  seededFault(
    'a version that does not exist',
    anywhere(/(namespaces\/queues)@\d{4}-\d\d-\d\d/, '$1@2023-10-01'),
    /no API version 2023-10-01; it has 2024-01-01/,
  ),
  seededFault(
    'a type that does not exist',
    anywhere(/Microsoft\.Web\/serverfarms@/, 'Microsoft.Web/serverfarm@'),
    /no resource type .*did you mean Microsoft\.Web\/serverfarms/,
  ),
  seededFault(
    'a missing required property',
    inResource(COSMOS, /\n +databaseAccountOfferType: .*/, ''),
    /databaseAccountOfferType is required/,
  ),
  seededFault(
    'a missing required property of an item',
    inResource('Microsoft.Insights/metricAlerts', /\n +timeAggregation: .*/, ''),
    /timeAggregation is required/,
  ),
  seededFault(
    'a read-only property set',
    inResource(SERVICE_BUS, /disableLocalAuth: true/, "$&\n    provisioningState: 'Succeeded'"),
    /provisioningState is read-only/,
  ),
  seededFault(
    'text for a Boolean',
    inResource(`${SERVICE_BUS}/queues`, /requiresSession: false/, "requiresSession: 'false'"),
    /requiresSession must be of type bool/,
  ),
  seededFault(
    'text for a number in a list',
    inVariable('queues', /('sync-jobs'.*maxDeliveryCount: )(\d+)/, "$1'$2'"),
    /maxDeliveryCount must be of type int/,
  ),
  seededFault(
    'a single value for a list',
    inResource('Microsoft.Insights/scheduledQueryRules', /scopes: \[(\w+)\]/, 'scopes: $1'),
    /scopes must be of type array/,
  ),
  seededFault(
    'a number out of its range',
    inResource(`${STORAGE}/blobServices`, /(deleteRetentionPolicy: .*days: )7/, '$10'),
    /days must be 1 to 365/,
  ),
  seededFault(
    'a discriminator that does not exist',
    inResource(COSMOS, /type: 'Continuous'/, "type: 'Continous'"),
    /backupPolicy\.type.*did you mean Continuous/,
  ),
  seededFault(
    'a property of another choice',
    inResource(COSMOS, /continuousModeProperties:/, 'periodicModeProperties:'),
    /periodicModeProperties does not exist/,
  ),
  seededFault(
    'an output property that does not exist',
    anywhere(/properties\.documentEndpoint/, 'properties.documentEndpoints'),
    /no property documentEndpoints.*documentEndpoint/,
  ),
  seededFault(
    'a parent of the wrong type',
    inResource(`${STORAGE}/blobServices/containers`, /parent: blobs(\n +name: 'deployments')/, 'parent: account$1'),
    /parent of deployments must be a .*blobServices/,
  ),
]

/** Mistakes in the use of the language. */
export const LANGUAGE_FAULTS: readonly SeededFault[] = [
  seededFault('a bracket left out', inResource(`${SERVICE_BUS}/queues`, /\n\}\]$/, '\n]'), /service-bus\.bicep/),
  seededFault('a quote left out', inModule('storage', /name: 'storage'/, "name: 'storage"), /main\.bicep/),
  seededFault(
    'two properties on one line',
    inModule('storage', /\n +location: location\n +tags: tags/, '\n    location: location tags: tags'),
    /two things on one line/,
  ),
  seededFault(
    'a name that is not declared',
    inResource(
      'Microsoft.Authorization/roleAssignments',
      /principalId: publisherPrincipalId/,
      'principalId: publisherPrincipleId',
    ),
    /publisherPrincipleId is not declared.*publisherPrincipalId/,
  ),
  seededFault(
    'an unused parameter',
    append(/^resource budget /m, "@description('For later.')\nparam later string = ''"),
    /parameter later is not used/,
  ),
  seededFault(
    'a function that does not exist',
    anywhere(/uniqueString\(/, 'uniqString('),
    /function uniqString does not exist.*uniqueString/,
  ),
  seededFault(
    'too few arguments',
    inResource(
      'Microsoft.Network/virtualNetworks',
      /cidrSubnet\(addressPrefix, 25, 0\)/,
      'cidrSubnet(addressPrefix, 25)',
    ),
    /cidrSubnet takes 3 to 3 arguments/,
  ),
  seededFault(
    "a module's parameter left out",
    inModule('serviceIdentity', /\n +tags: tags/, ''),
    /params\.tags is required/,
  ),
  seededFault(
    "a module's parameter misspelt",
    inModule('cosmos', /principalId:/, 'principleId:'),
    /params\.principleId does not exist.*principalId/,
  ),
  seededFault(
    "a module's parameter of the wrong type",
    inModule('storage', /(zoneRedundant: )zoneRedundant/, "$1'yes'"),
    /params\.zoneRedundant must be of type bool/,
  ),
  seededFault(
    "a module's output misspelt",
    inModule('appSettings', /cosmos\.outputs\.endpoint/, 'cosmos.outputs.endpiont'),
    /no property endpiont.*endpoint/,
  ),
  seededFault(
    'a missing module',
    anywhere(/'modules\/budget\.bicep'/, "'modules/budgets.bicep'"),
    /file modules\/budgets\.bicep does not exist/,
  ),
  seededFault(
    'a default that is not allowed',
    anywhere(/(param cosmosMode string = )'serverless'/, "$1'provisioned'"),
    /cosmosMode must be one of serverless, autoscale/,
  ),
]
