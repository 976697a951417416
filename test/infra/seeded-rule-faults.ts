import { anywhere, append, inModule, inResource, inVariable, type SeededFault, seededFault } from './seeded-fault.ts'

const SERVICE_BUS = 'Microsoft.ServiceBus/namespaces'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'
const STORAGE = 'Microsoft.Storage/storageAccounts'
const ROLE = 'Microsoft.Authorization/roleAssignments'

/** Mistakes that the rules detect, but not the types. */
export const RULE_FAULTS: readonly SeededFault[] = [
  seededFault(
    'keys of the database left on',
    inResource(COSMOS, /disableLocalAuth: true/, 'disableLocalAuth: false'),
    /disableLocalAuth .* must be true/,
  ),
  seededFault(
    'keys of the storage left on',
    inResource(STORAGE, /allowSharedKeyAccess: false/, 'allowSharedKeyAccess: true'),
    /allowSharedKeyAccess .* must be false/,
  ),
  seededFault(
    'keys of the queues not mentioned',
    inResource(SERVICE_BUS, /\n +disableLocalAuth: true/, ''),
    /disableLocalAuth .* not set/,
  ),
  seededFault('TLS 1.0', inResource(STORAGE, /'TLS1_2'/, "'TLS1_0'"), /minimumTlsVersion .* must be TLS1_2/),
  seededFault(
    'a password for publishing',
    inResource(
      'Microsoft.Web/sites/basicPublishingCredentialsPolicies',
      /name: 'scm'([^}]*)allow: false/,
      "name: 'scm'$1allow: true",
    ),
    /properties\.allow .* must be false/,
  ),
  seededFault(
    'a key as an output',
    append(/^resource serviceQueues /m, "@description('Key.')\noutput id2 string = namespace.listKeys().primaryKey"),
    /listKeys: templates must not read or contain keys/,
  ),
  seededFault(
    'a connection string as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('To send telemetry.')\noutput TELEMETRY string = monitoring.outputs.connectionString",
    ),
    /output TELEMETRY gives access/,
  ),
  seededFault(
    'a secret as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('Keys.')\n@secure()\nparam keys string\n@description('Keys.')\noutput KEYS string = keys",
    ),
    /output KEYS contains a secret/,
  ),
  seededFault('a secret as a setting', anywhere(/(\n +)LOG_LEVEL: 'info'/, "$&$1CURSOR_KEYS: 'AAAA'"), /CURSOR_KEYS/),
  seededFault(
    'an output with other content',
    anywhere(/(output API_URL string = functionApp\.outputs\.)url/, '$1name'),
    /output API_URL must be the URL of the app/,
  ),
  seededFault(
    'the id of a role that does not exist',
    anywhere(/'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'/, "'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e1'"),
    /is not the id of a necessary role/,
  ),
  seededFault(
    'a role on the wrong resource',
    inVariable('senderRoleId', /'[\da-f-]{36}'/, "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'"),
    /Storage Blob Data Owner is assigned on/,
  ),
  seededFault(
    'a shared identity for the directories and the data',
    anywhere(/GRAPH_IDENTITY_CLIENT_ID: graphIdentityClientId/, 'GRAPH_IDENTITY_CLIENT_ID: serviceIdentityClientId'),
    /service and graph share an identity|graph and service share an identity/,
  ),
  seededFault(
    'a shared identity for the deployment and the data',
    inModule('functionApp', /deploymentIdentityId: deploymentIdentity\./, 'deploymentIdentityId: serviceIdentity.'),
    /deployment and service share an identity/,
  ),
  seededFault(
    "the host's blobs as the service",
    anywhere(/(AzureWebJobsStorage__clientId: )hostIdentityClientId/, '$1serviceIdentityClientId'),
    /host and service share an identity/,
  ),
  seededFault(
    'a connection to the queues with the wrong identity',
    anywhere(/(ServiceBus__clientId: )serviceIdentityClientId/, '$1hostIdentityClientId'),
    /the identity for the purpose service is missing/,
  ),
  seededFault(
    "the host's role on the deployment package",
    inResource(
      ROLE,
      /name: guid\(deployments\.id, deploymentPrincipalId, blobContributorRoleId\)([\s\S]*)roleDefinitions', blobContributorRoleId/,
      "name: guid(deployments.id, deploymentPrincipalId, blobOwnerRoleId)$1roleDefinitions', blobOwnerRoleId",
    ),
    /Storage Blob Data Owner is assigned on \S+ \/\^azure-webjobs-\/, not on \S+ deployments/,
  ),
  seededFault(
    'a role on the whole storage account',
    inResource(ROLE, /guid\(deployments\.id([\s\S]*)scope: deployments/, 'guid(account.id$1scope: account'),
    /Storage Blob Data Contributor is assigned on \S+containers/,
  ),
  seededFault(
    'a role for the identity of the directories',
    inModule('serviceBus', /principalId: serviceIdentity\./, 'principalId: graphIdentity.'),
    /principalId must be that of the service identity: it is \S+graph/,
  ),
  seededFault(
    "the deployment package's role for the host",
    inModule('storage', /deploymentPrincipalId: deploymentIdentity\./, 'deploymentPrincipalId: hostIdentity.'),
    /principalId must be that of the deployment identity/,
  ),
  seededFault(
    'an app without one of its identities',
    anywhere(/\n +'\$\{deploymentIdentityId\}': \{\}/, ''),
    /the app must have all identities of the deployment and no others/,
  ),
  seededFault(
    'a database whose reads and writes are not logged',
    inResource('Microsoft.Insights/diagnosticSettings', /\n +\{ category: 'DataPlaneRequests'.*/, ''),
    /DataPlaneRequests of Microsoft\.DocumentDB\/databaseAccounts are not logged/,
  ),
  seededFault(
    'a database role without a principal',
    inResource(`${COSMOS}/sqlRoleAssignments`, /\n +principalId: .*/, ''),
    /principalId must be that of the service identity: it is missing/,
  ),
  seededFault(
    "another database's role",
    inVariable('dataContributorRoleId', /0002'/, "0001'"),
    /sqlRoleDefinitions\/00000000-0000-0000-0000-000000000002/,
  ),
  seededFault(
    'an assignment whose name leaves out the role',
    inResource(ROLE, /(guid\(component\.id, \w+), \w+\)/, '$1)'),
    /name must be guid\(scope, principal, role\)/,
  ),
  seededFault(
    'an assignment to a person',
    inResource(ROLE, /(scope: component[^}]*principalType: )'ServicePrincipal'/, "$1'User'"),
    /principalType .* must be ServicePrincipal/,
  ),
  seededFault(
    'a misspelt setting',
    anywhere(/EVALUATION_DELAY_MS:/, 'EVALUATION_DELAYS_MS:'),
    /the setting EVALUATION_DELAYS_MS is not used \(did you mean EVALUATION_DELAY_MS/,
  ),
  seededFault('a missing setting', anywhere(/\n +LOG_LEVEL: .*/, ''), /the setting LOG_LEVEL is not set/),
  seededFault(
    'a setting that the service rejects',
    anywhere(/LOG_LEVEL: 'info'/, "LOG_LEVEL: 'verbose'"),
    /the service rejects its settings: LOG_LEVEL/,
  ),
  seededFault(
    'a connection without its namespace',
    anywhere(/ServiceBus__fullyQualifiedNamespace:/, 'ServiceBus__namespace:'),
    /ServiceBus__fullyQualifiedNamespace is not set/,
  ),
  seededFault(
    'a key as a setting',
    anywhere(/COSMOS_ENDPOINT: (\w+)/, "$&\n    COSMOS_KEY: ''"),
    /COSMOS_KEY is for local use only/,
  ),
  seededFault(
    'a number as a setting',
    anywhere(/SYNC_SLICE_S: string\((\w+)\)/, 'SYNC_SLICE_S: $1'),
    /a setting must be a string, SYNC_SLICE_S|SYNC_SLICE_S must be of type string/,
  ),
  seededFault(
    'a missing queue',
    inVariable('queues', /\n +\{[^}]*'membership-changes'[^}]*\}/, ''),
    /queue membership-changes is missing/,
  ),
  seededFault(
    'an unknown queue',
    inVariable('queues', /\n( +)\{([^}]*)'sync-jobs'([^}]*)\}/, "$&\n$1{$2'old-jobs'$3}"),
    /the code has no queue old-jobs/,
  ),
  seededFault(
    'another lock',
    inVariable('queues', /('sync-jobs'[^}]*)'PT5M'/, "$1'PT30S'"),
    /lockDuration of sync-jobs must be 300 s/,
  ),
  seededFault(
    'another number of deliveries',
    inVariable('queues', /('evaluations'[^}]*maxDeliveryCount: )10/, '$13'),
    /maxDeliveryCount .* must be 10: it is 3/,
  ),
  seededFault(
    'expired messages that are not dead-lettered',
    inResource(
      `${SERVICE_BUS}/queues`,
      /deadLetteringOnMessageExpiration: true/,
      'deadLetteringOnMessageExpiration: false',
    ),
    /deadLetteringOnMessageExpiration .* must be true/,
  ),
  seededFault(
    'a misspelt container',
    inVariable('containers', /id: 'requests'/, "id: 'request'"),
    /no container request \(did you mean requests/,
  ),
  seededFault(
    'another partition key',
    inVariable('containers', /'\/membersOf'/, "'/tenantId'"),
    /partitionKey\.paths of container members must be \["\/membersOf"\]/,
  ),
  seededFault(
    'another time to live',
    inVariable('containers', /(id: 'jobs'[^[]*defaultTtl: )-1/, '$186400'),
    /defaultTtl of container jobs must be -1/,
  ),
  seededFault(
    'another unique key',
    inVariable('containers', /'\/directoryGroupId'/, "'/collectionId'"),
    /unique keys of container links/,
  ),
  seededFault(
    'another index',
    inVariable('containers', /'\/attributes\/nin\/\?'/, "'/attributes/nino/?'"),
    /indexingPolicy of container coreObjects/,
  ),
  seededFault(
    'a metric that does not exist',
    anywhere(/metricName: 'DeadletteredMessages'/, "metricName: 'DeadLetterMessages'"),
    /no metric DeadLetterMessages \(did you mean DeadletteredMessages/,
  ),
  seededFault(
    'a dimension that does not exist',
    anywhere(/name: 'StatusCode'/, "name: 'Status_Code'"),
    /no dimension Status_Code/,
  ),
  seededFault(
    'a metric of another resource',
    inVariable('metricAlerts', /(name: 'dead-letters'[^[]*?scope: )serviceBusId/, '$1cosmosId'),
    /DeadletteredMessages is a metric of/,
  ),
  seededFault(
    'an alert without an action group',
    inResource('Microsoft.Insights/scheduledQueryRules', /actionGroups: \[.*\]/, 'actionGroups: []'),
    /has no action group/,
  ),
  seededFault(
    'a workbook with a name',
    inResource('Microsoft.Insights/workbooks', /name: guid\(.*\)/, "name: 'workbook'"),
    /name must be a GUID/,
  ),
  seededFault(
    'a service that azd does not know',
    inModule('functionApp', /serviceName: '\w+'/, "serviceName: 'app'"),
    /azd-service-name must be a service of azure\.yaml/,
  ),
  seededFault(
    'another version of Node.js',
    anywhere(/(param nodeVersion string = )'\d+'/, "$1'22'"),
    /runtime\.version .* must be 24: it is 22/,
  ),
  seededFault(
    'a parameter without description',
    append(/^resource operators /m, 'param quiet bool = false\nvar isQuiet = quiet'),
    /parameter quiet has no @description/,
  ),
  seededFault(
    'a private namespace in a tier without it',
    inResource(SERVICE_BUS, /name: \w+ \? 'Premium' : 'Standard'/, "name: 'Standard'"),
    /sku\.name .* must be Premium/,
  ),
  seededFault(
    'a private endpoint in the wrong zone',
    anywhere(/privatelink\.servicebus\.windows\.net/, 'privatelink.queues.windows.net'),
    /not in the DNS zone privatelink\.servicebus/,
  ),
  seededFault(
    'a database without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: namespace/, 'scope: serviceQueues[0]'),
    /no diagnostic settings for Microsoft\.ServiceBus\/namespaces/,
  ),
]
