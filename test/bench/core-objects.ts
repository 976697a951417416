import { CORE, newTenant, startCoreDataService, to, upsert } from '../api/core-data-service.ts'

/**
 * Loads objects through the connector API, database and service in one process, and reads them back.
 * Bars: 1500 objects/s at 20,000 objects; a page of 2000 of 100,000 objects in 300 ms, wherever it lies.
 * Usage: `node test/bench/core-objects.ts [objects]`.
 */
const OBJECTS_COUNT = Number(process.argv[2] ?? 20_000)
const BATCH_COUNT = 1000

const service = await startCoreDataService()
const tenant = await newTenant(service)
const hr = await tenant.addConnector('HR')

const orgUnits = Array.from({ length: OBJECTS_COUNT * 0.02 }, (_, index) =>
  upsert('orgUnit', `o${index}`, {
    displayName: `Unit ${index}`,
    ...(index > 0 ? { parent: to(`o${Math.floor((index - 1) / 8)}`) } : {}),
    manager: to(`p${index}`),
  }),
)
const identities = Array.from({ length: OBJECTS_COUNT * 0.46 }, (_, index) =>
  upsert('identity', `p${index}`, {
    displayName: `Person ${index}`,
    firstName: 'Person',
    lastName: String(index),
    email: `person${index}@example.org`,
    nin: String(10_000_000_000 + index),
    primaryRelationship: to(`r${index}`),
  }),
)
const relationships = Array.from({ length: OBJECTS_COUNT * 0.52 }, (_, index) =>
  upsert('relationship', `r${index}`, {
    title: `Job ${index % 50}`,
    employeeId: String(index),
    startDate: '2024-01-01',
    identity: to(`p${index % identities.length}`),
    orgUnit: to(`o${index % orgUnits.length}`),
  }),
)

const report = (text: string): void => void process.stdout.write(`${text}\n`)
const inSeconds = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1000
}

const items = [...orgUnits, ...identities, ...relationships]
async function load(): Promise<void> {
  for (let start = 0; start < items.length; start += BATCH_COUNT) {
    await hr.batch(...items.slice(start, start + BATCH_COUNT))
  }
}

const loadS = await inSeconds(load)
report(`load: ${items.length} objects in ${loadS.toFixed(1)} s, ${Math.round(items.length / loadS)} objects/s`)
const againS = await inSeconds(load)
report(`load again, nothing new: ${againS.toFixed(1)} s, ${Math.round(items.length / againS)} objects/s`)

for (const type of ['identities', 'orgunits']) {
  const times: number[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const path = `${CORE}/${type}${cursor === '' ? '' : `?nextCursor=${cursor}`}`
    times.push(
      await inSeconds(async () => {
        cursor = (await tenant.admin('GET', path)).body.nextCursor
      }),
    )
  }
  report(`${type}: pages in ${times.map((seconds) => Math.round(seconds * 1000)).join(', ')} ms`)
}
for (const text of ['person 77', 'unit', '10000000777']) {
  const searchS = await inSeconds(() =>
    tenant.admin('GET', `${CORE}/identities/search?text=${encodeURIComponent(text)}`),
  )
  report(`search ${text}: ${Math.round(searchS * 1000)} ms`)
}
await service.close()
