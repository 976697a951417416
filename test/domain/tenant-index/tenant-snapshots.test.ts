import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type ChangeMark,
  type CoreObjectChanges,
  markAt,
} from '../../../shared/domain/tenant-index/core-object-changes.ts'
import type { RowSaving } from '../../../shared/domain/tenant-index/row-loader.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { RowSnapshot } from '../../../shared/domain/tenant-index/rows/row-snapshot.ts'
import { rowBlocks } from '../../../shared/domain/tenant-index/saved/row-blocks.ts'
import { savedOrders } from '../../../shared/domain/tenant-index/saved/saved-order.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import { runToCompletion } from '../../../shared/kernel/cooperative-scheduler.ts'

const identity = (id: string): SnapshotObject => {
  return { id, objectType: 'identity', externalId: id, attributes: {}, deleted: false }
}

/** A store whose marks count the objects seen, and which notes from where each reading began and how much it gave. */
function readableChanges() {
  const written: SnapshotObject[] = []
  const readings: { from: number | undefined; count: number }[] = []
  const state = { isAway: false }
  const changes: CoreObjectChanges = {
    remembersSince: () => true,
    includedWrites: () => undefined,
    count: async () => written.length,
    async *since(_tenantId, mark) {
      const from = mark?.seenUntilS
      const objects = written.slice(from)
      readings.push({ from, count: objects.length })
      const seen: ChangeMark = { ...markAt(0, 0), seenUntilS: written.length }
      if (state.isAway) {
        yield { objects: objects.slice(0, 1), mark: seen }
        throw new Error('The database is away')
      }
      yield { objects, mark: seen }
    },
  }
  return { changes, written, readings, state }
}

const AMPLE = { maxBytes: 1_000_000_000 }

const people = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => identity(`person ${from + index}`))

describe('The rows of a tenant', () => {
  it('are loaded once, and then refreshed with what was written since', async () => {
    const { changes, written, readings } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    written.push(...people(0, 100))
    assert.equal((await snapshots.fresh('tenant')).rowCount, 100)
    written.push(...people(100, 1))
    assert.equal((await snapshots.fresh('tenant')).rowCount, 101)
    assert.equal((await snapshots.fresh('tenant')).rowCount, 101)
    assert.deepEqual(readings, [
      { from: undefined, count: 100 },
      { from: 100, count: 1 },
      { from: 101, count: 0 },
    ])
  })

  it('change by a version of an object once, although readings repeat the last seconds', async () => {
    const { changes, written } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    const take = async (...objects: SnapshotObject[]) => {
      written.push(...objects)
      await snapshots.fresh('tenant')
      const taken = snapshots.takeChanges('tenant')
      return taken === 'everything' ? taken : { ids: [...taken.ids.identity], isAnyRestored: taken.isAnyRestored }
    }
    const unchanged = { ids: [], isAnyRestored: false }
    const ada = { ...identity('ada'), version: '1', restored: true as const }
    const bo = { ...identity('bo'), version: '1', deleted: true }
    assert.equal(await take(...people(0, 1)), 'everything')
    assert.deepEqual(await take(ada, bo), { ids: ['bo', 'ada'], isAnyRestored: true })
    assert.deepEqual(await take(ada, bo), unchanged)
    assert.deepEqual(await take({ ...ada, version: '2' }), { ids: [], isAnyRestored: true })
    assert.deepEqual(await take({ ...bo, version: '2' }), { ids: ['bo'], isAnyRestored: false })
    const many = Array.from({ length: 200 }, (_, index) => ({ ...identity(`person ${index}`), version: '1' }))
    await take(...many)
    assert.deepEqual(await take(...many), unchanged)
    assert.deepEqual(await take(ada), { ids: [], isAnyRestored: true }, 'What is forgotten counts once more')
  })

  it('do not change while they are read, although others get what was written since', async () => {
    const { changes, written } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    written.push(...people(0, 10))
    const rows = await snapshots.fresh('tenant')
    const { promise: refreshed, resolve } = Promise.withResolvers<void>()
    const reading = snapshots.whileUnchanged(rows, async () => {
      await refreshed
      return rows.rowCount
    })
    written.push(...people(10, 1))
    assert.equal((await snapshots.fresh('tenant')).rowCount, 11)
    resolve()
    assert.equal(await reading, 10)
  })

  it('are refreshed once for concurrent calls', async () => {
    const { changes, written, readings } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    written.push(...people(0, 10))
    await Promise.all(Array.from({ length: 50 }, () => snapshots.fresh('tenant')))
    assert.ok(readings.length <= 2, `${readings.length} readings`)
  })

  it('are loaded again after a refresh that failed half-way', async () => {
    const { changes, written, readings, state } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    written.push(...people(0, 10))
    await snapshots.fresh('tenant')
    written.push(...people(10, 5))
    state.isAway = true
    await assert.rejects(snapshots.fresh('tenant'), /The database is away/)
    state.isAway = false
    assert.equal((await snapshots.fresh('tenant')).rowCount, 15)
    assert.deepEqual(readings.at(-1), { from: undefined, count: 15 })
    assert.equal(snapshots.takeChanges('tenant'), 'everything')
  })

  it('are read from the objects when the saved rows have fewer than were saved', async () => {
    const { changes, written, readings } = readableChanges()
    written.push(...people(0, 2))
    const incomplete = new RowSnapshot()
    incomplete.apply(people(0, 1))
    const orders = runToCompletion(savedOrders(incomplete))
    const rows = {
      ...{ completeUntilS: 2, objectCount: 2, types: '', connectors: undefined },
      blocks: async function* () {
        for (const block of rowBlocks(incomplete, orders)) yield runToCompletion(block)
      },
    }
    const warnings: string[] = []
    const log = { warn: (name: string) => warnings.push(name) }
    const saving = { store: { find: async () => ({ version: '1', rows }) }, log, nowMs: () => 0 }
    const snapshots = new TenantSnapshots(changes, { ...AMPLE, saving: saving as unknown as RowSaving })
    assert.equal((await snapshots.fresh('tenant')).rowCount, 2)
    assert.deepEqual(readings, [{ from: undefined, count: 2 }])
    assert.deepEqual(warnings, ['core-objects.saved-rows-unusable'])
  })

  it('are loaded again once unused values take more memory than the rows', async () => {
    const { changes, written, readings } = readableChanges()
    const snapshots = new TenantSnapshots(changes, AMPLE)
    const renamed = (round: number) =>
      Array.from({ length: 1_000 }, (_, index) => ({
        ...identity(`person ${index}`),
        attributes: { displayName: `${round} ${index}` },
      }))
    let rounds = 0
    const loadCount = () => readings.filter(({ from }) => from === undefined).length
    do {
      rounds += 1
      written.push(...renamed(rounds))
      assert.equal((await snapshots.fresh('tenant')).displayNameOf('identity', 'person 7'), `${rounds} 7`)
    } while (loadCount() === 1 && rounds < 1_000)
    assert.ok(rounds > 100 && rounds < 1_000, `${rounds} rounds`)
    assert.equal(snapshots.takeChanges('tenant'), 'everything')
    assert.equal((await snapshots.fresh('tenant')).displayNameOf('identity', 'person 7'), `${rounds} 7`)
  })
})
