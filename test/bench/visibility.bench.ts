import { createHash, randomUUID } from 'node:crypto'
import { startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { TenantSnapshots } from '../../shared/domain/collections/tenant-snapshots.ts'
import type { Attributes, ObjectType } from '../../shared/domain/core/core-object.ts'
import { listCoreObjects, readCoreObject, searchCoreObjects } from '../../shared/domain/core/read-core-objects.ts'
import { Sights } from '../../shared/domain/core/sight.ts'
import { user } from '../api/core-data-service.ts'

const IDENTITIES_COUNT = Number(process.argv[2] ?? 100_000)
const RELATIONSHIPS_COUNT = Math.round(IDENTITIES_COUNT * 1.1)
const UNITS_COUNT = Math.round(IDENTITIES_COUNT * 0.02)
const report = (text: string): void => void process.stdout.write(`${text}\n`)

const key = createHash('sha256').update('bench').digest('base64')
const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true })
await createContainers(cosmos.endpoint, key)
const container = openDatabase({ endpoint: cosmos.endpoint, key })('coreObjects')
const coreObjects = cosmosCoreObjectStore(container)
const snapshots = new TenantSnapshots(
  cosmosCoreObjectChanges(container, () => performance.now()),
  2_000_000,
)
const deps = { coreObjects, sights: new Sights((tenantId) => snapshots.fresh(tenantId)) }
const tenantId = randomUUID()
const idOf = (type: ObjectType, index: number) => derivedId(type, String(index))
const to = (type: ObjectType, index: number) => ({ objectId: idOf(type, index) })
function* objects(): Generator<[ObjectType, number, Attributes]> {
  for (let i = 0; i < UNITS_COUNT; i += 1)
    yield [
      'orgUnit',
      i,
      {
        displayName: `Unit ${i}`,
        manager: to('identity', i),
        ...(i > 0 ? { parent: to('orgUnit', Math.floor((i - 1) / 8)) } : {}),
      },
    ]
  for (let i = 0; i < IDENTITIES_COUNT; i += 1)
    yield [
      'identity',
      i,
      {
        displayName: `Person ${i}`,
        firstName: 'Person',
        lastName: String(i),
        email: `person${i}@example.org`,
        nin: String(10_000_000_000 + i),
        directoryObjectId: idOf('identity', i),
      },
    ]
  for (let i = 0; i < RELATIONSHIPS_COUNT; i += 1)
    yield [
      'relationship',
      i,
      {
        title: `Job ${i % 50}`,
        employeeId: String(i),
        identity: to('identity', i % IDENTITIES_COUNT),
        orgUnit: to('orgUnit', i % UNITS_COUNT),
      },
    ]
}
let startedMs = performance.now()
let group: [ObjectType, number, Attributes][] = []
const flush = async () => {
  await coreObjects.write(
    tenantId,
    group.map(([objectType, i, attributes]) => ({
      object: {
        id: idOf(objectType, i),
        objectType,
        externalId: `${objectType}${i}`,
        attributes,
        contributors: ['x'],
        deleted: false,
      },
      version: undefined,
    })),
    30,
  )
  group = []
}
for (const each of objects()) {
  group.push(each)
  if (group.length === 2000) await flush()
}
await flush()
report(`loaded in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
const work = () => ({
  operations: Object.values(cosmos.operations()).reduce((a, b) => a + b, 0),
  units: cosmos.chargedUnits(),
  cpu: process.cpuUsage().user / 1000,
})
async function timed(name: string, run: () => Promise<unknown>) {
  const before = work()
  startedMs = performance.now()
  const result = await run()
  const tookMs = performance.now() - startedMs
  const after = work()
  report(
    `${name}: ${tookMs.toFixed(0)} ms, user CPU ${(after.cpu - before.cpu).toFixed(0)} ms, ${after.operations - before.operations} operations, ${Math.round(after.units - before.units)} RU ${typeof result === 'number' ? result : ''}`,
  )
}
await timed('rows into memory', async () => (await snapshots.fresh(tenantId)).objectCount)
await new Promise((r) => setTimeout(r, 16_000))
for (const [name, index] of [
  ['root manager', 0],
  ['manager of a branch', 3],
  ['manager of one unit', UNITS_COUNT - 1],
  ['no manager', UNITS_COUNT + 5],
] as const) {
  const caller = user(tenantId, idOf('identity', index), 'User')
  for (const type of ['identity', 'relationship', 'orgUnit'] as const) {
    let after: string | undefined
    for (let n = 0; n < 4; n += 1) {
      let last = false
      await timed(`${name}: page ${n + 1} of ${type}`, async () => {
        const page = await listCoreObjects(type, after, 2000, caller, deps)
        after = page.continueAfter
        last = after === undefined
        return page.items.length
      })
      if (last) break
    }
  }
  await timed(`${name}: oneself`, () => readCoreObject('identity', idOf('identity', index), caller, deps))
  for (const text of ['person 77', 'person', '10000000777', 'none'])
    await timed(`${name}: search ${text}`, async () => (await searchCoreObjects('identity', text, caller, deps)).length)
}
await cosmos.close()
