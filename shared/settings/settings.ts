import { isGuid } from '../kernel/guid.ts'
import { EVENT_LEVELS, type EventLevel } from '../kernel/log.ts'

/** Every setting there is, parsed. The names of the environment variables stand in `SETTINGS`. */
export type Settings = {
  readonly authorityUrl: string
  readonly serviceClientId: string
  readonly serviceResourceUri: string
  readonly homeTenantId: string
  readonly graphUrl: string
  readonly graphClientSecret: string | undefined
  readonly managedIdentityClientId: string | undefined
  readonly cosmosEndpoint: string
  readonly cosmosKey: string | undefined
  readonly serviceBusConnectionString: string | undefined
  readonly serviceBusNamespace: string | undefined
  /** None: the database keeps them. */
  readonly cursorKeys: readonly string[]
  readonly logLevel: EventLevel
  readonly monitorConnectionString: string | undefined
  readonly evaluationDelayMs: number
  readonly syncRetryDelaysS: readonly number[]
  readonly syncSliceS: number
  readonly syncLeaseS: number
  readonly directoryWritesPerTenant: number
  readonly directoryWritesInAll: number
}

type Environment = Readonly<Record<string, string | undefined>>

/** A setting that is missing or does not parse. Told in one line that names it; the value itself may be secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

type Reader = (name: string) => string | undefined
type Definition<T> = {
  readonly name: string
  readonly meaning: string
  readonly parse: (read: Reader, name: string) => T
}

/** The settings by their variable's name, with what each means. README's table and the templates are checked against it. */
export const SETTINGS: { readonly [Key in keyof Settings]: Definition<Settings[Key]> } = {
  authorityUrl: {
    name: 'AUTHORITY_URL',
    meaning: 'Where access tokens come from',
    parse: (read, name) => url(read(name) ?? 'https://login.microsoftonline.com', name),
  },
  serviceClientId: {
    name: 'SERVICE_CLIENT_ID',
    meaning: "Client id of the service's multi-tenant application",
    parse: (read, name) => guid(required(read(name), name), name),
  },
  serviceResourceUri: {
    name: 'SERVICE_RESOURCE_URI',
    meaning: 'Resource URI of that application (default api://<client id>)',
    parse: (read, name) => read(name) ?? `api://${read('SERVICE_CLIENT_ID')?.toLowerCase()}`,
  },
  homeTenantId: {
    name: 'HOME_TENANT_ID',
    meaning: 'Tenant in which that application is registered',
    parse: (read, name) => guid(required(read(name), name), name),
  },
  graphUrl: {
    name: 'GRAPH_URL',
    meaning: 'Microsoft Graph',
    parse: (read, name) => url(read(name) ?? 'https://graph.microsoft.com', name),
  },
  graphClientSecret: {
    name: 'GRAPH_CLIENT_SECRET',
    meaning: "The application's secret, where there is no managed identity",
    parse: (read, name) => read(name),
  },
  managedIdentityClientId: {
    name: 'MANAGED_IDENTITY_CLIENT_ID',
    meaning: 'Managed identity that stands for the application (federated credential)',
    parse: (read, name) => {
      const value = read(name)
      if (value === undefined && read('GRAPH_CLIENT_SECRET') === undefined) {
        throw new SettingsError(`${name} or GRAPH_CLIENT_SECRET has to be set`)
      }
      return optional(value, name, guid)
    },
  },
  cosmosEndpoint: {
    name: 'COSMOS_ENDPOINT',
    meaning: 'The Cosmos DB account',
    parse: (read, name) => url(required(read(name), name), name),
  },
  cosmosKey: {
    name: 'COSMOS_KEY',
    meaning: "The account's key, where there is no managed identity",
    parse: (read, name) => optional(read(name), name, base64),
  },
  serviceBusConnectionString: {
    name: 'ServiceBus',
    meaning: 'Connection string of the Service Bus namespace, where there is no managed identity',
    parse: (read, name) => optional(read(name), name, connectionString),
  },
  serviceBusNamespace: {
    name: 'ServiceBus__fullyQualifiedNamespace',
    meaning: 'The Service Bus namespace',
    parse: (read, name) => {
      const value = read(name)
      if (value === undefined && read('ServiceBus') === undefined) {
        throw new SettingsError(`ServiceBus or ${name} has to be set`)
      }
      return optional(value, name, hostName)
    },
  },
  cursorKeys: {
    name: 'CURSOR_KEYS',
    meaning: 'Keys of cursors (base64, 32 bytes, comma-separated; the first signs; default: kept in the database)',
    parse: (read, name) => {
      const value = read(name)
      return value === undefined ? [] : keys(value, name)
    },
  },
  logLevel: {
    name: 'LOG_LEVEL',
    meaning: 'The least important events that are logged: info, warn or error (default info)',
    parse: (read, name) => oneOf(EVENT_LEVELS, read(name) ?? 'info', name),
  },
  monitorConnectionString: {
    name: 'APPLICATIONINSIGHTS_CONNECTION_STRING',
    meaning: 'Connection string of the Application Insights that traces and metrics go to (default none)',
    parse: (read, name) => monitorConnectionString(read(name), name),
  },
  evaluationDelayMs: {
    name: 'EVALUATION_DELAY_MS',
    meaning: 'How long changes are gathered before collections are evaluated (default 500)',
    parse: (read, name) => wholeNumber(read(name) ?? '500', name),
  },
  syncRetryDelaysS: {
    name: 'SYNC_RETRY_DELAYS_S',
    meaning: 'Seconds before each retry of a failed sync job (default 15,60,240)',
    parse: (read, name) => (read(name) ?? '15,60,240').split(',').map((part) => wholeNumber(part.trim(), name)),
  },
  syncSliceS: {
    name: 'SYNC_SLICE_S',
    meaning: 'Seconds of work after which a sync job goes on in a new message (default 240)',
    parse: (read, name) => count(read(name) ?? '240', name),
  },
  syncLeaseS: {
    name: 'SYNC_LEASE_S',
    meaning: 'Seconds for which a worker that died holds up the sync of its link (default 60)',
    parse: (read, name) => count(read(name) ?? '60', name),
  },
  directoryWritesPerTenant: {
    name: 'DIRECTORY_WRITES_PER_TENANT',
    meaning: "Writes to one tenant's directory per 150 seconds at most (default 2400; the directory refuses 3000)",
    parse: (read, name) => count(read(name) ?? '2400', name),
  },
  directoryWritesInAll: {
    name: 'DIRECTORY_WRITES_IN_ALL',
    meaning: 'Writes to all directories together per 300 seconds at most (default 56000; the directory refuses 70000)',
    parse: (read, name) => count(read(name) ?? '56000', name),
  },
}

