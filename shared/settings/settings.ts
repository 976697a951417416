import { EVENT_LEVELS } from '../kernel/log.ts'
import {
  base64,
  connectionString,
  count,
  cursorKeys,
  guid,
  hostName,
  mailAddress,
  monitorConnectionString,
  oneOf,
  optional,
  required,
  SettingsError,
  scope,
  tenants,
  url,
  wholeNumber,
} from './parse-setting.ts'

type Environment = Readonly<Record<string, string | undefined>>

type Reader = (name: string) => string | undefined
type Definition = {
  readonly name: string
  readonly meaning: string
  readonly parse: (read: Reader, name: string) => unknown
}

/**
 * The environment variable, meaning and parser of each setting. Tests compare the operations guide and the templates
 * with it.
 */
export const SETTINGS = {
  authorityUrl: {
    name: 'AUTHORITY_URL',
    meaning: 'Authority that issues access tokens (default https://login.microsoftonline.com)',
    parse: (read, name) => url(read(name) ?? 'https://login.microsoftonline.com', name),
  },
  serviceClientId: {
    name: 'SERVICE_CLIENT_ID',
    meaning: "Client id of the service's multi-tenant application",
    parse: (read, name) => guid(required(read(name), name), name),
  },
  serviceResourceUri: {
    name: 'SERVICE_RESOURCE_URI',
    meaning: 'Resource URI of that application (default `api://<client id>`)',
    parse: (read, name) => read(name) ?? `api://${read('SERVICE_CLIENT_ID')?.toLowerCase()}`,
  },
  apiScope: {
    name: 'API_SCOPE',
    meaning: 'Scope of that application that access tokens of users must have (default user_impersonation)',
    parse: (read, name) => scope(read(name) ?? 'user_impersonation', name),
  },
  consoleClientId: {
    name: 'CONSOLE_CLIENT_ID',
    meaning: 'Client id of the single-page application that signs people in to the console (default: no console)',
    parse: (read, name) => optional(read(name), name, guid),
  },
  consoleAuthorityUrl: {
    name: 'CONSOLE_AUTHORITY_URL',
    meaning: 'Authority at which the console signs people in (default: AUTHORITY_URL)',
    parse: (read, name) => url(read(name) ?? read('AUTHORITY_URL') ?? 'https://login.microsoftonline.com', name),
  },
  tenants: {
    name: 'TENANTS',
    meaning: 'Tenants that may use the service: any, or tenant ids, comma-separated (default any)',
    parse: (read, name) => tenants(read(name) ?? 'any', name),
  },
  requestsPerCallerPerMinute: {
    name: 'REQUESTS_PER_CALLER_PER_MINUTE',
    meaning: 'Maximum requests of one caller to one instance per minute; 0 for no limit (default 6000)',
    parse: (read, name) => wholeNumber(read(name) ?? '6000', name),
  },
  requestsPerTenantPerMinute: {
    name: 'REQUESTS_PER_TENANT_PER_MINUTE',
    meaning: 'Maximum requests of all callers of one tenant to one instance per minute; 0 for no limit (default 30000)',
    parse: (read, name) => wholeNumber(read(name) ?? '30000', name),
  },
  homeTenantId: {
    name: 'HOME_TENANT_ID',
    meaning: 'Tenant in which that application is registered',
    parse: (read, name) => guid(required(read(name), name), name),
  },
  graphUrl: {
    name: 'GRAPH_URL',
    meaning: 'Endpoint of Microsoft Graph (default https://graph.microsoft.com)',
    parse: (read, name) => url(read(name) ?? 'https://graph.microsoft.com', name),
  },
  graphClientSecret: {
    name: 'GRAPH_CLIENT_SECRET',
    meaning: 'Client secret of the application, for use without a managed identity',
    parse: (read, name) => read(name),
  },
  managedIdentityClientId: {
    name: 'MANAGED_IDENTITY_CLIENT_ID',
    meaning: 'Client id of the managed identity that reads and writes the data of the service',
    parse: (read, name) => optional(read(name), name, guid),
  },
  graphIdentityClientId: {
    name: 'GRAPH_IDENTITY_CLIENT_ID',
    meaning: 'Client id of the managed identity that is a federated credential of the application',
    parse: (read, name) => {
      const value = read(name)
      if (value === undefined && read('GRAPH_CLIENT_SECRET') === undefined) {
        throw new SettingsError(`${name} or GRAPH_CLIENT_SECRET is required`)
      }
      return optional(value, name, guid)
    },
  },
  cosmosEndpoint: {
    name: 'COSMOS_ENDPOINT',
    meaning: 'Endpoint of the Cosmos DB account',
    parse: (read, name) => url(required(read(name), name), name),
  },
  cosmosKey: {
    name: 'COSMOS_KEY',
    meaning: 'Key of the Cosmos DB account, for use without a managed identity',
    parse: (read, name) => optional(read(name), name, base64),
  },
  serviceBusConnectionString: {
    name: 'ServiceBus',
    meaning: 'Connection string of the Service Bus namespace, for use without a managed identity',
    parse: (read, name) => optional(read(name), name, connectionString),
  },
  serviceBusNamespace: {
    name: 'ServiceBus__fullyQualifiedNamespace',
    meaning: 'Host name of the Service Bus namespace',
    parse: (read, name) => {
      const value = read(name)
      if (value === undefined && read('ServiceBus') === undefined) {
        throw new SettingsError(`ServiceBus or ${name} is required`)
      }
      return optional(value, name, hostName)
    },
  },
  cursorKeys: {
    name: 'CURSOR_KEYS',
    meaning:
      'Cursor keys: base64, at least 32 bytes each, comma-separated; the first one signs (default: generated and stored in the database)',
    parse: (read, name) => {
      const value = read(name)
      return value === undefined ? [] : cursorKeys(value, name)
    },
  },
  logLevel: {
    name: 'LOG_LEVEL',
    meaning: 'Minimum level of logged events: info, warn or error (default info)',
    parse: (read, name) => oneOf(EVENT_LEVELS, read(name) ?? 'info', name),
  },
  monitorConnectionString: {
    name: 'APPLICATIONINSIGHTS_CONNECTION_STRING',
    meaning: 'Connection string of Application Insights, for traces and metrics (default: no export)',
    parse: (read, name) => monitorConnectionString(read(name), name),
  },
  rowsMemoryMB: {
    name: 'ROWS_MEMORY_MB',
    meaning:
      'Memory for the core objects of the tenants of an instance in MB (default 700). A tenant that needs more is refused',
    parse: (read, name) => count(read(name) ?? '700', name),
  },
  evaluationDelayMs: {
    name: 'EVALUATION_DELAY_MS',
    meaning: 'Milliseconds between a change and the evaluation of the collections (default 500)',
    parse: (read, name) => wholeNumber(read(name) ?? '500', name),
  },
  historyDays: {
    name: 'HISTORY_DAYS',
    meaning: 'Days for which changes of the members of collections are kept (default 400)',
    parse: (read, name) => count(read(name) ?? '400', name),
  },
  syncRetryDelaysS: {
    name: 'SYNC_RETRY_DELAYS_S',
    meaning: 'Seconds before each retry of a failed sync job (default 15,60,240)',
    parse: (read, name): readonly number[] =>
      (read(name) ?? '15,60,240').split(',').map((part) => wholeNumber(part.trim(), name)),
  },
  syncBatchS: {
    name: 'SYNC_BATCH_S',
    meaning: 'Seconds of writing after which a sync job continues in a new message (default 240)',
    parse: (read, name) => count(read(name) ?? '240', name),
  },
  syncLeaseS: {
    name: 'SYNC_LEASE_S',
    meaning: 'Duration of a sync lease in seconds (default 60)',
    parse: (read, name) => count(read(name) ?? '60', name),
  },
  clockDifferenceS: {
    name: 'CLOCK_DIFFERENCE_S',
    meaning:
      'Limit for differences between the clocks of instances, in seconds. After a crash, leases of links end this much later (default 120)',
    parse: (read, name) => wholeNumber(read(name) ?? '120', name),
  },
  directoryWritesPerTenant: {
    name: 'DIRECTORY_WRITES_PER_TENANT',
    meaning:
      'Maximum writes to the directory of one tenant per 150 seconds (default 2400; the directory limit is 3000). An instance uses half',
    parse: (read, name) => count(read(name) ?? '2400', name),
  },
  directoryWritesTotal: {
    name: 'DIRECTORY_WRITES_TOTAL',
    meaning:
      'Maximum writes to all directories per 300 seconds (default 56000; the directory limit is 70000). An instance uses a quarter',
    parse: (read, name) => count(read(name) ?? '56000', name),
  },
  eventTargets: {
    name: 'EVENT_TARGETS',
    meaning:
      'Prefixes of addresses that get events besides public ones by https, comma-separated: scheme and host, with a port and path if those matter (default: none)',
    parse: (read, name): readonly string[] =>
      (read(name) ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [url(part.trim(), name)])),
  },
  mailSender: {
    name: 'MAIL_SENDER',
    meaning: 'Address of the mailbox in HOME_TENANT_ID that mails are sent from (default: no mails)',
    parse: (read, name) => optional(read(name), name, mailAddress),
  },
  publicUrl: {
    name: 'PUBLIC_URL',
    meaning:
      'Address at which people reach the service, for links in mails (default: the host name of the function app)',
    parse: (read, name) => {
      const hostName = read('WEBSITE_HOSTNAME')
      return optional(read(name) ?? (hostName && `https://${hostName}`), name, url)
    },
  },
} as const satisfies Readonly<Record<string, Definition>>

/** All settings, parsed. */
export type Settings = {
  readonly [Key in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Key]['parse']>
}

/** @throws SettingsError that names every missing or invalid setting in one line. */
export function readSettings(environment: Environment = process.env): Settings {
  const read: Reader = (name) => (environment[name]?.trim() ? environment[name].trim() : undefined)
  const faults: string[] = []
  const entries = Object.entries(SETTINGS).map(([key, { name, parse }]) => {
    try {
      return [key, parse(read, name)]
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      faults.push(error.message)
      return [key, undefined]
    }
  })
  if (faults.length > 0) throw new SettingsError(faults.join('; '))
  return Object.fromEntries(entries) as Settings
}
