import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Container } from '@azure/cosmos'
import fc from 'fast-check'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { queryAll, readDocument } from '../../shared/cosmos/documents.ts'
import { cosmosSavedRowsStore } from '../../shared/cosmos/members/saved-rows-store.ts'
import { DEFAULT_ROW_SETTINGS } from '../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../shared/domain/tenant-index/rows/apply-objects.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { localAccount } from '../support/contract/local-database.ts'
import { contentOf, municipalityObjects, objectsIn, writeObjects } from '../support/contract/saved-objects.ts'

const INSTANCES_COUNT = 2
const RUNS_COUNT = Number(process.env.SAVED_ROWS_RUNS ?? 6)
const MINUTE_MS = 60_000
const SEED = Number(process.env.SAVED_ROWS_SEED ?? Math.floor(Math.random() * 1_000_000))

const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
const { container } = await localAccount(() => clock.nowMs)
const objects = municipalityObjects(260)
const log = { info: () => undefined, error: () => undefined, warn: () => undefined }

/** Happens before a document of saved rows is written. */
type Interruption = 'none' | 'killed' | 'stalled' | Change
type Change = {
  readonly kind: 'write'
  readonly what: 'change' | 'delete' | 'merge' | 'restore' | 'custom'
  readonly from: number
  readonly count: number
}
type Step =
  | Change
  | { readonly kind: 'read' | 'restart'; readonly instance: number }
  | {
      readonly kind: 'save'
      readonly instances: readonly number[]
      readonly at: number
      readonly interruption: Interruption
    }
  | { readonly kind: 'pass'; readonly minutes: number }
  | { readonly kind: 'damage'; readonly what: 'chunk' | 'head' | 'missing' }
  | { readonly kind: 'keep'; readonly days: number }

const instance = fc.nat({ max: INSTANCES_COUNT - 1 })
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constant('write' as const),
  what: fc.constantFrom('change', 'delete', 'merge', 'restore', 'custom'),
  from: fc.nat({ max: objects.length }),
  count: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.constant(150)),
})
const interruption = fc.oneof(fc.constantFrom('none' as const, 'killed' as const, 'stalled' as const), change)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: change },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('read' as const, 'restart' as const), instance }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('save' as const),
      instances: fc.uniqueArray(instance, { minLength: 1 }),
      at: fc.nat({ max: 3 }),
      interruption,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      minutes: fc.constantFrom(0.1, 0.5, 0.5, 20, 11 * 60, 21 * 60, 50 * 60, 160 * 60),
    }),
  },
  {
    arbitrary: fc.record({ kind: fc.constant('keep' as const), days: fc.constantFrom(1, 2, 90) }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('damage' as const), what: fc.constantFrom('chunk', 'head', 'missing') }),
    weight: 1,
  },
)

class Killed extends Error {}

