import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Environment, startEnvironment } from '../../../infra/local/environment.ts'
import { readLocalOptions } from '../../../infra/local/options.ts'
import { measureAudits } from './measured-audits.ts'
import { measureRows } from './measured-rows.ts'
import { measureSweeps, type SweepCost } from './measured-sweeps.ts'
import { type Client, type Clients, clientsOf } from './scale-clients.ts'
import type { MeasuredWork, Work } from './scale-model.ts'

const PEOPLE_COUNT = 1_000
/** Each linked collection has the people whose name begins with one of these letters. */
const FIRST_LETTERS = 'ABCDEFGHIJKLMNOPQRST'
const LINKS_COUNT = FIRST_LETTERS.length
/** Unchanged links over a week, so that each is compared once. */
const SWEPT_LINKS_COUNT = 50
const SWEPT_HOURS_COUNT = 168
const CHANGES_COUNT = 20
const READS_COUNT = 10
/** The service is idle after this time without work: it batches changes for half a second. */
const SETTLED_MS = 2_000
/** A link that was compared so recently reads accounts again with each change; most were compared days before. */
const COMPARED_MS = 6 * 60_000
/** Each evaluation reads the writes of this period again. */
const OVERLAP_MS = 20_000
const CRITERIA = '/collections-criteria/beta'
const LINKS = '/group-link/beta/group-links'
const CONNECTORS = '/iamcore/beta/sync/connectors'

export type Measurement = {
  readonly work: MeasuredWork
  readonly rowsPerTenant: number
  readonly membersPerLink: number
}

/**
 * Runs the whole service in this process and counts its calls to database, queue and directory with the counters of
 * the local servers. Request units are estimates of the local database.
 */
export async function measureWork(say: (line: string) => void): Promise<Measurement> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'collections-scale-'))
  const options = readLocalOptions({
    PORT: '0',
    DIRECTORY_PORT: '0',
    DATA_DIR: dataFolder,
    DEMO_IDENTITIES: String(PEOPLE_COUNT),
  })
  const environment = await startEnvironment(options, () => undefined)
  let ofService: ServiceMeasurement
  try {
    ofService = await measured(environment, await clientsOf(environment), say)
  } finally {
    await environment.close()
    rmSync(dataFolder, { recursive: true, force: true })
  }
  // Over days and weeks, which the whole service cannot skip.
  const swept = await measureSweeps(SWEPT_LINKS_COUNT, SWEPT_HOURS_COUNT)
  const [sweep, evaluation] = [workOf(swept.hourly), workOf(swept.evaluation)]
  const sweeps = {
    sweep,
    sweptChanges: run(difference(workOf(swept.afterChanges), sweep), 0),
    coldEvaluation: run(difference(workOf(swept.coldEvaluation), evaluation), 0),
  }
  return { ...ofService, work: { ...ofService.work, ...sweeps, ...(await measureAudits()), ...(await measureRows()) } }
}

function workOf({ operations, calls, requestUnits, messages }: SweepCost): Work {
  return run({ storeOperations: operations, directoryCalls: calls, requestUnits, messages, directoryWrites: 0 }, 0)
}

/** What is measured on the whole service. */
type ServiceMeasurement = Omit<Measurement, 'work'> & {
  readonly work: Pick<MeasuredWork, 'timer' | 'change' | 'read'>
}

