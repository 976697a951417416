import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SOURCE_CONSOLE_FOLDER } from '../../functions/app/console-files.ts'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { tenants } from '../../shared/settings/parse-setting.ts'
import { buildConsoleIfOutdated } from '../build/build-console.ts'
import { createContainers, localSecrets } from './cosmos/local-account.ts'
import { type CosmosProcess, startCosmosProcess } from './cosmos/process.ts'
import { demoEnvironment } from './demo/demo-environment.ts'
import { loadDemo } from './demo/load-demo.ts'
import type { Municipality } from './demo/municipality.ts'
import { openSentObjects } from './demo/sent-objects.ts'
import { type LocalDirectory, startDirectory } from './directory/directory-server.ts'
import { demoAnswer } from './directory/seed.ts'
import { startHost } from './host/host.ts'
import type { HostLogEntry } from './host/programming-model.ts'
import type { LocalOptions } from './options.ts'
import { makePrivateFolder } from './private-files.ts'
import { type LocalQueueCounts, type LocalServiceBus, startServiceBus } from './service-bus/broker.ts'

/** The project folder, which contains host.json. */
const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** Seed of all demo data: every machine gets the same people, IDs and passwords. */
const DEMO_SEED = 'collections-service'

export type Environment = {
  readonly apiUrl: string
  readonly directoryUrl: string
  /** Certificate authority that clients of the directory must trust. */
  readonly caFile: string
  /** Operations on database, queue and directory since the start. */
  workDone(): Promise<WorkDone>
  /** Whether no message is active, scheduled or locked. */
  isQuiet(): boolean
  /** Runs a function of a timer and waits for its end. */
  fire(name: string): Promise<void>
  /** Stops all parts, the functions first. */
  close(): Promise<void>
}

type WorkDone = {
  readonly storeOperations: number
  readonly requestUnits: number
  /** Number of sent messages. */
  readonly messages: number
  /** Graph requests. A batch counts as one. */
  readonly directoryCalls: number
  /** Graph write requests. Each item of a batch counts. */
  readonly directoryWrites: number
}

/**
 * Starts the complete service on loopback: local servers for database, queue and directory, then the functions. Loads
 * the demo data through the API. Supports one environment per process because the functions read environment variables.
 * @param say receives a line for the user after each step
 * @throws Error that names the port or file that prevents the start. Stops all parts before it throws.
 */
