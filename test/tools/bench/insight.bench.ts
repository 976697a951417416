import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import type { CheckedCondition } from '../../../shared/domain/criteria/condition.ts'
import { explainTask } from '../../../shared/domain/criteria/explain.ts'
import { storedConditionSchema } from '../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import { CooperativeScheduler, runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { conditionNumber, generatedObjects, LARGE, objectId } from './generated-tenant.ts'
import { measurePlans } from './plan-cost.ts'

/**
 * How long explanations and plans take over a large tenant whose rows are in memory. Conditions are checked and
 * compiled anew for each person and plan. Ends with 1 when a bar is missed. Usage: `npm run bench -- insight`.
 */
const EXPLANATION_COUNT = 2000
const CONDITION_COUNT = 40
/** Milliseconds at the 95th percentile. */
const BAR_MS = 50
const CONTEXT = { todayMs: Date.parse('2026-02-11T00:00:00Z'), membersOf: () => undefined }

const TENANT_ID = 'tenant'
const BATCH_COUNT = 10_000

/** The generated objects as a store returns them, once. */
async function* pages(): AsyncGenerator<{ objects: SnapshotObject[]; mark: object }> {
  let objects: SnapshotObject[] = []
  for (const object of generatedObjects(LARGE)) {
    objects.push(object)
    if (objects.length < BATCH_COUNT) continue
    yield { objects, mark: {} }
    objects = []
  }
  yield { objects, mark: {} }
}

const elapsedMs = () => performance.now()
const scheduler = new CooperativeScheduler(elapsedMs)
const changes = {
  remembersSince: () => true,
  includedWrites: () => undefined,
  count: async () => 0,
  since: (_tenantId: string, mark: object | undefined) => (mark === undefined ? pages() : nothing()),
}
async function* nothing() {}
const snapshots = new TenantSnapshots(changes as never, { maxBytes: 4_000_000_000, elapsedMs, scheduler })
const snapshot = await snapshots.fresh(TENANT_ID)

function checked(index: number): CheckedCondition {
  const check = checkCondition(conditionNumber(index), storedConditionSchema())
  if (!check.ok) throw new Error(JSON.stringify(check.faults))
  return check.condition
}

const timesMs: number[] = []
for (let index = 0; index < EXPLANATION_COUNT; index += 1) {
  const id = objectId('identity', (index * 449) % LARGE.identityCount)
  const startMs = performance.now()
  const rows = snapshot.rowsOf('identity', id).map((row) => ({ row, showsSensitive: true }))
  runToCompletion(explainTask(checked(index % CONDITION_COUNT), snapshot, rows, CONTEXT, { showsCondition: true }))
  timesMs.push(performance.now() - startMs)
}
timesMs.sort((left, right) => left - right)
const at = (share: number): number => timesMs[Math.floor(timesMs.length * share)] ?? Number.NaN
const isMet = at(0.95) < BAR_MS
process.stdout.write(
  `explain over ${snapshot.rowCount} rows: p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms, ` +
    `p99 ${at(0.99).toFixed(2)} ms (${isMet ? 'met' : 'MISSED'}: p95 under ${BAR_MS} ms)\n`,
)
const arePlansMet = await measurePlans(TENANT_ID, snapshots, scheduler, (line) => process.stdout.write(`${line}\n`))
process.exitCode = isMet && arePlansMet ? 0 : 1
