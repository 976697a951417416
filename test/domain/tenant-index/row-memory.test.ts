import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CoreObject } from '../../../shared/domain/core/core-object.ts'
import type { CoreObjectChanges } from '../../../shared/domain/tenant-index/core-object-changes.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'

const MINUTE_MS = 60_000
const PAGE_COUNT = 1_000

const person = (index: number, custom = 0): CoreObject => {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const names = Array.from({ length: custom }, (_, name) => [`custom/${name}`, `${index} ${name}`])
  const attributes = { displayName: `Person ${index}`, ...Object.fromEntries(names) }
  return { id, objectType: 'identity', externalId: String(index), attributes, deleted: false, lastUpdatedS: 1 }
}

/** Tenants with `sizes` people each. Those with the default of `others` people fill one page. */
function tenantsOf(sizes: Readonly<Record<string, number>>, { others = 10, custom = 0 } = {}) {
  const loads: string[] = []
  const counts: string[] = []
  const changes: CoreObjectChanges = {
    remembersSince: () => true,
    includedWrites: () => undefined,
    async count(tenantId) {
      counts.push(tenantId)
      return sizes[tenantId] ?? others
    },
    async *since(tenantId, mark) {
      const size = mark === undefined ? (sizes[tenantId] ?? others) : 0
      if (mark === undefined) loads.push(tenantId)
      for (let from = 0; from < size; from += PAGE_COUNT) {
        const objects = Array.from({ length: Math.min(PAGE_COUNT, size - from) }, (_, index) =>
          person(from + index, custom),
        )
        await new Promise(setImmediate)
        yield { objects, mark: { seenUntilS: 1 } as never }
      }
      yield { objects: [], mark: { seenUntilS: 1 } as never }
    },
  }
  return { changes, loads, counts }
}

const isTooLarge = { name: 'Refusal', code: 'TenantTooLarge' }
const tenants = (count: number) => Array.from({ length: count }, (_, index) => `tenant ${index}`)

/** Memory with room for `roomCount` tenants of the default size. */
async function snapshotsFor(roomCount: number) {
  const { changes, loads } = tenantsOf({})
  const measured = new TenantSnapshots(changes, { maxBytes: Number.MAX_SAFE_INTEGER })
  await measured.fresh('measured')
  loads.length = 0
  const clock = { nowMs: 0 }
  const maxBytes = (roomCount + 0.5) * measured.sizeBytes
  return { snapshots: new TenantSnapshots(changes, { maxBytes, elapsedMs: () => clock.nowMs }), loads, clock }
}

