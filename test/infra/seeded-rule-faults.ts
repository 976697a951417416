import { anywhere, append, inModule, inResource, inVariable, type SeededFault } from './seeded-fault.ts'

const SERVICE_BUS = 'Microsoft.ServiceBus/namespaces'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'
const STORAGE = 'Microsoft.Storage/storageAccounts'
const ROLE = 'Microsoft.Authorization/roleAssignments'

const fault = (name: string, seed: SeededFault['seed'], expected: RegExp): SeededFault => ({
  name,
  seed,
  expected,
  needsTypes: false,
})

/** What no type tells, and the rules do. */
export const RULE_FAULTS: readonly SeededFault[] = [
  fault(
    'keys of the database left on',
    inResource(COSMOS, /disableLocalAuth: true/, 'disableLocalAuth: false'),
    /disableLocalAuth .* has to be true/,
  ),
  fault(
    'keys of the storage left on',
    inResource(STORAGE, /allowSharedKeyAccess: false/, 'allowSharedKeyAccess: true'),
    /allowSharedKeyAccess .* has to be false/,
  ),
  fault(
    'keys of the queues not mentioned',
    inResource(SERVICE_BUS, /\n +disableLocalAuth: true/, ''),
    /disableLocalAuth .* not set/,
  ),
  fault('TLS 1.0', inResource(STORAGE, /'TLS1_2'/, "'TLS1_0'"), /minimumTlsVersion .* has to be TLS1_2/),
  fault(
    'a password for publishing',
    inResource(
      'Microsoft.Web/sites/basicPublishingCredentialsPolicies',
      /name: 'scm'([^}]*)allow: false/,
      "name: 'scm'$1allow: true",
    ),
    /properties\.allow .* has to be false/,
  ),
  fault(
    'a key as an output',
    append(/^resource serviceQueues /m, "@description('Key.')\noutput id2 string = namespace.listKeys().primaryKey"),
    /listKeys: keys are neither read nor held/,
  ),
  fault(
    'a connection string as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('To send telemetry.')\noutput TELEMETRY string = monitoring.outputs.connectionString",
    ),
    /output TELEMETRY gives a way in/,
  ),
  fault(
    'a secret as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('Keys.')\n@secure()\nparam keys string\n@description('Keys.')\noutput KEYS string = keys",
    ),
    /output KEYS tells a secret/,
  ),
  fault('a secret as a setting', anywhere(/(\n +)LOG_LEVEL: 'info'/, "$&$1CURSOR_KEYS: 'AAAA'"), /CURSOR_KEYS/),
  fault(
    'an output that tells something else',
    anywhere(/(output API_URL string = functionApp\.outputs\.)url/, '$1name'),
    /output API_URL has to tell where the app is/,
  ),
  fault(
    'the id of a role that does not exist',
    anywhere(/'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'/, "'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e1'"),
    /no role that is needed has the id/,
  ),
  fault(
    'a role on the wrong resource',
    inVariable('senderRoleId', /'[\da-f-]{36}'/, "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'"),
    /Storage Blob Data Owner is assigned on/,
  ),
  fault(
    "a database's role for nobody",
    inResource(`${COSMOS}/sqlRoleAssignments`, /\n +principalId: .*/, ''),
    /principalId has to be the identity's: it is missing/,
  ),
  fault(
    "another database's role",
    inVariable('dataContributorRoleId', /0002'/, "0001'"),
    /sqlRoleDefinitions\/00000000-0000-0000-0000-000000000002/,
  ),
  fault(
    'an assignment whose name leaves out the role',
    inResource(ROLE, /(guid\(component\.id, \w+), \w+\)/, '$1)'),
    /name has to be guid\(scope, principal, role\)/,
  ),
  fault(
    'an assignment to a person',
    inResource(ROLE, /(scope: component[^}]*principalType: )'ServicePrincipal'/, "$1'User'"),
    /principalType .* has to be ServicePrincipal/,
  ),
  fault(
    'a misspelt setting',
    anywhere(/EVALUATION_DELAY_MS:/, 'EVALUATION_DELAYS_MS:'),
    /nothing reads the setting EVALUATION_DELAYS_MS \(did you mean EVALUATION_DELAY_MS/,
  ),
  fault('a setting left out', anywhere(/\n +LOG_LEVEL: .*/, ''), /the setting LOG_LEVEL is not set/),
  fault(
    'a setting that the service refuses',
    anywhere(/LOG_LEVEL: 'info'/, "LOG_LEVEL: 'verbose'"),
    /the service refuses its settings: LOG_LEVEL/,
  ),
  fault(
    'a connection without its namespace',
    anywhere(/ServiceBus__fullyQualifiedNamespace:/, 'ServiceBus__namespace:'),
    /ServiceBus__fullyQualifiedNamespace is not set/,
  ),
  fault(
    'a key as a setting',
    anywhere(/COSMOS_ENDPOINT: (\w+)/, "$&\n    COSMOS_KEY: ''"),
    /COSMOS_KEY is for one machine/,
  ),
  fault(
    'a number as a setting',
    anywhere(/SYNC_SLICE_S: string\((\w+)\)/, 'SYNC_SLICE_S: $1'),
    /a setting is a string, SYNC_SLICE_S|SYNC_SLICE_S has to be of type string/,
  ),
  fault(
    'a queue left out',
    inVariable('queues', /\n +\{[^}]*'membership-changes'[^}]*\}/, ''),
    /queue membership-changes is missing/,
  ),
  fault(
    'a queue too many',
    inVariable('queues', /\n( +)\{([^}]*)'sync-jobs'([^}]*)\}/, "$&\n$1{$2'old-jobs'$3}"),
    /the code has no queue old-jobs/,
  ),
  fault(
    'another lock',
    inVariable('queues', /('sync-jobs'[^}]*)'PT5M'/, "$1'PT30S'"),
    /lockDuration of sync-jobs has to be 300 s/,
  ),
  fault(
    'another number of deliveries',
    inVariable('queues', /('evaluations'[^}]*maxDeliveryCount: )10/, '$13'),
    /maxDeliveryCount .* has to be 10: it is 3/,
  ),
  fault(
    'expired messages forgotten',
    inResource(
      `${SERVICE_BUS}/queues`,
      /deadLetteringOnMessageExpiration: true/,
      'deadLetteringOnMessageExpiration: false',
    ),
    /deadLetteringOnMessageExpiration .* has to be true/,
  ),
  fault(
    'a container misspelt',
    inVariable('containers', /id: 'requests'/, "id: 'request'"),
    /no container request \(did you mean requests/,
  ),
  fault(
    'another partition key',
    inVariable('containers', /'\/membersOf'/, "'/tenantId'"),
    /partitionKey\.paths of container members has to be \["\/membersOf"\]/,
  ),
  fault(
    'another time to live',
    inVariable('containers', /(id: 'jobs'[^[]*defaultTtl: )-1/, '$186400'),
    /defaultTtl of container jobs has to be -1/,
  ),
  fault(
    'another unique key',
    inVariable('containers', /'\/directoryGroupId'/, "'/collectionId'"),
    /unique keys of container links/,
  ),
  fault(
    'another index',
    inVariable('containers', /'\/attributes\/nin\/\?'/, "'/attributes/nino/?'"),
    /indexingPolicy of container coreObjects/,
  ),
  fault(
    'a metric that there is none of',
    anywhere(/metricName: 'DeadletteredMessages'/, "metricName: 'DeadLetterMessages'"),
    /no metric DeadLetterMessages \(did you mean DeadletteredMessages/,
  ),
  fault(
    'a dimension that there is none of',
    anywhere(/name: 'StatusCode'/, "name: 'Status_Code'"),
    /no dimension Status_Code/,
  ),
  fault(
    'a metric of another resource',
    inVariable('metricAlerts', /(name: 'dead-letters'[^[]*?scope: )serviceBusId/, '$1cosmosId'),
    /DeadletteredMessages is a metric of/,
  ),
  fault(
    'an alert that tells nobody',
    inResource('Microsoft.Insights/scheduledQueryRules', /actionGroups: \[.*\]/, 'actionGroups: []'),
    /tells nobody/,
  ),
  fault(
    'a workbook with a name',
    inResource('Microsoft.Insights/workbooks', /name: guid\(.*\)/, "name: 'workbook'"),
    /name has to be a GUID/,
  ),
  fault(
    'a service that azd does not know',
    inModule('functionApp', /serviceName: '\w+'/, "serviceName: 'app'"),
    /azd-service-name has to be a service of azure\.yaml/,
  ),
  fault(
    'another Node.js',
    anywhere(/(param nodeVersion string = )'\d+'/, "$1'22'"),
    /runtime\.version .* has to be 24: it is 22/,
  ),
  fault(
    'a parameter without description',
    append(/^resource people /m, 'param quiet bool = false\nvar isQuiet = quiet'),
    /parameter quiet has no @description/,
  ),
  fault(
    'a private namespace in a tier without it',
    inResource(SERVICE_BUS, /name: \w+ \? 'Premium' : 'Standard'/, "name: 'Standard'"),
    /sku\.name .* has to be Premium/,
  ),
  fault(
    'a private endpoint in the wrong zone',
    anywhere(/privatelink\.servicebus\.windows\.net/, 'privatelink.queues.windows.net'),
    /not named in the zone privatelink\.servicebus/,
  ),
  fault(
    'a database without its diagnostics',
    inResource('Microsoft.Insights/diagnosticSettings', /scope: namespace/, 'scope: serviceQueues[0]'),
    /nothing is told of Microsoft\.ServiceBus\/namespaces/,
  ),
]
