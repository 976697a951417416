import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { QUEUES } from '../../shared/messaging/queues.ts'
import { type CosmosProcess, startCosmosProcess } from './cosmos/process.ts'
import { createContainers } from './create-containers.ts'
import { demoEnvironment } from './demo/demo-environment.ts'
import { loadDemo } from './demo/load-demo.ts'
import { demoAnswer } from './directory/seed.ts'
import { type LocalDirectory, startDirectory } from './directory/server.ts'
import { startHost } from './host/host.ts'
import type { HostLogEntry } from './host/host-log.ts'
import { localSecrets } from './local-secrets.ts'
import type { LocalOptions } from './options.ts'
import { type LocalQueueCounts, type LocalServiceBus, startServiceBus } from './service-bus/broker.ts'

/** The folder of the project, where host.json is. */
const PROJECT_FOLDER = join(import.meta.dirname, '../..')

/** All demo data follow from it: the same people, ids and passwords on every machine. */
const DEMO_SEED = 'collections-service'

export type Environment = {
  readonly apiUrl: string
  readonly directoryUrl: string
  /** The authority that clients of the directory have to trust. */
  readonly caFile: string
  /** What database, queue and directory have been asked for since the start. */
  workDone(): Promise<WorkDone>
  /** Whether no message is anywhere on its way. */
  isQuiet(): boolean
  /** Fires a timer by hand, and waits for its end. */
  fire(timer: string): Promise<void>
  /** Stops everything, the functions first. */
  close(): Promise<void>
}

type WorkDone = {
  readonly storeOperations: number
  readonly requestUnits: number
  /** Sent; each is received and settled as well. */
  readonly messages: number
  /** Graph requests; a batch is one. */
  readonly directoryCalls: number
  /** Graph requests that write, each item of a batch. */
  readonly directoryWrites: number
}

/**
 * Starts the whole service on loopback: database, queue and directory, which speak the cloud's protocols, then the
 * functions as they are, then the demo data through the API. One environment a process: the functions read their
 * settings from its variables.
 * @param say told of each step, in words for a person.
 * @throws Error that names the port or the file that is in the way. Nothing is left running then.
 */
export async function startEnvironment(options: LocalOptions, say: Say): Promise<Environment> {
  const running: Running = []
  const close = async () => {
    for (let stop = running.pop(); stop !== undefined; stop = running.pop()) await stop()
  }
  try {
    const { dataFolder } = options
    mkdirSync(dataFolder, { recursive: true })
    const demo = demoEnvironment({ identityCount: options.demoIdentityCount, seed: DEMO_SEED })
    const cosmos = await startDatabase(options, running, say)
    const bus = await startQueues(options, running, say)
    let apiUrl = `http://localhost:${options.port}`
    const directory = await startDirectory({
      port: options.directoryPort,
      folder: dataFolder,
      seed: demo.directory,
      apiUrl: () => apiUrl,
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
      COSMOS_ENDPOINT: cosmos.endpoint,
      COSMOS_KEY: cosmos.key,
      ServiceBus: bus.connectionString,
    }
    applySettings(connections)
    leaveSettings(join(dataFolder, 'local.settings.json'), connections)
    const host = await startHost({
      ...(options.appFolder === undefined
        ? { appFolder: PROJECT_FOLDER, entries: ['functions/*.ts'] }
        : { appFolder: options.appFolder }),
      port: options.port,
      settings: process.env as Record<string, string>,
      log: reportTroubles(say),
    })
    running.push(() => host.close())
    apiUrl = host.url
    say(`functions  ${apiUrl} (${host.functions.map(({ name }) => name).join(', ')})`)

    const { tenants } = await loadDemo({
      apiUrl,
      directoryUrl: directory.url,
      demo: demoAnswer(demo.directory, apiUrl),
      municipalities: demo.municipalities,
    })
    const sentCount = tenants.reduce((sum, tenant) => sum + tenant.sentCount, 0)
    say(`demo data  ${sentCount === 0 ? 'is there already' : `${sentCount} objects loaded through the connector API`}`)
    return {
      apiUrl,
      directoryUrl: directory.url,
      caFile: join(dataFolder, 'ca.pem'),
      workDone: () => workDoneBy(cosmos, bus, directory),
      isQuiet: () => QUEUES.every(({ name }) => sumOf(waitingOf(bus.counts(name))) === 0),
      fire: (timer) => host.invoke(timer),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** How to stop what runs, in the order in which it was started. */
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

/** What runs here decides where to connect to; all else comes from the sample, unless the variable is set already. */
function applySettings(connections: Readonly<Record<string, string>>): void {
  const sample = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'local.settings.sample.json'), 'utf8')) as {
    Values: Record<string, string>
  }
  for (const [name, value] of Object.entries(sample.Values)) process.env[name] ??= value
  Object.assign(process.env, connections)
}

/** For commands that are run beside it: how to reach what runs here. */
function leaveSettings(file: string, connections: Readonly<Record<string, string>>): void {
  writeFileSync(file, JSON.stringify({ IsEncrypted: false, Values: connections }, undefined, 2), { mode: 0o600 })
}

/** The functions log for themselves; of the host's own words only what went wrong is of interest. */
function reportTroubles(say: Say): (entry: HostLogEntry) => void {
  return ({ level, category, message, functionName, error }) => {
    if (category === 'host' && (level === 'error' || level === 'critical' || level === 'warning')) {
      say(`${functionName ?? 'host'}: ${message}${error instanceof Error ? `: ${error.message}` : ''}`)
    }
  }
}
