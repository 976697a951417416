/**
 * How fast conditions are on a large tenant, beside DuckDB (the same conditions in SQL over one flat table in memory)
 * and json-logic-js (row by row), in one run on the same data. Ends with 1 when any two disagree on the members.
 * Usage: `npm run bench -- criteria`.
 */

import { type CustomTypes, NO_CUSTOM_TYPES } from '../../../shared/domain/core/custom-types.ts'
import { checkCondition } from '../../../shared/domain/criteria/check-condition.ts'
import { type CompiledCondition, compile } from '../../../shared/domain/criteria/compile.ts'
import { evaluate, evaluateObjects, memberSlotsTask } from '../../../shared/domain/criteria/evaluate.ts'
import type { EvaluationContext } from '../../../shared/domain/criteria/evaluation-context.ts'
import { conditionSchema } from '../../../shared/domain/criteria/schema.ts'
import { DEFAULT_ROW_SETTINGS } from '../../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { countBits } from '../../../shared/domain/tenant-index/rows/bitmap.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'
import { type ConditionName, jsonLogicMembers, openDuck } from './compared-engines.ts'
import {
  conditionNumber,
  FIVE_LEAVES,
  generatedObjects,
  LARGE,
  MEDIUM,
  objectId,
  SINGLE_LEAVES,
  type TenantSize,
} from './generated-tenant.ts'

const BATCH_COUNT = 10_000
const CONTEXT: EvaluationContext = { todayMs: Date.parse('2026-02-11T00:00:00Z'), membersOf: () => undefined }
const CUSTOM = { identity: ['custom/costCentre'], orgUnit: [], relationship: ['custom/shift'] }
const SCHEMA = conditionSchema(CUSTOM)
const TYPES: CustomTypes = new Map([['identityCustom/costCentre', 'Integer']])

function compiled(input: unknown, schema = SCHEMA): CompiledCondition {
  const check = checkCondition(input, schema)
  if (!check.ok) throw new Error(JSON.stringify(check.faults))
  return compile(check.condition)
}

