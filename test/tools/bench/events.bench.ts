import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createContainers } from '../../../infra/local/cosmos/local-account.ts'
import { startCosmosProcess } from '../../../infra/local/cosmos/process.ts'
import { startServiceBus } from '../../../infra/local/service-bus/broker.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import type { EvaluatedMembers } from '../../../shared/domain/collections/membership-store.ts'
import { notifyMemberEvents } from '../../../shared/domain/events/notify-member-events.ts'
import { sweepEvents } from '../../../shared/domain/events/sweep-events.ts'
import { toTimestamp } from '../../../shared/kernel/timestamp.ts'
import { messageSender, openBus } from '../../../shared/messaging/message-sender.ts'
import { QUEUES } from '../../../shared/messaging/queues.ts'
import { builtService } from '../../support/api/built-service.ts'

/**
 * 1,000 changes of members a second, each an event, through one instance to a fast receiver, beside 20 receivers that
 * never answer. Then what events add to storing 100,000 changes. Database and receivers are other processes or threads;
 * the queues are in this one. Ends with 1 when a bar is missed. Usage: `npm run bench -- events`.
 */
const EVENTS_PER_S_COUNT = 1_000
const CHANGES_PER_S_COUNT = 20
const DURATION_S = Number(process.env.EVENTS_DURATION_S ?? 30)
const SILENT_COUNT = 20
const P95_BAR_MS = 2_000
const SHARE_BAR = 0.1
/** As host.json has it. */
const CALLS_AT_ONCE_COUNT = 8
const LARGE_CHANGES_COUNT = 100_000

const print = (line: string) => process.stdout.write(`${line}\n`)
let isMissed = false
const verdict = (isMet: boolean) => {
  isMissed ||= !isMet
  return isMet ? 'met' : 'MISSED'
}

const key = randomBytes(64).toString('base64')
const database = await startCosmosProcess({ port: 0, file: ':memory:', key, strict: true })
await createContainers(database.endpoint, database.key)
const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
const receivers = new Worker(new URL('./event-receivers.ts', import.meta.url))
const [{ fastUrl, silentUrl }] = await once(receivers, 'message')

const service = builtService(
  openDatabase(database),
  { messageQueue: messageSender(bus, () => Date.now()) },
  { eventTargets: ['http://127.0.0.1'] },
)
const client = await openBus(bus)
for (const queue of ['events', 'event-deliveries'] as const) {
  client
    .createReceiver(queue)
    .subscribe(
      { processMessage: ({ body }) => service.messages[queue].handle(body), processError: async () => undefined },
      { maxConcurrentCalls: CALLS_AT_ONCE_COUNT },
    )
}

type Written = {
  readonly id: string
  readonly tenantId: string
  ids: string[]
  head?: Awaited<ReturnType<typeof store>>
}
const { memberships, collections } = service.collections

async function newTenant(collectionCount: number, urls: readonly string[]): Promise<Written[]> {
  const tenantId = randomUUID()
  const nowMs = Date.now()
  const subscriptions = urls.map((url) => ({
    ...{ id: randomUUID(), url, types: ['*'], description: null, disabledReason: null },
    state: 'Enabled' as const,
    ...{ createdAt: toTimestamp(nowMs), createdBy: randomUUID(), sinceMs: nowMs, revision: 1 },
    secret: `whsec_${randomBytes(32).toString('base64')}`,
  }))
  await service.events.subscriptions.replace(tenantId, subscriptions, '')
  const made: Written[] = []
  for (let count = 0; count < collectionCount; count += 1) {
    const id = randomUUID()
    const dates = { createdBy: 'bench', createdAtMs: nowMs, updatedAtMs: nowMs }
    await collections.add(
      {
        ...{ id, tenantId, kind: 'criteria', objectType: 'Identity', name: 'Bench', description: null, ...dates },
        ...{ definition: { groupOperator: 'AND', conditions: [] }, definitionVersion: 1, definedBy: 'bench' },
        ...{ metadata: { tags: [], attributes: {} }, refersTo: [] },
      } as never,
      undefined,
    )
    made.push({ id, tenantId, ids: [] })
  }
  return made
}

/** Stores members as an evaluation does. */
async function store(written: Written, ids: string[]) {
  const attribute: EvaluatedMembers['attribute'] = async (change) => [
    { cause: 'ObjectChanged', actorId: 'system', ...change },
  ]
  const evaluation = { definitionKey: '1', evaluatedAtMs: Date.now(), epoch: 1, unfencedEpoch: 0, attribute }
  const { tenantId, id, head } = written
  const stored = await memberships.replace(tenantId, id, head, { ids: ids.toSorted(), ...evaluation })
  Object.assign(written, { head: stored.head, ids })
  return stored.head
}

const newIds = (count: number) => Array.from({ length: count }, () => randomUUID())
const percentile = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0

async function latencies(): Promise<number[]> {
  receivers.postMessage('latencies')
  const [{ latenciesMs }] = await once(receivers, 'message')
  return latenciesMs as number[]
}

