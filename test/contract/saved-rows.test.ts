import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core/core-object-changes.ts'
import { queryAll } from '../../shared/cosmos/documents.ts'
import { cosmosSavedRowsStore } from '../../shared/cosmos/members/saved-rows-store.ts'
import { NO_CUSTOM_TYPES } from '../../shared/domain/core/custom-types.ts'
import {
  DEFAULT_ROW_SETTINGS,
  type KeptDeletions,
  LEAST_KEPT_DELETIONS,
} from '../../shared/domain/tenant-index/row-settings.ts'
import type { SnapshotObject } from '../../shared/domain/tenant-index/rows/apply-objects.ts'
import type { TextValues } from '../../shared/domain/tenant-index/rows/column-values.ts'
import { TenantSnapshots } from '../../shared/domain/tenant-index/tenant-snapshots.ts'
import { directDatabase } from '../support/contract/direct-database.ts'
import { localAccount } from '../support/contract/local-database.ts'
import { contentOf, municipalityObjects, objectsIn, writeObjects } from '../support/contract/saved-objects.ts'

const HOUR_MS = 3_600_000

const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
const { cosmos } = await localAccount(() => clock.nowMs)
const container = directDatabase(cosmos)
const members = container('members')
const coreObjects = container('coreObjects')
const reasons: string[] = []
const log = { info: () => undefined, error: () => undefined, warn: (event: string) => void reasons.push(event) }

/** The rows of an instance that has just started. */
const newSnapshots = (types = NO_CUSTOM_TYPES, deletions = LEAST_KEPT_DELETIONS) => {
  const store = cosmosSavedRowsStore(members, () => clock.nowMs)
  const saving = { store, log, nowMs: () => clock.nowMs }
  return new TenantSnapshots(
    cosmosCoreObjectChanges(coreObjects, () => clock.nowMs),
    {
      maxBytes: 1_000_000_000,
      elapsedMs: () => clock.nowMs,
      saving,
      settings: { of: async () => ({ ...DEFAULT_ROW_SETTINGS, types, deletions }) },
    },
  )
}

async function chargeOf(work: () => Promise<unknown>): Promise<number> {
  const before = cosmos.chargedUnits()
  await work()
  return cosmos.chargedUnits() - before
}

async function tenantOf(objects: readonly SnapshotObject[]): Promise<string> {
  const tenantId = randomUUID()
  await writeObjects(coreObjects, tenantId, objects)
  // The last write is no longer part of the import. The first refresh reads it again.
  clock.nowMs += HOUR_MS
  await writeObjects(coreObjects, tenantId, objects.slice(0, 1))
  clock.nowMs += HOUR_MS
  return tenantId
}

async function savedTenantOf(objects: readonly SnapshotObject[], deletions = LEAST_KEPT_DELETIONS): Promise<string> {
  const tenantId = await tenantOf(objects)
  const snapshots = newSnapshots(NO_CUSTOM_TYPES, deletions)
  await snapshots.fresh(tenantId)
  await snapshots.saveIfDue(tenantId)
  return tenantId
}

const loadedContent = async (tenantId: string) => contentOf(objectsIn(await newSnapshots().fresh(tenantId)))

const storedIds = async (tenantId: string): Promise<string[]> => {
  const query = { query: 'SELECT VALUE c.id FROM c' }
  return (await queryAll<string>(members, `${tenantId}:rows`, query)).sort()
}

const changedNames = (objects: readonly SnapshotObject[], displayName: string): SnapshotObject[] =>
  objects.map((object) => ({ ...object, attributes: { ...object.attributes, displayName } }))

const people = municipalityObjects(260)

const KEPT_LONG: KeptDeletions = { keptDays: 90, connectors: 'one 2030-01-01T00:00:00Z' }

