import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { applicationToken, asApplication } from '../../support/journeys/demo-clients.ts'
import { newDataFolder, startedEnvironment } from '../../support/journeys/started-environment.ts'
import { machineLoad } from './machine-load.ts'
import { answerMs, longestHoldMs, percentile } from './measured-answers.ts'

/**
 * Memberships of one tenant that end in the same minute, and what another tenant waits for meanwhile. Bars: all have
 * ended 5 minutes after their end, and the longest hold of the thread of the functions, in processor time, is 50 ms.
 * Latencies of the neighbour are printed with what else the machine has done.
 * Usage: `npm run bench -- ends [members]`
 */
const MEMBERS_COUNT = Number(process.argv[2] ?? 10_000)
const PERSONS_PER_BATCH_COUNT = 1000
/** The direct add takes less. */
const ENDS_AFTER_MS = 60_000
const MAX_DURATION_MS = 5 * 60_000
const MAX_HOLD_MS = 50
const POLL_MS = 1_000
const PAUSE_MS = 10

const CONNECTORS = '/iamcore/beta/sync/connectors'
const JOINABLE = '/collections-joinable/beta'
const LIST = '/iamcore/beta/sync/coreobjects/identities?pageSize=10'

const report = (what: string, measured: string) => process.stdout.write(`${what.padEnd(56)}${measured}\n`)

const environment = await startedEnvironment(newDataFolder(), {
  DEMO_IDENTITIES: '0',
  NODE_OPTIONS: `--import ${join(import.meta.dirname, 'thread-holds.ts')}`,
})
const { apiUrl, demo, processId } = environment
const loadOfMachine = machineLoad([process.pid, processId])
let isMet = true
try {
  const identityIds = (await newPeople(0, MEMBERS_COUNT)).slice(0, MEMBERS_COUNT)
  await newPeople(1, 100)
  const writer = await asApplication(environment, 'writer', 0)
  const definition = { objectType: 'Identity', name: 'Visitors', joinPolicy: { approvalRequired: false } }
  const { data: collectionId } = (await writer<string>('POST', JOINABLE, definition)).json
  const endMs = Date.now() + ENDS_AFTER_MS
  const added = { coreIdentityIds: identityIds, endsAt: new Date(endMs).toISOString() }
  const startedMs = performance.now()
  const { status } = await writer('POST', `${JOINABLE}/${collectionId}/results/members`, added)
  if (status !== 200) throw new Error(`The members were answered ${status}`)
  report(`${MEMBERS_COUNT} members added`, `${seconds(performance.now() - startedMs)} s`)
  await sleep(Math.max(0, endMs - Date.now()))
  await longestHoldMs(environment)
  loadOfMachine()
  const headers = { authorization: `Bearer ${await applicationToken(environment, 'operator', demo.scope, 1)}` }
  const latenciesMs: number[] = []
  let isOver = false
  const joined = `${JOINABLE}/membership-requests/${collectionId}?status=Joined&pageSize=1`
  const ending = (async () => {
    while ((await writer<object[]>('GET', joined)).json.data.length > 0) await sleep(POLL_MS)
    isOver = true
    return Date.now() - endMs
  })()
  while (!isOver) {
    latenciesMs.push(await answerMs(`${apiUrl}${LIST}`, headers))
    await sleep(PAUSE_MS)
  }
  const durationMs = await ending
  report(`${MEMBERS_COUNT} memberships ended, since their end`, `${seconds(durationMs)} s`)
  const [p50, p99] = [percentile(latenciesMs, 0.5), percentile(latenciesMs, 0.99)]
  const most = Math.max(...latenciesMs).toFixed(0)
  report('meanwhile, a list of the neighbour', `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, at most ${most} ms`)
  report('meanwhile, the machine', loadOfMachine())
  const holdMs = await longestHoldMs(environment)
  report('meanwhile, longest hold', `${holdMs} ms`)
  isMet = durationMs <= MAX_DURATION_MS && holdMs <= MAX_HOLD_MS
} finally {
  await environment.stop()
}
report(`${seconds(MAX_DURATION_MS)} s, holds of ${MAX_HOLD_MS} ms`, isMet ? 'met' : 'MISSED')
process.exitCode = isMet ? 0 : 1

/** Makes people of a tenant. @returns Their identity ids. */
async function newPeople(tenantIndex: number, count: number): Promise<string[]> {
  const operator = await asApplication(environment, 'operator', tenantIndex)
  const connector = await asApplication(environment, 'connector', tenantIndex)
  const clientId = demo.tenants[tenantIndex]?.apps.find(({ name }) => name === 'connector')?.clientId
  const connectorId = (await operator<string>('POST', CONNECTORS, { name: 'Benchmark', clientId })).json.data
  const identityIds: string[] = []
  for (let from = 0; from < count; from += PERSONS_PER_BATCH_COUNT) {
    const items = Array.from({ length: Math.min(PERSONS_PER_BATCH_COUNT, count - from) }, (_, index) => {
      const data = { displayName: `Person ${from + index}` }
      return { op: 'upsert', objectType: 'identity', externalId: String(from + index), data }
    })
    const path = `${CONNECTORS}/${connectorId}/data/batch`
    const { status } = await connector('POST', path, { items })
    if (status !== 200) throw new Error(`A batch was answered ${status}`)
  }
  const list = '/iamcore/beta/sync/coreobjects/identities?pageSize=2000'
  let nextCursor: string | undefined = ''
  while (nextCursor !== undefined) {
    const path: string = nextCursor === '' ? list : `${list}&nextCursor=${nextCursor}`
    const page = await operator<{ id: string }[]>('GET', path)
    identityIds.push(...page.json.data.map(({ id }) => id))
    nextCursor = page.json.nextCursor
  }
  return identityIds
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(1)
}
