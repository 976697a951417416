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
    /disableLocalAuth .* has to be true/,
  ),
  seededFault(
    'keys of the storage left on',
    inResource(STORAGE, /allowSharedKeyAccess: false/, 'allowSharedKeyAccess: true'),
    /allowSharedKeyAccess .* has to be false/,
  ),
  seededFault(
    'keys of the queues not mentioned',
    inResource(SERVICE_BUS, /\n +disableLocalAuth: true/, ''),
    /disableLocalAuth .* not set/,
  ),
  seededFault('TLS 1.0', inResource(STORAGE, /'TLS1_2'/, "'TLS1_0'"), /minimumTlsVersion .* has to be TLS1_2/),
  seededFault(
    'a password for publishing',
    inResource(
      'Microsoft.Web/sites/basicPublishingCredentialsPolicies',
      /name: 'scm'([^}]*)allow: false/,
      "name: 'scm'$1allow: true",
    ),
    /properties\.allow .* has to be false/,
  ),
  seededFault(
    'a key as an output',
    append(/^resource serviceQueues /m, "@description('Key.')\noutput id2 string = namespace.listKeys().primaryKey"),
    /listKeys: keys are neither read nor held/,
  ),
  seededFault(
    'a connection string as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('To send telemetry.')\noutput TELEMETRY string = monitoring.outputs.connectionString",
    ),
    /output TELEMETRY gives a way in/,
  ),
  seededFault(
    'a secret as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('Keys.')\n@secure()\nparam keys string\n@description('Keys.')\noutput KEYS string = keys",
    ),
    /output KEYS tells a secret/,
  ),
  seededFault('a secret as a setting', anywhere(/(\n +)LOG_LEVEL: 'info'/, "$&$1CURSOR_KEYS: 'AAAA'"), /CURSOR_KEYS/),
  seededFault(
    'an output that tells something else',
    anywhere(/(output API_URL string = functionApp\.outputs\.)url/, '$1name'),
    /output API_URL has to tell where the app is/,
  ),
  seededFault(
    'the id of a role that does not exist',
    anywhere(/'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'/, "'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e1'"),
    /no role that is needed has the id/,
  ),
  seededFault(
    'a role on the wrong resource',
    inVariable('senderRoleId', /'[\da-f-]{36}'/, "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'"),
    /Storage Blob Data Owner is assigned on/,
  ),
  seededFault(
    'one identity for the directories and the data',
    anywhere(/GRAPH_IDENTITY_CLIENT_ID: graphIdentityClientId/, 'GRAPH_IDENTITY_CLIENT_ID: serviceIdentityClientId'),
    /service and graph share an identity|graph and service share an identity/,
  ),
  seededFault(
    'one identity for the deployment and the data',
    inModule('functionApp', /deploymentIdentityId: deploymentIdentity\./, 'deploymentIdentityId: serviceIdentity.'),
    /deployment and service share an identity/,
  ),
  seededFault(
    "the host's blobs as the service",
    anywhere(/(AzureWebJobsStorage__clientId: )hostIdentityClientId/, '$1serviceIdentityClientId'),
    /host and service share an identity/,
  ),
  seededFault(
    'queues of an identity that the settings do not name',
    anywhere(/(ServiceBus__clientId: )serviceIdentityClientId/, '$1hostIdentityClientId'),
    /no identity is that of the purpose service/,
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
    /principalId has to be that of the service identity: it is \S+graph/,
  ),
  seededFault(
    "the deployment package's role for the host",
    inModule('storage', /deploymentPrincipalId: deploymentIdentity\./, 'deploymentPrincipalId: hostIdentity.'),
    /principalId has to be that of the deployment identity/,
  ),
  seededFault(
    'an app without one of its identities',
    anywhere(/\n +'\$\{deploymentIdentityId\}': \{\}/, ''),
    /the app has to have the identities, and no other/,
  ),
  seededFault(
    'a database whose reads and writes are not logged',
    inResource('Microsoft.Insights/diagnosticSettings', /\n +\{ category: 'DataPlaneRequests'.*/, ''),
    /DataPlaneRequests of Microsoft\.DocumentDB\/databaseAccounts are not logged/,
  ),
  seededFault(
    "a database's role for nobody",
    inResource(`${COSMOS}/sqlRoleAssignments`, /\n +principalId: .*/, ''),
    /principalId has to be that of the service identity: it is missing/,
  ),
  seededFault(
    "another database's role",
    inVariable('dataContributorRoleId', /0002'/, "0001'"),
    /sqlRoleDefinitions\/00000000-0000-0000-0000-000000000002/,
  ),
  seededFault(
    'an assignment whose name leaves out the role',
    inResource(ROLE, /(guid\(component\.id, \w+), \w+\)/, '$1)'),
    /name has to be guid\(scope, principal, role\)/,
  ),
  seededFault(
    'an assignment to a person',
    inResource(ROLE, /(scope: component[^}]*principalType: )'ServicePrincipal'/, "$1'User'"),
    /principalType .* has to be ServicePrincipal/,
  ),
  seededFault(
    'a misspelt setting',
    anywhere(/EVALUATION_DELAY_MS:/, 'EVALUATION_DELAYS_MS:'),
    /nothing reads the setting EVALUATION_DELAYS_MS \(did you mean EVALUATION_DELAY_MS/,
  ),
  seededFault('a setting left out', anywhere(/\n +LOG_LEVEL: .*/, ''), /the setting LOG_LEVEL is not set/),
  seededFault(
    'a setting that the service refuses',
    anywhere(/LOG_LEVEL: 'info'/, "LOG_LEVEL: 'verbose'"),
    /the service refuses its settings: LOG_LEVEL/,
  ),
  seededFault(
    'a connection without its namespace',
    anywhere(/ServiceBus__fullyQualifiedNamespace:/, 'ServiceBus__namespace:'),
    /ServiceBus__fullyQualifiedNamespace is not set/,
  ),
  seededFault(
    'a key as a setting',
    anywhere(/COSMOS_ENDPOINT: (\w+)/, "$&\n    COSMOS_KEY: ''"),
    /COSMOS_KEY is for one machine/,
  ),
  seededFault(
    'a number as a setting',
    anywhere(/SYNC_SLICE_S: string\((\w+)\)/, 'SYNC_SLICE_S: $1'),
    /a setting is a string, SYNC_SLICE_S|SYNC_SLICE_S has to be of type string/,
  ),
  seededFault(
    'a queue left out',
    inVariable('queues', /\n +\{[^}]*'membership-changes'[^}]*\}/, ''),
    /queue membership-changes is missing/,
  ),
  seededFault(
    'a queue too many',
    inVariable('queues', /\n( +)\{([^}]*)'sync-jobs'([^}]*)\}/, "$&\n$1{$2'old-jobs'$3}"),
    /the code has no queue old-jobs/,
  ),
  seededFault(
    'another lock',
    inVariable('queues', /('sync-jobs'[^}]*)'PT5M'/, "$1'PT30S'"),
    /lockDuration of sync-jobs has to be 300 s/,
  ),
  seededFault(
    'another number of deliveries',
    inVariable('queues', /('evaluations'[^}]*maxDeliveryCount: )10/, '$13'),
    /maxDeliveryCount .* has to be 10: it is 3/,
  ),
  seededFault(
    'expired messages forgotten',
    inResource(
      `${SERVICE_BUS}/queues`,
      /deadLetteringOnMessageExpiration: true/,
      'deadLetteringOnMessageExpiration: false',
    ),
    /deadLetteringOnMessageExpiration .* has to be true/,
  ),
  seededFault(
    'a container misspelt',
    inVariable('containers', /id: 'requests'/, "id: 'request'"),
    /no container request \(did you mean requests/,
  ),
  seededFault(
    'another partition key',
    inVariable('containers', /'\/membersOf'/, "'/tenantId'"),
    /partitionKey\.paths of container members has to be \["\/membersOf"\]/,
  ),
  seededFault(
    'another time to live',
    inVariable('containers', /(id: 'jobs'[^[]*defaultTtl: )-1/, '$186400'),
    /defaultTtl of container jobs has to be -1/,
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
    'a metric that there is none of',
    anywhere(/metricName: 'DeadletteredMessages'/, "metricName: 'DeadLetterMessages'"),
    /no metric DeadLetterMessages \(did you mean DeadletteredMessages/,
  ),
  seededFault(
    'a dimension that there is none of',
    anywhere(/name: 'StatusCode'/, "name: 'Status_Code'"),
    /no dimension Status_Code/,
  ),
  seededFault(
    'a metric of another resource',
    inVariable('metricAlerts', /(name: 'dead-letters'[^[]*?scope: )serviceBusId/, '$1cosmosId'),
    /DeadletteredMessages is a metric of/,
  ),
  seededFault(
    'an alert that tells nobody',
    inResource('Microsoft.Insights/scheduledQueryRules', /actionGroups: \[.*\]/, 'actionGroups: []'),
    /tells nobody/,
  ),
  seededFault(
    'a workbook with a name',
    inResource('Microsoft.Insights/workbooks', /name: guid\(.*\)/, "name: 'workbook'"),
    /name has to be a GUID/,
  ),
  seededFault(
    'a service that azd does not know',
    inModule('functionApp', /serviceName: '\w+'/, "serviceName: 'app'"),
    /azd-service-name has to be a service of azure\.yaml/,
  ),
  seededFault(
    'another Node.js',
    anywhere(/(param nodeVersion string = )'\d+'/, "$1'22'"),
    /runtime\.version .* has to be 24: it is 22/,
  ),
  seededFault(
    'a parameter without description',
    append(/^resource operators /m, 'param quiet bool = false\nvar isQuiet = quiet'),
    /parameter quiet has no @description/,
  ),
  seededFault(
    'a private namespace in a tier without it',
    inResource(SERVICE_BUS, /name: \w+ \? 'Premium' : 'Standard'/, "name: 'Standard'"),
    /sku\.name .* has to be Premium/,
  ),
  seededFault(
    'a private endpoint in the wrong zone',
    anywhere(/privatelink\.servicebus\.windows\.net/, 'privatelink.queues.windows.net'),
    /not named in the zone privatelink\.servicebus/,
  ),
  seededFault(
    'a database without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: namespace/, 'scope: serviceQueues[0]'),
    /nothing is told of Microsoft\.ServiceBus\/namespaces/,
  ),
]
