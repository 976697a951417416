import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CosmosClient, type QueryIterator } from '@azure/cosmos'
import { localSecrets } from '../../../infra/local/cosmos/local-account.ts'
import { DATABASE_ID } from '../../../shared/cosmos/containers.ts'
import { cosmosCoreObjectStore } from '../../../shared/cosmos/core/core-object-store.ts'
import { newTenant, startCoreDataService } from '../../support/api/core-data-service.ts'
import { type ApiClient, asApplication } from '../../support/journeys/demo-clients.ts'
import { newDataFolder, startedEnvironment } from '../../support/journeys/started-environment.ts'
import { generatedObjects, joiningIdentities } from './generated-objects.ts'

/**
 * Loads objects through the API of a started environment, and reads them back. Bars, at 100,000: 1500 objects/s loaded
 * with less than 400 MB of memory; each page of the default size, and each search, within 300 ms.
 * Usage: `npm run bench -- core [objects loaded] [identities listed]`.
 */
const OBJECTS_COUNT = Number(process.argv[2] ?? 100_000)
const IDENTITIES_COUNT = Number(process.argv[3] ?? 100_000)
const BATCH_COUNT = 1000
const BATCHES_AT_ONCE_COUNT = 3
const JOINED_COUNT = Math.min(20_000, Math.round(OBJECTS_COUNT * 0.46))
const SEARCHES = ['person 77', 'person', '77.example', 'pérson', '10000000777', 'no such text']

/** In which Linux counts processor time. */
const TICKS_PER_S = 100

const CONNECTORS = '/iamcore/beta/sync/connectors'
const CORE = '/iamcore/beta/sync/coreobjects'

const report = (text: string): void => void process.stdout.write(`${text}\n`)
const inMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

const dataFolder = newDataFolder()
const cosmosPort = await freePort()
const environment = await startedEnvironment(dataFolder, {
  DEMO_IDENTITIES: '0',
  COSMOS_PORT: String(cosmosPort),
  REQUESTS_PER_CALLER_PER_MINUTE: '0',
})
/** The host computes what runs in the cloud as this service; queue and directory are in its process too. */
const processes = [
  { name: 'functions, queue and directory', id: environment.processId },
  { name: 'database', id: databaseProcessId() },
]
try {
  const [tenant] = environment.demo.tenants
  const clientId = tenant?.apps.find(({ name }) => name === 'connector')?.clientId
  const operator = await asApplication(environment, 'operator')
  const connector = await asApplication(environment, 'connector')
  const newConnector = async (name: string): Promise<string> =>
    (await operator<string>('POST', CONNECTORS, { name, clientId })).json.data
  const { items, moreIdentities } = generatedObjects(OBJECTS_COUNT, IDENTITIES_COUNT)
  const loadBy = (connectorId: string) => (what: readonly unknown[]) =>
    loadAll(what, `${CONNECTORS}/${connectorId}/data/batch`, connector)
  const load = loadBy(await newConnector('Benchmark'))
  await reportLoad('load', items, load)
  await reportLoad('load again, nothing new', items.slice(0, 20_000), load)
  await reportLoad('more identities', moreIdentities, load)
  const loadSecond = loadBy(await newConnector('Second'))
  await reportLoad('a second connector, joining by nin', joiningIdentities(JOINED_COUNT), loadSecond)
  await reportLoad('first connector again, nothing new', items.slice(0, 20_000), load)
  await reportPages('identities', operator)
  await reportPages('orgunits', operator)
  await reportCharges(String(tenant?.tenantId))
  for (const text of SEARCHES) await reportSearch(text, operator)
} finally {
  await environment.stop()
}
await reportOperations()

async function reportLoad(
  name: string,
  items: readonly unknown[],
  load: (items: readonly unknown[]) => Promise<void>,
): Promise<void> {
  const beforeS = processes.map(({ id }) => processorS(id))
  const tookS = (await inMs(() => load(items))) / 1000
  report(`${name}: ${items.length} objects in ${tookS.toFixed(1)} s: ${Math.round(items.length / tookS)} objects/s`)
  for (const [index, { name, id }] of processes.entries()) {
    const computedS = processorS(id) - (beforeS[index] ?? 0)
    report(`  ${name}: ${computedS.toFixed(1)} s on a processor, ${peakMemoryMB(id)} MB of memory at most`)
  }
}