/** A tenant and the instances that use it. */
async function openRun() {
  const tenantId = randomUUID()
  const partition = `${tenantId}:rows`
  const writer = container
  await writeObjects(writer('coreObjects'), tenantId, objects)
  clock.nowMs += MINUTE_MS
  let number = 0
  let deletions = { keptDays: 90, connectors: '0' }
  /** What happens before which of the next documents. */
  let due: { after: number; act: () => Promise<void> } | undefined

  const interruptible = (members: Container): Container => {
    const create: Container['items']['create'] = async (...args) => {
      if (due !== undefined && due.after-- === 0) {
        const { act } = due
        due = undefined
        await act()
      }
      return members.items.create(...args)
    }
    const items = new Proxy(members.items, {
      get: (of, name) => (name === 'create' ? create : Reflect.get(of, name).bind(of)),
    })
    return new Proxy(members, { get: (of, name) => (name === 'items' ? items : Reflect.get(of, name)) })
  }

  const started = (container: (id: ContainerId) => Container): TenantSnapshots => {
    const elapsedMs = () => clock.nowMs
    const store = cosmosSavedRowsStore(interruptible(container('members')), elapsedMs)
    const saving = { store, log, nowMs: elapsedMs }
    return new TenantSnapshots(cosmosCoreObjectChanges(container('coreObjects'), elapsedMs), {
      maxBytes: 1_000_000_000,
      elapsedMs,
      saving,
      settings: { of: async () => ({ ...DEFAULT_ROW_SETTINGS, deletions }) },
    })
  }
  const restarted = () => started(container)
  const instances = Array.from({ length: INSTANCES_COUNT }, restarted)

  async function write({ what, from, count }: Change): Promise<void> {
    number += 1
    const written = objects.slice(from, from + count).map((object): SnapshotObject => {
      const { attributes } = object
      if (what === 'delete') return { ...object, deleted: true }
      if (what === 'merge') return { ...object, deleted: true, mergedInto: objects[0]?.id ?? '' }
      if (what === 'change') return { ...object, attributes: { ...attributes, anchor1: `Changed ${number}` } }
      if (what === 'custom') return { ...object, attributes: { ...attributes, [`custom/a${number % 5}`]: `${number}` } }
      return object
    })
    await writeObjects(writer('coreObjects'), tenantId, written, deletions.keptDays)
  }

  /** Saves in some instances at the same time. Each can end early. */
  async function save({ instances: some, at, interruption: how }: Step & { kind: 'save' }): Promise<void> {
    const act = async () => {
      if (how === 'killed') throw new Killed()
      if (how === 'stalled') clock.nowMs += 30 * MINUTE_MS
      else if (how !== 'none') await write(how)
    }
    due = { after: at, act }
    const saves = some.map(async (index) => {
      await instances[index]?.fresh(tenantId)
      await instances[index]?.saveIfDue(tenantId)
    })
    for (const outcome of await Promise.allSettled(saves)) {
      if (outcome.status === 'rejected' && !(outcome.reason instanceof Killed)) throw outcome.reason
    }
    due = undefined
  }

  async function damage(what: 'chunk' | 'head' | 'missing'): Promise<void> {
    const members = writer('members')
    const query = { query: "SELECT * FROM c WHERE c.id != 'rows-claim'" }
    for (const document of await queryAll<Record<string, unknown> & { id: string }>(members, partition, query)) {
      const isHead = document.id === 'rows'
      if (what === 'head' && isHead) await members.items.upsert({ ...document, chunkCount: 99 })
      if (what === 'chunk' && !isHead) await members.items.upsert({ ...document, packedRows: 'AAAA' })
      if (what === 'missing' && !isHead) await members.item(document.id, partition).delete()
    }
  }

  /** The rows of every instance, and of one that starts now, are those of the database. */
  async function check(): Promise<void> {
    const coreObjects = writer('coreObjects')
    const query = { query: 'SELECT * FROM c WHERE c.deleted = false' }
    const stored = contentOf(await queryAll<SnapshotObject>(coreObjects, tenantId, query))
    const contains = async (snapshots: TenantSnapshots) =>
      assert.deepEqual(contentOf(objectsIn(await snapshots.fresh(tenantId))), stored)
    for (const snapshots of instances) await contains(snapshots)
    // It finds the latest saved rows.
    await contains(restarted())
  }

  async function take(next: Step): Promise<void> {
    switch (next.kind) {
      case 'write':
        return write(next)
      case 'read':
        return void (await instances[next.instance]?.fresh(tenantId))
      case 'restart':
        instances[next.instance] = restarted()
        return
      case 'save':
        return save(next)
      case 'pass':
        clock.nowMs += next.minutes * MINUTE_MS
        return
      case 'damage':
        return damage(next.what)
      case 'keep':
        deletions = { keptDays: next.days, connectors: `${Number(deletions.connectors) + 1}` }
        return
    }
  }
  async function isSaved(): Promise<boolean> {
    return (await readDocument(writer('members'), 'rows', partition)) !== undefined
  }

  return { take, check, isSaved }
}

describe('Rows that are loaded from saved ones', () => {
  const written: Change = { kind: 'write', what: 'change', from: 7, count: 1 }
  const aMinute: Step = { kind: 'pass', minutes: 1 }
  const saved: Step = { kind: 'save', instances: [0], at: 0, interruption: 'none' }

  for (const [claim, steps] of [
    ['contain what was written before they were saved', [{ kind: 'read', instance: 0 }, written, aMinute, saved]],
    [
      'contain what was written while they were saved',
      [{ ...saved, interruption: { ...written, what: 'delete' } }, aMinute],
    ],
  ] as const satisfies readonly (readonly [string, readonly Step[]])[]) {
    it(claim, async () => {
      const run = await openRun()
      for (const next of steps) await run.take(next)
      assert.ok(await run.isSaved())
      await run.check()
    })
  }

  it(`equal all core objects, whatever was written, saved, interrupted, damaged or read late (seed ${SEED})`, async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const run = await openRun()
      for (const next of steps) await run.take(next)
      await run.check()
    })
    await fc.assert(property, { numRuns: RUNS_COUNT, seed: SEED })
  })
})
