import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import type { CheckedCondition } from '../../shared/domain/criteria/condition.ts'
import { explainTask } from '../../shared/domain/criteria/explain.ts'
import { storedConditionSchema } from '../../shared/domain/criteria/schema.ts'
import { RowSnapshot, type SnapshotObject } from '../../shared/domain/tenant-index/row-snapshot.ts'
import { chunk } from '../../shared/kernel/chunk.ts'
import { runToCompletion } from '../../shared/kernel/cooperative-scheduler.ts'
import { conditionNumber, generatedObjects, LARGE, objectId } from './generated-tenant.ts'

/**
 * How long an explanation takes over a large tenant whose rows are in memory: the condition of a collection, checked and
 * compiled anew for each person. Ends with 1 when the bar is missed. Usage: `node test/bench/insight.bench.ts`.
 */
const EXPLANATION_COUNT = 2000
const CONDITION_COUNT = 40
/** Milliseconds at the 95th percentile. */
const BAR_MS = 50
const CONTEXT = { todayMs: Date.parse('2026-02-11T00:00:00Z'), membersOf: () => undefined }

const snapshot = new RowSnapshot()
let batch: SnapshotObject[] = []
for (const object of generatedObjects(LARGE)) {
  batch.push(object)
  if (batch.length < 10_000) continue
  snapshot.apply(batch)
  batch = []
}
for (const rest of chunk(batch, 10_000)) snapshot.apply(rest)

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
  runToCompletion(explainTask(checked(index % CONDITION_COUNT), snapshot, rows, CONTEXT))
  timesMs.push(performance.now() - startMs)
}
timesMs.sort((one, other) => one - other)
const at = (share: number): number => timesMs[Math.floor(timesMs.length * share)] ?? Number.NaN
const isMet = at(0.95) < BAR_MS
process.stdout.write(
  `explain over ${snapshot.rowCount} rows: p50 ${at(0.5).toFixed(2)} ms, p95 ${at(0.95).toFixed(2)} ms, ` +
    `p99 ${at(0.99).toFixed(2)} ms (${isMet ? 'met' : 'MISSED'}: p95 under ${BAR_MS} ms)\n`,
)
process.exitCode = isMet ? 0 : 1