export async function startEnvironment(options: LocalOptions, say: Say): Promise<Environment> {
  const running: Running = []
  const close = async () => {
    for (let stop = running.pop(); stop !== undefined; stop = running.pop()) await stop()
  }
  try {
    const { dataFolder } = options
    makePrivateFolder(dataFolder)
    const demo = demoEnvironment({ identityCount: options.demoIdentityCount, seed: DEMO_SEED })
    const cosmos = await startDatabase(options, running, say)
    const bus = await startQueues(options, running, say)
    let apiUrl = `http://localhost:${options.port}`
    const directory = await startDirectory({
      port: options.directoryPort,
      httpPort: options.directoryHttpPort,
      folder: dataFolder,
      seed: demo.directory,
      apiUrl: () => apiUrl,
      apiScope: process.env.API_SCOPE ?? 'user_impersonation',
    })
    running.push(() => directory.close())
    setDefaultCACertificates([...getCACertificates('default'), directory.caPem])
    say(`directory  ${directory.url}`)

    const connections = {
      AUTHORITY_URL: directory.url,
      GRAPH_URL: directory.url,
      GRAPH_CLIENT_SECRET: demo.service.clientSecret,
      HOME_TENANT_ID: demo.service.homeTenantId,
      SERVICE_CLIENT_ID: demo.service.clientId,
      CONSOLE_CLIENT_ID: demo.directory.publicClientId,
      CONSOLE_AUTHORITY_URL: directory.signInUrl,
      COSMOS_ENDPOINT: cosmos.endpoint,
      COSMOS_KEY: cosmos.key,
      ServiceBus: bus.connectionString,
      MAIL_SENDER: demo.service.mailSender,
      ...(options.port === 0 ? {} : { PUBLIC_URL: `http://localhost:${options.port}` }),
    }
    applySettings(connections)
    writeSettings(join(dataFolder, 'local.settings.json'), connections)
    if (options.appFolder === undefined) await buildConsoleIfOutdated(PROJECT_FOLDER, SOURCE_CONSOLE_FOLDER)
    const host = await startHost({
      ...(options.appFolder === undefined
        ? { appFolder: PROJECT_FOLDER, entries: ['functions/*.ts'] }
        : { appFolder: options.appFolder }),
      port: options.port,
      settings: process.env as Record<string, string>,
      log: reportHostErrors(say),
    })
    running.push(() => host.close())
    apiUrl = host.url
    say(`functions  ${apiUrl} (${host.functions.map(({ name }) => name).join(', ')})`)

    const sentObjects = openSentObjects(join(dataFolder, 'demo.sqlite'))
    const loaded = await loadDemo({
      apiUrl,
      directoryUrl: directory.url,
      demo: demoAnswer(demo.directory, apiUrl),
      municipalities: demo.municipalities.filter(isAllowed(process.env.TENANTS)),
      sentObjects,
    }).finally(() => sentObjects.close())
    const sentCount = loaded.tenants.reduce((sum, tenant) => sum + tenant.sentCount, 0)
    say(`demo data  ${sentCount === 0 ? 'already loaded' : `${sentCount} objects loaded through the connector API`}`)
    return {
      apiUrl,
      directoryUrl: directory.url,
      caFile: join(dataFolder, 'ca.pem'),
      workDone: () => workDoneBy(cosmos, bus, directory),
      isQuiet: () => QUEUES.every(({ name }) => sumOf(waitingOf(bus.counts(name))) === 0),
      fire: (name) => host.invoke(name),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The service refuses the demo data of other tenants. */
function isAllowed(setting = 'any'): (municipality: Municipality) => boolean {
  const allowed = tenants(setting, 'TENANTS')
  return ({ tenantId }) => allowed === 'any' || allowed.has(tenantId)
}

/** Stop functions of the started parts, in start order. */
type Running = (() => Promise<void>)[]

type Say = (line: string) => void

async function startDatabase(
  { dataFolder, cosmosPort }: LocalOptions,
  running: Running,
  say: Say,
): Promise<CosmosProcess> {
  const { cosmosKey } = localSecrets(join(dataFolder, 'secrets.json'))
  const file = join(dataFolder, 'cosmos.sqlite')
  const cosmos = await startCosmosProcess({ port: cosmosPort, file, key: cosmosKey, strict: true })
  running.push(() => cosmos.close())
  await createContainers(cosmos.endpoint, cosmos.key)
  say(`database   ${cosmos.endpoint}`)
  return cosmos
}

async function startQueues(
  { dataFolder, serviceBusPort }: LocalOptions,
  running: Running,
  say: Say,
): Promise<LocalServiceBus> {
  const file = join(dataFolder, 'service-bus.sqlite')
  const bus = await startServiceBus({ port: serviceBusPort, file, queues: QUEUES })
  running.push(() => bus.close())
  say(`queue      ${/sb:[^;]+/.exec(bus.connectionString)?.[0]}`)
  return bus
}

async function workDoneBy(cosmos: CosmosProcess, bus: LocalServiceBus, directory: LocalDirectory): Promise<WorkDone> {
  const { operationCount, requestUnits } = await cosmos.workDone()
  const requests = directory.requests()
  const writes = requests.flatMap(({ batch, ...request }) => batch ?? [request]).filter(isWrite)
  return {
    storeOperations: operationCount,
    requestUnits,
    messages: sumOf(Object.values(bus.sent())),
    directoryCalls: requests.length,
    directoryWrites: writes.length,
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0)

const isWrite = ({ method }: { readonly method: string }): boolean => method !== 'GET'

const waitingOf = ({ active, scheduled, locked }: LocalQueueCounts): number[] => [active, scheduled, locked]

/**
 * Sets the connection settings of the local servers, and defaults from the sample file for variables that are not set.
 */
function applySettings(connections: Readonly<Record<string, string>>): void {
  const sample = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'local.settings.sample.json'), 'utf8')) as {
    Values: Record<string, string>
  }
  for (const [name, value] of Object.entries(sample.Values)) process.env[name] ??= value
  Object.assign(process.env, connections)
}

/** Writes the connection settings for commands that run beside the environment. */
function writeSettings(file: string, connections: Readonly<Record<string, string>>): void {
  writeFileSync(file, JSON.stringify({ IsEncrypted: false, Values: connections }, undefined, 2), { mode: 0o600 })
}

/** Reports warnings and errors of the host. The functions write their own logs. */
function reportHostErrors(say: Say): (entry: HostLogEntry) => void {
  return ({ level, category, message, functionName, error }) => {
    if (category === 'host' && (level === 'error' || level === 'critical' || level === 'warning')) {
      say(`${functionName ?? 'host'}: ${message}${error instanceof Error ? `: ${error.message}` : ''}`)
    }
  }
}
