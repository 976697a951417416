import { randomUUID } from 'node:crypto'
import { cosmosCoreObjectChanges } from '../../../shared/cosmos/core/core-object-changes.ts'
import { cosmosSavedRowsStore } from '../../../shared/cosmos/members/saved-rows-store.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import { startDirectAccount } from '../../support/contract/local-database.ts'
import { municipalityObjects, writeObjects } from '../../support/contract/saved-objects.ts'
import type { Work } from './scale-model.ts'

/** People of a tenant of 8,000 rows. */
const PEOPLE_COUNT = 3_700
const HOUR_MS = 3_600_000
/** Changes since the rows were saved: those of half the time between two savings, at five an hour. */
const CHANGES_COUNT = 50

/**
 * What a row of a tenant of 8,000 adds to loading them from saved rows, and to saving them.
 */
export async function measureRows(): Promise<{
  readonly loadedRow: Work
  readonly savedRow: Work
}> {
  const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
  const { cosmos, container } = await startDirectAccount(() => clock.nowMs)
  const [tenantId, coreObjects] = [randomUUID(), container('coreObjects')]
  const objects = municipalityObjects(PEOPLE_COUNT)
  const newSnapshots = () => {
    const elapsedMs = () => clock.nowMs
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
    const saving = { store: cosmosSavedRowsStore(container('members'), elapsedMs), log, nowMs: elapsedMs }
    return new TenantSnapshots(cosmosCoreObjectChanges(coreObjects, elapsedMs), { maxBytes: 1e9, elapsedMs, saving })
  }
  const perRow = async (work: () => Promise<unknown>): Promise<Work> => {
    const operations = () => Object.values(cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const [operationsBefore, unitsBefore] = [operations(), cosmos.chargedUnits()]
    await work()
    return {
      storeOperations: (operations() - operationsBefore) / objects.length,
      requestUnits: (cosmos.chargedUnits() - unitsBefore) / objects.length,
      messages: 0,
      directoryCalls: 0,
      directoryWrites: 0,
      executions: 0,
    }
  }
  try {
    await writeObjects(coreObjects, tenantId, objects)
    clock.nowMs += HOUR_MS
    await writeObjects(coreObjects, tenantId, objects.slice(0, 1))
    clock.nowMs += HOUR_MS
    const first = newSnapshots()
    await first.fresh(tenantId)
    const savedRow = await perRow(() => first.saveIfDue(tenantId))
    clock.nowMs += 10 * HOUR_MS
    await writeObjects(coreObjects, tenantId, objects.slice(2_000, 2_000 + CHANGES_COUNT))
    const loadedRow = await perRow(() => newSnapshots().fresh(tenantId))
    return { loadedRow, savedRow }
  } finally {
    await cosmos.close()
  }
}
