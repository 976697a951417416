import { setTimeout as sleep } from 'node:timers/promises'
import type { CollectionResults } from '../../../shared/domain/collections/collection.ts'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import { type ApiClient, asApplication, eventually } from '../../support/journeys/demo-clients.ts'
import { newDataFolder, startedEnvironment } from '../../support/journeys/started-environment.ts'

/**
 * How long it takes from the answer to a connector's write until the member is in `results`, on the whole environment
 * with 20,000 people. Bar: under 2 s at the 95th percentile over 40 writes. Ends with 1 when it is missed.
 * Usage: `npm run bench -- latency [people]`.
 */
const PEOPLE_COUNT = process.argv[2] ?? '20000'
const WRITE_COUNT = 40
const BAR_MS = 2000
/** Milliseconds between one write's end and the next. Without a pause there would be no coming upon an idle service. */
const PAUSES_MS = [0, 100, 400, 900]
/** Collections that the written people have nothing to do with, and one that holds everybody. */
const OTHER_COLLECTION_COUNT = 100
const CONNECTORS = '/iamcore/beta/sync/connectors'
const CRITERIA = '/collections-criteria/beta'

const report = (what: string, measured: string): boolean => process.stdout.write(`${what.padEnd(64)}${measured}\n`)

async function create(writer: ApiClient, name: string, operator: string, value: string): Promise<string> {
  const leaf = { id: 'identityDisplayName', field: 'identityDisplayName', operator, value }
  const condition = { groupOperator: 'AND', conditions: [leaf] }
  const { status, json } = await writer<string>('POST', CRITERIA, { objectType: 'Identity', name, condition })
  if (status !== 201) throw new Error(`The collection was refused: ${JSON.stringify(json)}`)
  return json.data
}

const memberCount = async (reader: ApiClient, id: string): Promise<number | undefined> => {
  const { data } = (await reader<CollectionResults>('GET', `${CRITERIA}/${id}/results`)).json
  return data.evaluatedAt === null ? undefined : data.memberIds.length
}

const startedMs = performance.now()
const environment = await startedEnvironment(newDataFolder(), {
  DEMO_IDENTITIES: PEOPLE_COUNT,
  LOG_LEVEL: 'warn',
  REQUESTS_PER_CALLER_PER_MINUTE: '0',
})
report(`start with ${PEOPLE_COUNT} people`, `${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
let isMet = false
try {
  const writer = await asApplication(environment, 'writer')
  const operator = await asApplication(environment, 'operator')
  const connector = await asApplication(environment, 'connector')
  const connectorId = (await operator<Connector[]>('GET', CONNECTORS)).json.data[0]?.id
  for (let index = 0; index < OTHER_COLLECTION_COUNT; index += 1)
    await create(writer, `${index}`, 'EndsWith', `x${index}`)
  const everybody = await create(writer, 'Everybody', 'NotEquals', 'nobody')
  const id = await create(writer, 'Latecomers', 'StartsWith', 'Latecomer')
  await eventually('the first evaluation', () => memberCount(writer, id), 120_000)
  report('members of the largest collection', String(await memberCount(writer, everybody)))

  const write = async (index: number): Promise<number> => {
    const data = { displayName: `Latecomer ${index}` }
    const items = [{ op: 'upsert', objectType: 'identity', externalId: `latecomer ${index}`, data }]
    const { status, json } = await connector<{ status: number }[]>('POST', `${CONNECTORS}/${connectorId}/data/batch`, {
      items,
    })
    if (status !== 200 || json.data.some((result) => result.status >= 300))
      throw new Error(`Refused: ${JSON.stringify(json)}`)
    const answeredMs = performance.now()
    const isIn = async () => ((await memberCount(writer, id)) === index + 1 ? true : undefined)
    await eventually(`latecomer ${index}`, isIn, 60_000)
    return performance.now() - answeredMs
  }
  const latenciesMs: number[] = []
  for (let index = 0; index < WRITE_COUNT; index += 1) {
    latenciesMs.push(await write(index))
    await sleep(PAUSES_MS[index % PAUSES_MS.length])
  }
  const sorted = latenciesMs.toSorted((left, right) => left - right)
  const percentileMs = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  for (const share of [0.5, 0.95, 1]) report(`percentile ${share * 100}`, `${percentileMs(share).toFixed(0)} ms`)
  isMet = percentileMs(0.95) < BAR_MS
  report('95th percentile under 2 s', isMet ? 'met' : 'MISSED')
} finally {
  await environment.stop()
}
process.exit(isMet ? 0 : 1)
