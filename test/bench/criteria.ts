// How fast conditions are on a large tenant. By hand: node --expose-gc test/bench/criteria.ts
import { checkCondition } from '../../shared/domain/criteria/check-condition.ts'
import { type CompiledCondition, compile } from '../../shared/domain/criteria/compile.ts'
import { type EvaluationContext, evaluate, evaluateObjects } from '../../shared/domain/criteria/evaluate.ts'
import { RowSnapshot, type SnapshotObject } from '../../shared/domain/criteria/row-snapshot.ts'
import { conditionSchema } from '../../shared/domain/criteria/schema.ts'
import {
  conditionNumber,
  FIVE_LEAVES,
  generatedObjects,
  LARGE,
  MEDIUM,
  objectId,
  type TenantSize,
} from './generated-tenant.ts'

const BATCH_COUNT = 10_000
const CONTEXT: EvaluationContext = { todayMs: Date.parse('2026-02-11T00:00:00Z'), membersOf: () => undefined }
const SCHEMA = conditionSchema({ identity: ['custom/costCentre'], orgUnit: [], relationship: ['custom/shift'] })

function compiled(input: unknown): CompiledCondition {
  const check = checkCondition(input, SCHEMA)
  if (!check.ok) throw new Error(JSON.stringify(check.faults))
  return compile(check.condition)
}

/** Loads a tenant in batches; the time is that of the snapshot alone, without making up the objects. */
function loaded(size: TenantSize): { snapshot: RowSnapshot; loadMs: number } {
  const snapshot = new RowSnapshot()
  let loadMs = 0
  const apply = (batch: readonly SnapshotObject[]): void => {
    const startMs = performance.now()
    snapshot.apply(batch)
    loadMs += performance.now() - startMs
  }
  let batch: SnapshotObject[] = []
  for (const object of generatedObjects(size)) {
    batch.push(object)
    if (batch.length < BATCH_COUNT) continue
    apply(batch)
    batch = []
  }
  apply(batch)
  return { snapshot, loadMs }
}

function usedMb(): number {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1e6
}

/** Milliseconds that each of so many runs took, ascending. */
function timesMs(runCount: number, run: (index: number) => unknown): number[] {
  const times = Array.from({ length: runCount }, (_, index) => {
    const startMs = performance.now()
    run(index)
    return performance.now() - startMs
  })
  return times.sort((left, right) => left - right)
}

const median = (sorted: readonly number[]): number => sorted[sorted.length >>> 1] as number
const report = (what: string, measured: string): boolean => process.stdout.write(`${what.padEnd(64)}${measured}\n`)
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`

function measureLarge(conditions: readonly CompiledCondition[]): void {
  const before = usedMb()
  const { snapshot, loadMs } = loaded(LARGE)
  report(`load ${snapshot.rowCount} rows, ${snapshot.objectCount} objects`, ms(loadMs))
  report('memory of the snapshot (bar 600 MB)', `${(usedMb() - before).toFixed(0)} MB`)
  for (const [name, input] of Object.entries(FIVE_LEAVES)) {
    const condition = compiled(input)
    const [first] = timesMs(1, () => evaluate(condition, snapshot, 'Relationship', CONTEXT))
    const count = evaluate(condition, snapshot, 'Relationship', CONTEXT).length
    report(`five leaves, ${name}: first run, ${count} members`, ms(first as number))
    const warm = timesMs(15, () => evaluate(condition, snapshot, 'Relationship', CONTEXT))
    report(`five leaves, ${name}: median (bar 40 ms)`, ms(median(warm)))
    const identities = timesMs(15, () => evaluate(condition, snapshot, 'Identity', CONTEXT))
    report(`five leaves, ${name}: median, as identities`, ms(median(identities)))
  }
  report('memory with what the conditions have decided', `${(usedMb() - before).toFixed(0)} MB`)
  const oneObject = (index: number): void => {
    const id = objectId('relationship', (index * 7919) % LARGE.relationshipCount)
    for (const condition of conditions) evaluateObjects(condition, snapshot, 'Relationship', [id], CONTEXT)
  }
  timesMs(20, oneObject)
  report(`one object against ${conditions.length} conditions: median (bar 2 ms)`, ms(median(timesMs(50, oneObject))))
}

function measureMedium(conditions: readonly CompiledCondition[]): void {
  const { snapshot } = loaded(MEDIUM)
  const all = (): number =>
    conditions.reduce((sum, condition) => sum + evaluate(condition, snapshot, 'Relationship', CONTEXT).length, 0)
  const [first] = timesMs(1, all)
  report(`${conditions.length} collections over ${snapshot.rowCount} rows, first time (bar 5 s)`, ms(first as number))
  report('the same again', ms(median(timesMs(3, all))))
  report('members in all of them', String(all()))
}

const conditions = Array.from({ length: 1000 }, (_, index) => compiled(conditionNumber(index)))
measureMedium(conditions)
measureLarge(conditions)