async function measureLatency(): Promise<void> {
  const idsPerChange = EVENTS_PER_S_COUNT / CHANGES_PER_S_COUNT
  const heard = await newTenant(CHANGES_PER_S_COUNT, [fastUrl])
  const unheard = await newTenant(
    1,
    Array.from({ length: SILENT_COUNT }, () => silentUrl),
  )
  for (const written of [...heard, ...unheard]) await store(written, newIds(idsPerChange / 2))
  const startMs = performance.now()
  let changeCount = 0
  for (let second = 0; second < DURATION_S; second += 1) {
    for (const written of [...heard, ...unheard]) {
      // Half are replaced: as many are removed as added.
      await store(written, [...written.ids.slice(-idsPerChange / 2), ...newIds(idsPerChange / 2)].slice(-idsPerChange))
      await notifyMemberEvents(written.tenantId, [written.id], service.events)
      changeCount += 1
      const dueMs = startMs + (changeCount / (heard.length + 1)) * 1000
      await pause(Math.max(0, dueMs - performance.now()))
    }
  }
  const writtenS = (performance.now() - startMs) / 1000
  await pause(5_000)
  const sorted = (await latencies()).sort((left, right) => left - right)
  const p95Ms = percentile(sorted, 0.95)
  print(
    `${sorted.length} events in ${writtenS.toFixed(1)} s to the fast receiver beside ${SILENT_COUNT} silent ones: ` +
      `p50 ${percentile(sorted, 0.5)} ms, p95 ${p95Ms} ms, p99 ${percentile(sorted, 0.99)} ms ` +
      `(bar ${P95_BAR_MS} ms: ${verdict(p95Ms < P95_BAR_MS && sorted.length > 0)})`,
  )
}

/** @param collectionCount among which the changes are divided evenly. */
async function measureShare(collectionCount: number): Promise<void> {
  const tenant = await newTenant(collectionCount, [fastUrl])
  const each = LARGE_CHANGES_COUNT / collectionCount
  for (const written of tenant) await store(written, newIds(each))
  await notifyMemberEvents(
    tenant[0]?.tenantId ?? '',
    tenant.map(({ id }) => id),
    service.events,
  )
  await quiet()
  await latencies()
  const before = await workDone()
  for (const written of tenant) await store(written, written.ids.slice(0, each / 2).concat(newIds(each / 2)))
  const evaluated = await workDone()
  await notifyMemberEvents(
    tenant[0]?.tenantId ?? '',
    tenant.map(({ id }) => id),
    service.events,
  )
  const notified = await workDone()
  await quiet()
  const published = await workDone()
  const units = (published.units - evaluated.units) / (evaluated.units - before.units)
  const time = (notified.ms - evaluated.ms) / (evaluated.ms - before.ms)
  print(
    `${LARGE_CHANGES_COUNT} changes in ${collectionCount} collections: events add ${(units * 100).toFixed(1)} % of ` +
      `request units (${verdict(units <= SHARE_BAR)}) and ${(time * 100).toFixed(1)} % of its time ` +
      `(${verdict(time <= SHARE_BAR)}); ${(await latencies()).length} events received ` +
      `${Math.round(published.ms - notified.ms - QUIET_MS)} ms later`,
  )
}

/** What one change of one member costs after it is stored, and 100 of one change. */
async function measureUnits(): Promise<void> {
  const [written] = await newTenant(1, [fastUrl])
  if (written === undefined) return
  const units: number[] = []
  for (const count of [1, 1, 100]) {
    await store(written, [...written.ids, ...newIds(count)])
    const before = (await workDone()).units
    await notifyMemberEvents(written.tenantId, [written.id], service.events)
    await quiet()
    units.push((await workDone()).units - before)
  }
  print(`Request units to publish and deliver: ${units[1]?.toFixed(0)} for one event, ${units[2]?.toFixed(0)} for 100`)
}

/** What the sweep costs a tenant with a subscription in which nothing happens. */
async function measureIdleSweep(): Promise<void> {
  const tenant = await newTenant(50, [fastUrl])
  const tenantId = tenant[0]?.tenantId ?? ''
  for (const written of tenant) await store(written, newIds(1))
  const ids = tenant.map(({ id }) => id)
  await notifyMemberEvents(tenantId, ids, service.events)
  await quiet()
  const before = (await workDone()).units
  await sweepEvents(tenantId, service.events)
  await quiet()
  print(
    `Request units of a sweep of a quiet tenant with 50 collections: ${((await workDone()).units - before).toFixed(0)}`,
  )
}

const QUIET_MS = 1_500

async function quiet(): Promise<void> {
  const isQuiet = () =>
    QUEUES.filter(({ name }) => name.startsWith('event')).every(({ name }) => {
      const { active, locked } = bus.counts(name)
      return active + locked === 0
    })
  do await pause(100)
  while (!isQuiet())
  await pause(QUIET_MS)
}

async function workDone() {
  return { units: (await database.workDone()).requestUnits, ms: performance.now() }
}

await measureUnits()
await measureIdleSweep()
await measureShare(1)
await measureShare(50)
await measureLatency()
process.exit(isMissed ? 1 : 0)