describe('The memory for rows', () => {
  it('is never exceeded, and a sweep over more tenants than fit finds most of those that fit', async () => {
    const { snapshots, loads, clock } = await snapshotsFor(19)
    const sweptCount = 100
    const rounds: number[] = []
    for (let round = 0; round < 5; round += 1) {
      loads.length = 0
      for (const tenantId of tenants(sweptCount)) {
        clock.nowMs += (60 * MINUTE_MS) / sweptCount
        await snapshots.fresh(tenantId)
        await snapshots.fresh(tenantId)
      }
      rounds.push(sweptCount - loads.length)
    }
    const [first, ...later] = rounds
    assert.equal(first, 0)
    for (const found of later) assert.ok(found >= 17, `${found} of ${sweptCount} found with room for 19`)
  })

  it('goes to tenants in use: of those used again, the least recently used is evicted', async () => {
    const { snapshots, clock } = await snapshotsFor(3)
    for (const tenantId of ['one', 'two', 'three']) await snapshots.fresh(tenantId)
    for (const tenantId of ['one', 'three', 'two', 'one']) {
      clock.nowMs += 2 * MINUTE_MS
      await snapshots.fresh(tenantId)
    }
    await snapshots.fresh('four')
    assert.deepEqual(
      ['one', 'two', 'three', 'four'].map((tenantId) => snapshots.holds(tenantId)),
      [true, true, false, true],
    )
  })

  it('goes to a tenant that is loaded again soon after its eviction, before one that is no longer used', async () => {
    const { snapshots, clock } = await snapshotsFor(2)
    const use = async (...tenantIds: string[]) => {
      for (const tenantId of tenantIds) {
        clock.nowMs += 2 * MINUTE_MS
        await snapshots.fresh(tenantId)
      }
    }
    await use('old', 'older', 'older', 'old')
    await use('new', 'newer', 'new', 'newer')
    assert.deepEqual(
      ['old', 'older', 'newer', 'new'].map((tenantId) => snapshots.holds(tenantId)),
      [false, false, true, true],
    )
  })

  it('counts the columns: rows with a hundred custom attributes take more than ten times as much', async () => {
    const sizes = await Promise.all(
      [0, 100].map(async (custom) => {
        const { changes } = tenantsOf({ tenant: 5_000 }, { custom })
        const snapshots = new TenantSnapshots(changes, { maxBytes: Number.MAX_SAFE_INTEGER })
        await snapshots.fresh('tenant')
        return snapshots.sizeBytes
      }),
    )
    const [narrow = 0, wide = 0] = sizes
    assert.ok(wide > 10 * narrow, `${wide} and ${narrow} bytes`)
  })

  it('is shared by loads side by side, which stay within it together and all succeed', async () => {
    const ids = tenants(8)
    const { changes } = tenantsOf(Object.fromEntries(ids.map((id) => [id, 10_000])))
    const measured = new TenantSnapshots(changes, { maxBytes: Number.MAX_SAFE_INTEGER })
    await measured.fresh('tenant 0')
    const maxBytes = 1.2 * measured.sizeBytes
    const snapshots = new TenantSnapshots(changes, { maxBytes })
    let mostBytes = 0
    const watch = setInterval(() => {
      mostBytes = Math.max(mostBytes, snapshots.sizeBytes)
    })
    const loaded = await Promise.all(ids.map((id) => snapshots.fresh(id)))
    clearInterval(watch)
    assert.deepEqual(new Set(loaded.map(({ objectCount }) => objectCount)), new Set([10_000]))
    assert.ok(mostBytes > 0 && mostBytes <= maxBytes, `${mostBytes} of ${maxBytes} bytes`)
  })

  it('refuses a tenant that alone exceeds it, without another load for ten minutes', async () => {
    const { changes, loads } = tenantsOf({ large: 20_000 })
    const clock = { nowMs: 0 }
    const snapshots = new TenantSnapshots(changes, { maxBytes: 1_000_000, elapsedMs: () => clock.nowMs })
    await assert.rejects(snapshots.fresh('large'), isTooLarge)
    clock.nowMs += 9 * MINUTE_MS
    await assert.rejects(snapshots.fresh('large'), isTooLarge)
    assert.deepEqual(loads, ['large'])
    clock.nowMs += 2 * MINUTE_MS
    await assert.rejects(snapshots.fresh('large'), isTooLarge)
    assert.deepEqual(loads, ['large', 'large'])
    assert.equal(snapshots.holds('large'), false)
    assert.equal(snapshots.sizeBytes, 0)
  })

  it('keeps the tenants in use when one that is too large is loaded', async () => {
    const { changes, loads, counts } = tenantsOf({ large: 100_000 })
    const clock = { nowMs: 0 }
    const snapshots = new TenantSnapshots(changes, { maxBytes: 2_000_000, elapsedMs: () => clock.nowMs })
    await snapshots.fresh('neighbour')
    clock.nowMs += 2 * MINUTE_MS
    await snapshots.fresh('neighbour')
    const refused = assert.rejects(snapshots.fresh('large'), isTooLarge)
    while (counts.length === 0) {
      await snapshots.fresh('neighbour')
      await new Promise(setImmediate)
    }
    await refused
    assert.equal(snapshots.holds('neighbour'), true)
    assert.deepEqual(loads, ['neighbour', 'large'])
  })

  it('counts what is computed from the rows, and refuses to keep what does not fit with them', async () => {
    const { changes } = tenantsOf({})
    const snapshots = new TenantSnapshots(changes, { maxBytes: 2_000_000 })
    await snapshots.fresh('other')
    await snapshots.fresh('tenant')
    const rowsBytes = snapshots.sizeBytes / 2
    assert.equal(snapshots.cacheComputed('tenant', 2_000_000 - 1.5 * rowsBytes), true)
    assert.deepEqual([snapshots.holds('tenant'), snapshots.holds('other')], [true, false])
    assert.equal(snapshots.sizeBytes, 2_000_000 - 0.5 * rowsBytes)
    assert.equal(snapshots.cacheComputed('tenant', 2_000_000), false)
    assert.equal(snapshots.sizeBytes, rowsBytes)
  })
})