async function loadAll(items: readonly unknown[], path: string, connector: ApiClient): Promise<void> {
  const starts = Array.from({ length: Math.ceil(items.length / BATCH_COUNT) }, (_, index) => index * BATCH_COUNT)
  const next = starts.values()
  const sendRest = async () => {
    for (const start of next) {
      const batch = { items: items.slice(start, start + BATCH_COUNT) }
      const { status, json } = await connector<{ status: number }[]>('POST', path, batch)
      if (status !== 200 || json.data.some((result) => result.status >= 300)) {
        throw new Error(`A batch was answered ${status}: ${JSON.stringify(json).slice(0, 500)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE_COUNT }, sendRest))
}

async function reportPages(type: string, operator: ApiClient): Promise<void> {
  const pagesMs: number[] = []
  let count = 0
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query: string = cursor === '' ? '' : `?nextCursor=${cursor}`
    pagesMs.push(
      await inMs(async () => {
        const { json } = await operator<unknown[]>('GET', `${CORE}/${type}${query}`)
        count += json.data.length
        cursor = json.nextCursor
      }),
    )
  }
  report(`${type}: ${count} in pages of ${pagesMs.map(Math.round).join(', ')} ms`)
}

/** What loading asks of the database, by the counters of one in this process. */
async function reportOperations(): Promise<void> {
  const service = await startCoreDataService()
  const tenant = await newTenant(service)
  const [first, second] = [await tenant.addConnector('First'), await tenant.addConnector('Second')]
  const { items } = generatedObjects(BATCH_COUNT * 5, 0)
  for (const [name, connector, what] of [
    ['load', first, items],
    ['load again', first, items],
    ['second connector, joining by nin', second, joiningIdentities(BATCH_COUNT)],
  ] as const) {
    const count = () => Object.values(service.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const [operationsBefore, unitsBefore] = [count(), service.cosmos.chargedUnits()]
    for (let start = 0; start < what.length; start += BATCH_COUNT) {
      await connector.batch(...what.slice(start, start + BATCH_COUNT))
    }
    const perObject = (sum: number): string => (sum / what.length).toFixed(3)
    const units = perObject(service.cosmos.chargedUnits() - unitsBefore)
    report(
      `${name}, beside another connector: ${perObject(count() - operationsBefore)} operations, ${units} RU an object`,
    )
  }
  await service.close()
}

/** The pages as the routes read them, with what the database says that each cost. */
async function reportCharges(tenantId: string): Promise<void> {
  let charge = 0
  const key = localSecrets(join(dataFolder, 'secrets.json')).cosmosKey
  const client = new CosmosClient({ endpoint: `http://127.0.0.1:${cosmosPort}`, key })
  const container = client.database(DATABASE_ID).container('coreObjects')
  const query = container.items.query.bind(container.items)
  container.items.query = (...args: unknown[]) => {
    const iterator = (query as (...args: unknown[]) => QueryIterator<unknown>)(...args)
    const fetchNext = iterator.fetchNext.bind(iterator)
    iterator.fetchNext = async () => {
      const answer = await fetchNext()
      charge += answer.requestCharge
      return answer
    }
    return iterator
  }
  const store = cosmosCoreObjectStore(container)
  const charges: number[] = []
  let after: string | undefined
  do {
    charge = 0
    const page = await store.page(tenantId, 'identity', after, 2000)
    charges.push(Math.round(charge))
    after = page.continueAfter
  } while (after !== undefined)
  report(`request charge of each page of identities: ${charges.join(', ')} RU`)
}

async function reportSearch(text: string, operator: ApiClient): Promise<void> {
  const timesMs: number[] = []
  let found = 0
  for (let time = 0; time < 3; time += 1) {
    timesMs.push(
      await inMs(async () => {
        const { json } = await operator<unknown[]>('GET', `${CORE}/identities/search?text=${encodeURIComponent(text)}`)
        found = json.data.length
      }),
    )
  }
  report(`search ${text}: ${found} found in ${timesMs.map(Math.round).join(', ')} ms`)
}

/** Time that a process computed, independent of the load of the machine. */
function processorS(processId: number): number {
  const [, rest = ''] = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ')
  const [userTicks, systemTicks] = rest.split(' ').slice(11, 13).map(Number)
  return ((userTicks ?? 0) + (systemTicks ?? 0)) / TICKS_PER_S
}

function peakMemoryMB(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8')
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024)
}

/** The environment has other children too: esbuild keeps a process after the build of the console. */
function databaseProcessId(): number {
  const { processId } = environment
  const children = readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8').trim().split(' ')
  const database = children.find((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('cosmos/process-entry'))
  if (database === undefined) throw new Error(`No child of process ${processId} is the database`)
  return Number(database)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
