import { anywhere, append, inModule, inResource, inVariable, type SeededFault } from './seeded-fault.ts'

const SERVICE_BUS = 'Microsoft.ServiceBus/namespaces'
const COSMOS = 'Microsoft.DocumentDB/databaseAccounts'
const STORAGE = 'Microsoft.Storage/storageAccounts'
const ROLE = 'Microsoft.Authorization/roleAssignments'

/** An alert in a list, including its brackets. */
const logAlert = (name: string) => new RegExp(`\\n  \\{\\n    name: '${name}'[\\s\\S]*?'''[\\s\\S]*?'''\\n  \\}`)

/** Mistakes that the types of the Azure resources and of the parameters detect. */
export const TYPE_FAULTS: readonly SeededFault[] = [
  [
    'a property that does not exist',
    inResource(STORAGE, /accessTier:/, 'accesTier:'),
    /properties\.accesTier does not exist.*accessTier/,
  ],
  [
    'a misspelt value of an enumeration',
    inResource(STORAGE, /kind: 'StorageV2'/, "kind: 'StorageV22'"),
    /kind must be one of .*did you mean StorageV2/,
  ],
  [
    'a misspelt value in one branch of a condition',
    inResource(STORAGE, /'Standard_ZRS'/, "'Standard_ZSR'"),
    /sku\.name.*Standard_ZSR/,
  ],
  [
    'a version that does not exist',
    anywhere(/(namespaces\/queues)@\d{4}-\d\d-\d\d/, '$1@2023-10-01'),
    /no resource type .*2023-10-01 \(did you mean .*2024-01-01/,
  ],
  [
    'a missing required property',
    inResource(COSMOS, /\n +databaseAccountOfferType: .*/, ''),
    /databaseAccountOfferType is required/,
  ],
  [
    'a read-only property set',
    inResource(SERVICE_BUS, /disableLocalAuth: true/, "$&\n    provisioningState: 'Succeeded'"),
    /provisioningState is read-only/,
  ],
  [
    'text for a Boolean',
    inResource(`${SERVICE_BUS}/queues`, /requiresSession: false/, "requiresSession: 'false'"),
    /requiresSession must be of type bool/,
  ],
  [
    'a number out of its range',
    inResource(`${STORAGE}/blobServices`, /(deleteRetentionPolicy: .*days: )7/, '$10'),
    /days must be 1 to 365/,
  ],
  [
    'a discriminator that does not exist',
    inResource(COSMOS, /type: 'Continuous'/, "type: 'Continous'"),
    /backupPolicy\.type.*did you mean Continuous/,
  ],
  [
    'a property of another choice',
    inResource(COSMOS, /continuousModeProperties:/, 'periodicModeProperties:'),
    /periodicModeProperties does not exist/,
  ],
  [
    'an output property that does not exist',
    anywhere(/properties\.documentEndpoint/, 'properties.documentEndpoints'),
    /no property documentEndpoints.*documentEndpoint/,
  ],
  [
    'a parent of the wrong type',
    inResource(`${STORAGE}/blobServices/containers`, /parent: blobs(\n +name: 'deployments')/, 'parent: account$1'),
    /parent of deployments must be a .*blobServices/,
  ],
  ["a module's parameter left out", inModule('serviceIdentity', /\n +tags: tags/, ''), /params\.tags is required/],
  [
    "a module's parameter of the wrong type",
    inModule('storage', /(zoneRedundant: )zoneRedundant/, "$1'yes'"),
    /zoneRedundant must be of type bool/,
  ],
  [
    'a default that is not allowed',
    anywhere(/(param cosmosMode string = )'serverless'/, "$1'provisioned'"),
    /cosmosMode must be one of serverless, autoscale/,
  ],
  [
    'a name that is not declared',
    inResource(
      'Microsoft.Authorization/roleAssignments',
      /principalId: publisherPrincipalId/,
      'principalId: publisherPrincipleId',
    ),
    /publisherPrincipleId is not declared/,
  ],
]

/** Mistakes that the rules detect. */
export const RULE_FAULTS: readonly SeededFault[] = [
  [
    'keys of the database left on',
    inResource(COSMOS, /disableLocalAuth: true/, 'disableLocalAuth: false'),
    /disableLocalAuth .* must be true/,
  ],
  [
    'keys of the queues not mentioned',
    inResource(SERVICE_BUS, /\n +disableLocalAuth: true/, ''),
    /disableLocalAuth .* not set/,
  ],
  ['TLS 1.0', inResource(STORAGE, /'TLS1_2'/, "'TLS1_0'"), /minimumTlsVersion .* must be TLS1_2/],
  [
    'a password for publishing',
    inResource(
      'Microsoft.Web/sites/basicPublishingCredentialsPolicies',
      /name: 'scm'([^}]*)allow: false/,
      "name: 'scm'$1allow: true",
    ),
    /properties\.allow .* must be false/,
  ],
  [
    'a key as an output',
    append(/^resource serviceQueues /m, "@description('Key.')\noutput id2 string = namespace.listKeys().primaryKey"),
    /listKeys: templates must not read or contain keys/,
  ],
  [
    'a connection string as an output',
    append(
      /^targetScope = 'subscription'/m,
      "@description('To send telemetry.')\noutput TELEMETRY string = monitoring.outputs.connectionString",
    ),
    /output TELEMETRY gives access/,
  ],
  [
    'an output with other content',
    anywhere(/(output API_URL string = functionApp\.outputs\.)url/, '$1name'),
    /output API_URL must be the URL of the app/,
  ],
  [
    'the id of a role that does not exist',
    anywhere(/'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'/, "'4f6d3b9b-027b-4f4c-9142-0e5a2a2247e1'"),
    /is not the id of a necessary role/,
  ],
  [
    'a role on the wrong resource',
    inVariable('senderRoleId', /'[\da-f-]{36}'/, "'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'"),
    /Storage Blob Data Owner is assigned on/,
  ],
  [
    'a shared identity for the directories and the data',
    anywhere(/GRAPH_IDENTITY_CLIENT_ID: graphIdentityClientId/, 'GRAPH_IDENTITY_CLIENT_ID: serviceIdentityClientId'),
    /service and graph share an identity|graph and service share an identity/,
  ],
  [
    'a role on the whole storage account',
    inResource(ROLE, /guid\(deployments\.id([\s\S]*)scope: deployments/, 'guid(account.id$1scope: account'),
    /Storage Blob Data Contributor is assigned on \S+containers/,
  ],
  [
    'a role for the identity of the directories',
    inModule('serviceBus', /principalId: serviceIdentity\./, 'principalId: graphIdentity.'),
    /principalId must be that of the service identity: it is \S+graph/,
  ],
  [
    'an app without one of its identities',
    anywhere(/\n +'\$\{deploymentIdentityId\}': \{\}/, ''),
    /the app must have all identities of the deployment and no others/,
  ],
  [
    'a database role without a principal',
    inResource(`${COSMOS}/sqlRoleAssignments`, /\n +principalId: .*/, ''),
    /principalId must be that of the service identity: it is missing/,
  ],
  [
    "another database's role",
    inVariable('dataContributorRoleId', /0002'/, "0001'"),
    /sqlRoleDefinitions\/00000000-0000-0000-0000-000000000002/,
  ],
  [
    'an assignment whose name leaves out the role',
    inResource(ROLE, /(guid\(component\.id, \w+), \w+\)/, '$1)'),
    /name must be guid\(scope, principal, role\)/,
  ],
  [
    'a misspelt setting',
    anywhere(/EVALUATION_DELAY_MS:/, 'EVALUATION_DELAYS_MS:'),
    /the setting EVALUATION_DELAYS_MS is not used \(did you mean EVALUATION_DELAY_MS/,
  ],
  ['a missing setting', anywhere(/\n +LOG_LEVEL: .*/, ''), /the setting LOG_LEVEL is not set/],
  [
    'a setting that the service rejects',
    anywhere(/LOG_LEVEL: 'info'/, "LOG_LEVEL: 'verbose'"),
    /the service rejects its settings: LOG_LEVEL/,
  ],
  [
    'a key as a setting',
    anywhere(/COSMOS_ENDPOINT: (\w+)/, "$&\n    COSMOS_KEY: ''"),
    /COSMOS_KEY is for local use only/,
  ],
  [
    'a number as a setting',
    anywhere(/SYNC_BATCH_S: string\((\w+)\)/, 'SYNC_BATCH_S: $1'),
    /a setting must be a string, SYNC_BATCH_S|SYNC_BATCH_S must be of type string/,
  ],
  [
    'a missing queue',
    inVariable('queues', /\n +\{[^}]*'membership-changes'[^}]*\}/, ''),
    /queue membership-changes is missing/,
  ],
  [
    'an unknown queue',
    inVariable('queues', /\n( +)\{([^}]*)'sync-jobs'([^}]*)\}/, "$&\n$1{$2'old-jobs'$3}"),
    /the code has no queue old-jobs/,
  ],
  [
    'another lock',
    inVariable('queues', /('sync-jobs'[^}]*)'PT5M'/, "$1'PT30S'"),
    /lockDuration of sync-jobs must be 300 s/,
  ],
  [
    'a misspelt container',
    inVariable('containers', /id: 'requests'/, "id: 'request'"),
    /no container request \(did you mean requests/,
  ],
  [
    'another partition key',
    inVariable('containers', /'\/membersOf'/, "'/tenantId'"),
    /partitionKey\.paths of container members must be \["\/membersOf"\]/,
  ],
  [
    'another time to live',
    inVariable('containers', /(id: 'jobs'[^[]*defaultTtl: )-1/, '$186400'),
    /defaultTtl of container jobs must be -1/,
  ],
  [
    'another unique key',
    inVariable('containers', /'\/directoryGroupId'/, "'/collectionId'"),
    /unique keys of container links/,
  ],
  [
    'another index',
    inVariable('containers', /'\/attributes\/nin\/\?'/, "'/attributes/nino/?'"),
    /indexingPolicy of container coreObjects/,
  ],
  [
    'another version of Node.js',
    anywhere(/(param nodeVersion string = )'\d+'/, "$1'22'"),
    /runtime\.version .* must be 24: it is 22/,
  ],
  [
    'a private namespace in a tier without it',
    inResource(SERVICE_BUS, /name: \w+ \? 'Premium' : 'Standard'/, "name: 'Standard'"),
    /sku\.name .* must be Premium/,
  ],
  [
    'a private endpoint in the wrong zone',
    anywhere(/privatelink\.servicebus\.windows\.net/, 'privatelink.queues.windows.net'),
    /not in the DNS zone privatelink\.servicebus/,
  ],
  [
    'a database whose changes are not logged',
    inResource('Microsoft.Insights/diagnosticSettings', /\n +\{ category: 'ControlPlaneRequests'.*/, ''),
    /ControlPlaneRequests of Microsoft\.DocumentDB\/databaseAccounts are not logged/,
  ],
  [
    'a log of each operation on the database',
    inResource(
      'Microsoft.Insights/diagnosticSettings',
      /(\n +\{ category: ')ControlPlaneRequests(.*)/,
      '$&$1DataPlaneRequests$2',
    ),
    /DataPlaneRequests of Microsoft\.DocumentDB\/databaseAccounts are too large to be logged/,
  ],
  [
    'a metric that does not exist',
    anywhere(/metricName: 'DeadletteredMessages'/, "metricName: 'DeadLetterMessages'"),
    /no metric DeadLetterMessages \(did you mean DeadletteredMessages/,
  ],
  [
    'an alert without an action group',
    inResource('Microsoft.Insights/scheduledQueryRules', /actionGroups: \[.*\]/, 'actionGroups: []'),
    /has no action group/,
  ],
  [
    'a missing alert for failed jobs',
    inVariable('logAlerts', logAlert('failed-jobs'), ''),
    /no alert covers failed sync jobs/,
  ],
  [
    'a late alert for an overdue sweep',
    inVariable('logAlerts', /ago\(2h\) or longestAgoS > 7100/, 'ago(5h) or longestAgoS > 17000'),
    /no alert covers a sweep older than two hours/,
  ],
  [
    'a silent alert where no sweep ever ran',
    inVariable('logAlerts', /\(isnull\(lastReported\) and firstRun < ago\(2h\)\) or /, ''),
    /no alert covers sweeps that never ran/,
  ],
  [
    'requests of the host taken for telemetry of the service',
    inVariable(
      'logAlerts',
      /AppMetrics\n\| where Name == 'sweep\.age'\n(\| summarize lastReported = max\(TimeGenerated\)\n)/,
      'AppRequests\n$1',
    ),
    /no alert covers missing telemetry/,
  ],
  [
    'server errors counted twice',
    inVariable('logAlerts', /AppRoleName == '[\w-]+' and /, ''),
    /no alert covers server errors/,
  ],
  [
    'a health check that accepts 404',
    inVariable('healthCheck', /expectedStatus: 200/, 'expectedStatus: 404'),
    /ExpectedHttpStatusCode .* must be 200/,
  ],
  [
    'disabled alerts',
    inResource(
      'Microsoft.Insights/metricAlerts',
      /(scopes: \[alert\.scope\][\s\S]*)?enabled: true(\n +scopes: \[alert)/,
      'enabled: false$2',
    ),
    /enabled of Microsoft\.Insights\/metricAlerts must be true/,
  ],
  [
    'a budget without contacts',
    inResource('Microsoft.Consumption/budgets', /(80[\s\S]*?contactEmails: \[)email/, '$1'),
    /a notification of the budget is disabled or has no contact/,
  ],
  [
    'a number without bounds',
    anywhere(/@minValue\(1000\)\n@maxValue\(1000000\)\n(param cosmosMaxThroughput)/, '$1'),
    /parameter cosmosMaxThroughput has none of @allowed, @minValue, @maxValue/,
  ],
  [
    'a parameter without description',
    append(/^resource operators /m, 'param quiet bool = false\nvar isQuiet = quiet'),
    /parameter quiet has no @description/,
  ],
]
