import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'
import { createContainers } from '../../../infra/local/cosmos/local-account.ts'
import { cosmosCoreObjectChanges } from '../../../shared/cosmos/core/core-object-changes.ts'
import { cosmosCoreObjectStore } from '../../../shared/cosmos/core/core-object-store.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import { ObjectAccessResolver } from '../../../shared/domain/object-access/object-access.ts'
import {
  listCoreObjects,
  readCoreObject,
  searchCoreObjects,
} from '../../../shared/domain/object-access/read-core-objects.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import { user } from '../../support/api/core-data-service.ts'
import { idOf, loadSizedObjects } from './sized-objects.ts'

/**
 * What reading costs a user without an administrator role, from the manager of the whole tree down to one who leads
 * no unit: time, this process's work (the database's, which is in it, included), and what the database is asked for.
 * Usage: `npm run bench -- visibility [identities]`.
 */
const IDENTITIES_COUNT = Number(process.argv[2] ?? 100_000)
const RELATIONSHIPS_COUNT = Math.round(IDENTITIES_COUNT * 1.1)
const UNITS_COUNT = Math.round(IDENTITIES_COUNT * 0.02)
const PAGES_SHOWN_COUNT = 3
const PAGE_SIZE = 2000
const SEARCHES = ['person 77', 'person', '10000000777', 'no such text']
/** What was written this lately is read again by each look. */
const OVERLAP_MS = 20_000
const TENANT_ID = randomUUID()

const report = (text: string): void => void process.stdout.write(`${text}\n`)

const cosmos = await startCosmos({ port: 0, file: ':memory:', key: randomBytes(64).toString('base64'), strict: true })
await createContainers(cosmos.endpoint, cosmos.key)
const container = openDatabase({ endpoint: cosmos.endpoint, key: cosmos.key })('coreObjects')
const coreObjects = cosmosCoreObjectStore(container)
const snapshots = new TenantSnapshots(
  cosmosCoreObjectChanges(container, () => performance.now()),
  { maxBytes: 1_000_000_000 },
)
const deps = {
  coreObjects,
  objectAccess: new ObjectAccessResolver((tenantId) => snapshots.fresh(tenantId), Date.now),
  rowSettings: { of: async () => DEFAULT_ROW_SETTINGS },
}

const sizes = { identity: IDENTITIES_COUNT, orgUnit: UNITS_COUNT, relationship: RELATIONSHIPS_COUNT }
await measured('load', () => loadSizedObjects(TENANT_ID, sizes, coreObjects))
await measured('first look: all rows into memory', () => snapshots.fresh(TENANT_ID))
await sleep(OVERLAP_MS)
await snapshots.fresh(TENANT_ID)
await reportCaller('manager of the whole tree', 0)
await reportCaller('manager of a branch', 3)
await reportCaller('manager of one unit', UNITS_COUNT - 1)
await reportCaller('manager of nobody', UNITS_COUNT)
await cosmos.close()

async function reportCaller(name: string, index: number): Promise<void> {
  const caller = user(TENANT_ID, idOf('identity', index), 'User')
  report(name)
  for (const type of ['identity', 'relationship', 'orgUnit'] as const) {
    let after: string | undefined
    for (let page = 1; page <= PAGES_SHOWN_COUNT && (page === 1 || after !== undefined); page += 1) {
      await measured(`  page ${page} of ${type}`, async () => {
        after = (await listCoreObjects(type, after, PAGE_SIZE, caller, deps)).continueAfter
      })
    }
  }
  await measured('  oneself', () => readCoreObject('identity', idOf('identity', index), caller, deps))
  for (const text of SEARCHES) {
    await measured(`  search ${text}`, () => searchCoreObjects('identity', text, caller, deps))
  }
}

async function measured(name: string, run: () => Promise<unknown>): Promise<void> {
  const operationCount = () => Object.values(cosmos.operations()).reduce((sum, count) => sum + count, 0)
  const before = { operationCount: operationCount(), units: cosmos.chargedUnits(), startedMs: performance.now() }
  const { user: userBefore } = process.cpuUsage()
  await run()
  const tookMs = Math.round(performance.now() - before.startedMs)
  const computedMs = Math.round((process.cpuUsage().user - userBefore) / 1000)
  const units = Math.round(cosmos.chargedUnits() - before.units)
  report(
    `${name}: ${tookMs} ms, ${computedMs} of them computing, ${operationCount() - before.operationCount} operations, ${units} RU`,
  )
}