/** @throws SettingsError that names every faulty setting in one line. */
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

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new SettingsError(`${name} has to be set`)
  return value
}

function optional(
  value: string | undefined,
  name: string,
  parse: (value: string, name: string) => string,
): string | undefined {
  return value === undefined ? undefined : parse(value, name)
}

/** In lower case, as tokens name it. */
function guid(value: string, name: string): string {
  if (!isGuid(value)) throw new SettingsError(`${name} has to be a GUID`)
  return value.toLowerCase()
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

function base64(value: string, name: string): string {
  if (!BASE64.test(value)) throw new SettingsError(`${name} has to be in base64`)
  return value
}

function connectionString(value: string, name: string): string {
  if (!/(^|;)\s*Endpoint=sb:\/\/[^;]+/i.test(value)) throw new SettingsError(`${name} has to be a connection string`)
  return value
}

function hostName(value: string, name: string): string {
  if (!/^[\w-]+(\.[\w-]+)+$/.test(value)) throw new SettingsError(`${name} has to be a host name`)
  return value
}

/** Of the web: `host.example:443` is a URL too, whose scheme is the host. */
function url(value: string, name: string): string {
  if (!URL.canParse(value) || !/^https?:\/\//i.test(value)) throw new SettingsError(`${name} has to be a URL`)
  return value.replace(/\/+$/, '')
}

function oneOf<T extends string>(allowed: readonly T[], value: string, name: string): T {
  const known = allowed.find((word) => word === value)
  if (known === undefined) throw new SettingsError(`${name} has to be one of ${allowed.join(', ')}`)
  return known
}

function wholeNumber(value: string, name: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new SettingsError(`${name} has to be made of whole numbers`)
  return Number(value)
}

/** Of what none would mean that nothing is ever done. */
function count(value: string, name: string): number {
  const number = wholeNumber(value, name)
  if (number === 0) throw new SettingsError(`${name} has to be at least 1`)
  return number
}

/** Its instrumentation key is all that it has to have, in lower case: the exporter throws for any other. */
function monitorConnectionString(value: string | undefined, name: string): string | undefined {
  if (value !== undefined && !/(^|;)InstrumentationKey=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(;|$)/.test(value)) {
    throw new SettingsError(`${name} has to hold an InstrumentationKey`)
  }
  return value
}

function keys(value: string, name: string): string[] {
  const all = value.split(',').map((key) => key.trim())
  if (!all.every((key) => BASE64.test(key) && Buffer.from(key, 'base64').byteLength >= 32)) {
    throw new SettingsError(`${name} has to hold keys of 32 bytes at least, in base64`)
  }
  return all
}