async function measured(
  environment: Environment,
  clients: Clients,
  say: (line: string) => void,
): Promise<ServiceMeasurement> {
  const { writer, reader, connector, operator, newGroup } = clients
  const during = (run: () => Promise<unknown>) => workDuring(environment, run)
  await settled(environment)

  const rows = await rowCount(reader)
  say(`${rows} rows read`)
  // A tenant is swept after its first collection is created.
  await during(() => createCollection(writer, 'nobody'))
  await sleep(OVERLAP_MS)
  await during(() => createCollection(writer, 'nobody else'))
  const fireTimer = () => during(() => environment.fire('schedule-sweeps'))
  let timer = await fireTimer()
  // Waits until the minute of this tenant is over.
  while (timer.messages > 0) timer = await fireTimer()

  let memberCount = 0
  let linkedId = ''
  for (let index = 0; index < LINKS_COUNT; index += 1) {
    const collectionId = await createCollection(writer, FIRST_LETTERS.charAt(index))
    await settled(environment)
    const results = await writer<{ data: { memberIds: string[] } }>('GET', `${CRITERIA}/${collectionId}/results`)
    memberCount += results.data.memberIds.length
    linkedId = collectionId
    const link = { collectionId, directoryGroupId: await newGroup(index) }
    // Links remember for a while what they have written. This one finds its group as it shall be, as most have.
    const { data: first } = await writer<{ data: string }>('POST', LINKS, link)
    await settled(environment)
    await writer('DELETE', `${LINKS}/${first}`)
    await writer('POST', LINKS, link)
  }
  await settled(environment)
  say(`${LINKS_COUNT} links synchronized; changes begin in ${COMPARED_MS / 60_000} minutes`)
  await sleep(COMPARED_MS)
  const connectorId = (await operator<{ data: { id: string }[] }>('GET', CONNECTORS)).data[0]?.id
  const dataPath = `${CONNECTORS}/${connectorId}/data`
  const people = await peopleOutside(connector, dataPath)
  const changes = await during(async () => {
    for (const [index, { externalId, data }] of people.entries()) {
      const renamed = { ...data, displayName: `${FIRST_LETTERS.charAt(index)} ${data.displayName}` }
      const items = [{ op: 'upsert', objectType: 'identity', externalId, data: renamed }]
      await connector('POST', `${dataPath}/batch`, { items })
      await settled(environment)
    }
  })
  say(`${CHANGES_COUNT} changes`)

  const reads = await during(async () => {
    for (let index = 0; index < READS_COUNT; index += 1) {
      await reader('GET', '/iamcore/beta/sync/coreobjects/identities?pageSize=50')
      await writer('GET', `${CRITERIA}?pageSize=50`)
      await writer('GET', `${LINKS}?collectionId=${linkedId}`)
    }
  })
  return {
    work: {
      timer: { ...timer, executions: 1 },
      change: run(perOne(changes, CHANGES_COUNT), 1),
      read: run(perOne(reads, READS_COUNT * 3), 1),
    },
    rowsPerTenant: rows,
    membersPerLink: Math.round(memberCount / LINKS_COUNT),
  }
}

type DeliveredPerson = {
  readonly externalId: string
  readonly data: { readonly displayName: string; readonly directoryObjectId?: string }
}

type Counts = Omit<Work, 'executions'>

/** A function runs for each message, and for each HTTP request. */
const run = (counts: Counts, requests: number, messages = counts.messages): Work => ({
  ...counts,
  messages,
  executions: messages + requests,
})

const COUNTED = ['storeOperations', 'requestUnits', 'messages', 'directoryCalls', 'directoryWrites'] as const

const each = (count: (name: (typeof COUNTED)[number]) => number): Counts =>
  Object.fromEntries(COUNTED.map((name) => [name, Math.max(0, count(name))])) as Counts

const difference = (whole: Counts, part: Counts): Counts => each((name) => whole[name] - part[name])

const perOne = (whole: Counts, count: number): Counts => each((name) => whole[name] / count)

async function workDuring(environment: Environment, act: () => Promise<unknown>): Promise<Counts> {
  const before = await environment.workDone()
  await act()
  await settled(environment)
  return difference(await environment.workDone(), before)
}

async function settled(environment: Environment): Promise<void> {
  for (let quietMs = 0; quietMs < SETTLED_MS; quietMs += 100) {
    await sleep(100)
    if (!environment.isQuiet()) quietMs = 0
  }
}

/** People with an account who are in none of the linked collections. */
async function peopleOutside(connector: Client, dataPath: string): Promise<DeliveredPerson[]> {
  const path = `${dataPath}?objectType=identity&pageSize=${PEOPLE_COUNT}`
  const { data: people } = await connector<{ data: DeliveredPerson[] }>('GET', path)
  const outside = people.filter(
    ({ data }) =>
      data.directoryObjectId !== undefined && !FIRST_LETTERS.includes(data.displayName.normalize('NFD').charAt(0)),
  )
  if (outside.length < CHANGES_COUNT) throw new Error(`Only ${outside.length} people are in no linked collection`)
  return outside.slice(0, CHANGES_COUNT)
}

/** Of identities whose name begins with the text. */
async function createCollection(writer: Client, text: string): Promise<string> {
  const leaf = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'StartsWith', value: text }
  const condition = { groupOperator: 'AND', conditions: [leaf] }
  return (
    await writer<{ data: string }>('POST', CRITERIA, { objectType: 'Identity', name: `Names ${text}`, condition })
  ).data
}

async function rowCount(reader: Client): Promise<number> {
  let count = 0
  for (const list of ['identities', 'orgunits', 'relationships']) {
    let query = 'pageSize=1000'
    for (let isLast = false; !isLast; ) {
      const path = `/iamcore/beta/sync/coreobjects/${list}?${query}`
      const { data, nextCursor } = await reader<{ data: unknown[]; nextCursor?: string }>('GET', path)
      count += data.length
      isLast = nextCursor === undefined
      query = `pageSize=1000&nextCursor=${encodeURIComponent(nextCursor ?? '')}`
    }
  }
  return count
}