describe('The saved rows of a tenant', () => {
  it('are loaded for at most 90 request units when it has 8,000, instead of over 1,600', async () => {
    const objects = municipalityObjects(3_750)
    const tenantId = await tenantOf(objects)
    const first = newSnapshots()
    const former = await chargeOf(() => first.fresh(tenantId))
    const saving = await chargeOf(() => first.saveIfDue(tenantId))
    clock.nowMs += 10 * HOUR_MS
    await writeObjects(coreObjects, tenantId, changedNames(objects.slice(2_000, 2_050), 'Changed'))
    clock.nowMs += HOUR_MS
    let loadedCount = 0
    const units = await chargeOf(async () => {
      loadedCount = (await newSnapshots().fresh(tenantId)).objectCount
    })
    assert.ok(loadedCount >= 8_000 && loadedCount === objects.length, `${loadedCount}`)
    assert.ok(former > 1600, `${former} request units for all core objects`)
    assert.ok(units <= 90, `${units} request units`)
    assert.ok(saving <= 230, `${saving} request units`)
  })

  it('contain the changes and deletions since they were saved', async () => {
    const tenantId = await savedTenantOf(people)
    const [gone, renamed] = people.filter(({ objectType }) => objectType === 'identity')
    assert.ok(gone !== undefined && renamed !== undefined)
    await writeObjects(coreObjects, tenantId, [{ ...gone, deleted: true }, ...changedNames([renamed], 'Renamed')])
    // Up to the moment in which they expire, and after it.
    for (const hours of [0, 20, 1, 0.99, 0.02, 3]) {
      clock.nowMs += hours * HOUR_MS
      const rows = await newSnapshots().fresh(tenantId)
      assert.equal(rows.has('identity', gone.id), false)
      assert.equal(rows.displayNameOf('identity', renamed.id), 'Renamed')
      assert.equal(rows.objectCount, people.length - 1)
    }
  })

  it('are not used when they are damaged or of a former format, and are then replaced', async () => {
    const damages: ((tenantId: string, document: Record<string, unknown> & { id: string }) => unknown)[] = [
      (tenantId, document) => document.id !== 'rows' && members.item(document.id, `${tenantId}:rows`).delete(),
      (_, document) => document.id !== 'rows' && members.items.upsert({ ...document, packedRows: 'AAAA' }),
      (_, document) => document.id === 'rows' && members.items.upsert({ ...document, checksum: 'AAAA' }),
      (_, document) => document.id === 'rows' && members.items.upsert({ ...document, objectCount: 7 }),
      (_, document) => document.id === 'rows' && members.items.upsert({ ...document, chunkCount: 'many' }),
      (_, document) => document.id === 'rows' && members.items.upsert({ ...document, format: 0 }),
      // Their positions of unknown people could name another person.
      (_, document) => document.id === 'rows' && members.items.upsert({ ...document, format: 1 }),
      // Who wrote them was held up for longer than an hour: deletions that they miss can have expired before them.
      (_, document) =>
        document.id === 'rows' &&
        members.items.upsert({ ...document, completeUntilS: Number(document.completeUntilS) - 5400 }),
    ]
    for (const [index, damage] of damages.entries()) {
      const tenantId = await savedTenantOf(people)
      const query = { query: "SELECT * FROM c WHERE c.id != 'rows-claim'" }
      const documents = await queryAll<Record<string, unknown> & { id: string }>(members, `${tenantId}:rows`, query)
      for (const document of documents) await damage(tenantId, document)
      clock.nowMs += HOUR_MS
      const snapshots = newSnapshots()
      const full = await chargeOf(() => snapshots.fresh(tenantId))
      assert.deepEqual(contentOf(objectsIn(await snapshots.fresh(tenantId))), contentOf(people), `damage ${index}`)
      assert.ok(full > people.length / 10, `damage ${index}: ${full} request units`)
      await snapshots.saveIfDue(tenantId)
      assert.ok((await chargeOf(() => newSnapshots().fresh(tenantId))) < 20, `damage ${index} is repaired`)
    }
  })

  it('are not used by an instance that reads custom attributes by other types, which are saved in its place', async () => {
    const attributes = (index: number) => ({ 'custom/grade': ['007', 'x', '12'][index % 3] as string })
    const graded = people.map((object, index) => ({ ...object, attributes: attributes(index) }))
    const typesOfPeople = new Map([['identityCustom/grade', 'Integer'] as const])
    const tenantId = await savedTenantOf(graded)
    clock.nowMs += HOUR_MS
    const typed = newSnapshots(typesOfPeople)
    const grades = async (snapshots: TenantSnapshots) => {
      const { dictionary } = (await snapshots.fresh(tenantId)).tables.identity.column('custom/grade')
        .values as TextValues
      return Array.from({ length: dictionary.size - 1 }, (_, index) => dictionary.textOf(index + 1)).sort()
    }
    assert.deepEqual(await grades(typed), ['12', '7'])
    await typed.saveIfDue(tenantId)
    assert.ok((await chargeOf(() => grades(newSnapshots(typesOfPeople)))) < 20)
    assert.deepEqual(await grades(newSnapshots()), ['007', '12', 'x'])
  })

  it('are saved again by an instance that keeps them in memory, before they expire and after many changes', async () => {
    const tenantId = await tenantOf(people)
    const snapshots = newSnapshots()
    await snapshots.fresh(tenantId)
    const savedGeneration = async () => {
      await snapshots.saveIfDue(tenantId)
      return (await members.item('rows', `${tenantId}:rows`).read()).resource?.generation as string
    }
    const first = await savedGeneration()
    clock.nowMs += 19 * HOUR_MS
    await snapshots.fresh(tenantId)
    assert.equal(await savedGeneration(), first)
    clock.nowMs += 2 * HOUR_MS
    const second = await savedGeneration()
    assert.notEqual(second, first)
    await writeObjects(coreObjects, tenantId, changedNames(people.slice(0, 200), 'Changed'))
    clock.nowMs += HOUR_MS
    await snapshots.fresh(tenantId)
    assert.notEqual(await savedGeneration(), second)
  })

  it('are found by a weekly evaluation where deleted objects are kept for longer, deletions included', async () => {
    const tenantId = await savedTenantOf(people, KEPT_LONG)
    await writeObjects(coreObjects, tenantId, [{ ...(people[0] as SnapshotObject), deleted: true }], KEPT_LONG.keptDays)
    clock.nowMs += 160 * HOUR_MS
    let loadedCount = 0
    const load = async () => {
      loadedCount = (await newSnapshots(NO_CUSTOM_TYPES, KEPT_LONG).fresh(tenantId)).objectCount
    }
    assert.ok((await chargeOf(load)) < 20)
    assert.equal(loadedCount, people.length - 1)
    clock.nowMs += 31 * HOUR_MS
    assert.ok((await chargeOf(load)) > people.length / 10)
    assert.equal(loadedCount, people.length - 1)
  })

  it('are not used after a change of a connector, since deletions have possibly been kept for fewer days', async () => {
    const tenantId = await savedTenantOf(people, KEPT_LONG)
    await writeObjects(coreObjects, tenantId, [{ ...(people[0] as SnapshotObject), deleted: true }], 1)
    clock.nowMs += 48 * HOUR_MS
    const changed = { ...KEPT_LONG, connectors: 'one 2030-01-02T00:00:00Z' }
    assert.equal((await newSnapshots(NO_CUSTOM_TYPES, changed).fresh(tenantId)).objectCount, people.length - 1)
  })

  it('expire before the chunks that they need, and before the first deletion that they miss', async () => {
    for (const [keptDays, expected] of [
      [1, [22, 24]],
      [3, [70, 72]],
      [90, [190, 192]],
    ] as const) {
      const tenantId = await savedTenantOf(people, { ...KEPT_LONG, keptDays })
      assert.deepEqual(await keptHours(tenantId), expected)
    }
  })

  async function keptHours(tenantId: string): Promise<readonly number[]> {
    const query = 'SELECT VALUE c.ttl FROM c WHERE c.id != @claim AND IS_DEFINED(c.packedRows) = @isChunk'
    const keptS = async (isChunk: boolean) => {
      const parameters = [
        { name: '@claim', value: 'rows-claim' },
        { name: '@isChunk', value: isChunk },
      ]
      return [...new Set(await queryAll<number>(members, `${tenantId}:rows`, { query, parameters }))]
    }
    const [headS = 0, ...otherHeads] = await keptS(false)
    const [chunkS = 0, ...otherChunks] = await keptS(true)
    assert.deepEqual([otherHeads, otherChunks], [[], []])
    return [headS / 3600, chunkS / 3600]
  }

  it('are not saved for a small tenant, and by one of several instances', async () => {
    const smallId = await savedTenantOf(people.slice(0, 300))
    assert.deepEqual(await storedIds(smallId), [])
    const tenantId = await tenantOf(people)
    const instances = Array.from({ length: 10 }, () => newSnapshots())
    await Promise.all(instances.map((snapshots) => snapshots.fresh(tenantId)))
    await Promise.all(instances.map((snapshots) => snapshots.saveIfDue(tenantId)))
    const ids = await storedIds(tenantId)
    const generations = new Set(ids.filter((id) => id.includes(':')).map((id) => id.split(':')[0]))
    assert.equal(generations.size, 1)
    assert.deepEqual(await loadedContent(tenantId), contentOf(people))
  })
})