/** Loads a tenant in batches; the time is that of the snapshot alone, without making up the objects. */
function loaded(size: TenantSize, types = NO_CUSTOM_TYPES): { snapshot: RowSnapshot; loadMs: number } {
  const snapshot = new RowSnapshot(undefined, { ...DEFAULT_ROW_SETTINGS, types })
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

/** Milliseconds that each run took, ascending. */
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
let barCount = 0
let metCount = 0
/** A measurement that is held against a bar. */
function bar(what: string, measured: string, isMet: boolean, demand: string): void {
  barCount += 1
  if (isMet) metCount += 1
  report(what, `${measured.padEnd(28)}${isMet ? 'met' : 'MISSED'}: ${demand}`)
}
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`

/** `countMs`: without the ids. */
type Measured = { readonly ids: readonly string[]; readonly medianMs: number; readonly countMs: number }

function measureLarge(conditions: readonly CompiledCondition[]): Record<ConditionName, Measured> {
  const before = usedMb()
  const { snapshot, loadMs } = loaded(LARGE)
  bar(`load ${snapshot.rowCount} rows, ${snapshot.objectCount} objects`, ms(loadMs), loadMs < 20_000, 'under 20 s')
  const loadedMb = usedMb() - before
  bar('memory of the snapshot', `${loadedMb.toFixed(0)} MB`, loadedMb < 600, 'under 600 MB')
  const measured = (name: ConditionName): Measured => {
    const condition = compiled(FIVE_LEAVES[name])
    const [firstMs = 0] = timesMs(1, () => evaluate(condition, snapshot, 'Relationship', CONTEXT))
    const medianMs = median(timesMs(15, () => evaluate(condition, snapshot, 'Relationship', CONTEXT)))
    const count = () => countBits(runToCompletion(memberSlotsTask(condition, snapshot, 'Relationship', CONTEXT)))
    const countMs = median(timesMs(15, count))
    const ids = evaluate(condition, snapshot, 'Relationship', CONTEXT)
    if (count() !== ids.length) throw new Error(`${count()} members are counted, ${ids.length} are found`)
    report(`five leaves, ${name}: first run, ${ids.length} members`, ms(firstMs))
    report(`five leaves, ${name}: median of the count alone`, ms(countMs))
    bar(`five leaves, ${name}: median`, ms(medianMs), medianMs < 40, 'under 40 ms')
    const identities = timesMs(15, () => evaluate(condition, snapshot, 'Identity', CONTEXT))
    report(`five leaves, ${name}: median, as identities`, ms(median(identities)))
    return { ids, medianMs, countMs }
  }
  const outcome = { narrow: measured('narrow'), wide: measured('wide'), mixed: measured('mixed') }
  const evaluatedMb = usedMb() - before - listsMb(outcome)
  bar('memory with all ids and verdicts', `${evaluatedMb.toFixed(0)} MB`, evaluatedMb < 600, 'under 600 MB')
  const oneObject = (index: number): void => {
    const id = objectId('relationship', (index * 7919) % LARGE.relationshipCount)
    for (const condition of conditions) evaluateObjects(condition, snapshot, 'Relationship', [id], CONTEXT)
  }
  timesMs(20, oneObject)
  const oneMs = median(timesMs(50, oneObject))
  bar(`one object against ${conditions.length} conditions: median`, ms(oneMs), oneMs < 0.8, 'under 0.8 ms')
  return outcome
}

/** The lists kept for comparison; their strings are the snapshot's. */
function listsMb(outcome: Record<ConditionName, Measured>): number {
  return Object.values(outcome).reduce((sum, { ids }) => sum + (ids.length * 8) / 1e6, 0)
}

function measureMedium(conditions: readonly CompiledCondition[]): void {
  const { snapshot } = loaded(MEDIUM)
  const all = (): number =>
    conditions.reduce((sum, condition) => sum + evaluate(condition, snapshot, 'Relationship', CONTEXT).length, 0)
  const [firstMs = 0] = timesMs(1, all)
  bar(`${conditions.length} collections over ${snapshot.rowCount} rows`, ms(firstMs), firstMs < 1200, 'under 1.2 s')
  report('the same again', ms(median(timesMs(3, all))))
}

/** A leaf of each kind, on rows and on people, held against the slower one of the texts. */
function measureLeaves(): void {
  const { snapshot } = loaded(LARGE, TYPES)
  const schema = conditionSchema(CUSTOM, TYPES)
  for (const objectType of ['Relationship', 'Identity'] as const) {
    let textMs = 0
    for (const [name, input] of Object.entries(SINGLE_LEAVES)) {
      const condition = compiled(input, schema)
      const run = () => evaluate(condition, snapshot, objectType, CONTEXT)
      const memberCount = run().length
      const medianMs = median(timesMs(15, run))
      const what = `${name}, ${memberCount} members of type ${objectType}: median`
      if (name.startsWith('a text')) {
        textMs = Math.max(textMs, medianMs)
        report(what, ms(medianMs))
      } else
        bar(what, `${ms(medianMs)}, ${(medianMs / textMs).toFixed(1)} times a text`, medianMs <= 1.5 * textMs, '1.5')
    }
  }
}

async function compareWithDuck(ours: Record<ConditionName, Measured>): Promise<void> {
  const duck = await openDuck(LARGE)
  for (const [name, { ids, medianMs, countMs }] of entriesOf(ours)) {
    agree(`DuckDB, ${name}`, ids, await duck.members(name))
    const duckIdsMs = median(await asyncTimesMs(7, () => duck.members(name)))
    const duckMs = median(await asyncTimesMs(15, () => duck.count(name)))
    const counting = `DuckDB, ${name}: median of the count alone, warm`
    bar(counting, `${ms(duckMs)}, ${ratio(duckMs, countMs)}`, duckMs >= 2 * countMs, 'twice ours')
    const what = `DuckDB, ${name}: median with the ids, warm`
    bar(what, `${ms(duckIdsMs)}, ${ratio(duckIdsMs, medianMs)}`, duckIdsMs >= 5 * medianMs, '5 times ours')
  }
  duck.close()
}

function compareWithJsonLogic(ours: Record<ConditionName, Measured>): void {
  const answers = jsonLogicMembers(LARGE)
  for (const [name, { ids, countMs }] of entriesOf(ours)) {
    const { ids: theirs, tookMs } = answers[name]
    agree(`json-logic-js, ${name}`, ids, theirs)
    const isMet = tookMs >= 80 * countMs
    bar(`json-logic-js, ${name}: one pass`, `${ms(tookMs)}, ${ratio(tookMs, countMs)}`, isMet, '80 times ours')
  }
}

function agree(what: string, ours: readonly string[], theirs: readonly string[]): void {
  const sorted = theirs.toSorted()
  const isSame = sorted.length === ours.length && sorted.every((id, index) => id === ours[index])
  if (!isSame) throw new Error(`${what} finds ${theirs.length} members, and these are not our ${ours.length}`)
}

async function asyncTimesMs(runCount: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < runCount; index += 1) {
    const startMs = performance.now()
    await run()
    times.push(performance.now() - startMs)
  }
  return times.sort((left, right) => left - right)
}

const entriesOf = (ours: Record<ConditionName, Measured>) => Object.entries(ours) as [ConditionName, Measured][]
const ratio = (theirsMs: number, oursMs: number): string => `${(theirsMs / oursMs).toFixed(1)} times ours`

const conditions = Array.from({ length: 1000 }, (_, index) => compiled(conditionNumber(index)))
measureMedium(conditions)
const ours = measureLarge(conditions)
compareWithJsonLogic(ours)
await compareWithDuck(ours)
measureLeaves()
report('all members agree; bars met', `${metCount} of ${barCount}`)
