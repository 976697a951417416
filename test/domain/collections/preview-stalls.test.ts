import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../../shared/domain/collections/collection.ts'
import type { CollectionDependencies } from '../../../shared/domain/collections/collection-dependencies.ts'
import { tenantSchemas } from '../../../shared/domain/collections/condition-entry.ts'
import { previewCriteria } from '../../../shared/domain/collections/preview.ts'
import { liveMembershipResolver } from '../../../shared/domain/membership-requests/membership-resolver.ts'
import type { SnapshotObject } from '../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { OrgChart } from '../../../shared/domain/tenant-index/rows/org-chart.ts'
import { TenantSnapshots } from '../../../shared/domain/tenant-index/tenant-snapshots.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { CooperativeScheduler } from '../../../shared/kernel/cooperative-scheduler.ts'
import { HOSTILE_CONDITIONS, manyPeople, personId } from '../../support/domain/criteria/hostile-conditions.ts'

const TENANT = 'tenant'
const CALLER: Caller = {
  kind: 'application',
  tenantId: TENANT,
  objectId: 'application',
  clientId: undefined,
  roles: new Set(['collections-criteria.criteria.read.all']),
}
const PEOPLE_COUNT = 20_000
/** Putting this many in a list, or in order, takes a multiple of `MAX_STALL_MS`. */
const LARGE_COUNT = 300_000
/** No caller may wait longer than this for the one thread. */
const MAX_STALL_MS = 100

/** As many dates to compute as fit into a condition. */
const MANY_DATES = {
  groupOperator: 'OR',
  conditions: Array.from({ length: 11 }, () => ({
    id: 'relationshipStartDate',
    field: 'relationshipStartDate',
    operator: 'In',
    value: Array.from({ length: 490 }, (_, day) => `AddDays(Today(),${day})`),
  })),
}

/** What a preview needs, on people that `written` adds to as the test goes on. */
function tenantOf(written: SnapshotObject[][], existing: readonly Collection[] = []): CollectionDependencies {
  const changes = {
    remembersSince: () => true,
    includedWrites: () => undefined,
    count: async () => 0,
    async *since() {
      yield { objects: written.shift() ?? [], mark: {} } as never
    },
  }
  const collections = { existing: async () => existing }
  const deps = {
    scheduler: new CooperativeScheduler(() => performance.now()),
    snapshots: new TenantSnapshots(changes, { maxBytes: 1_000_000_000 }),
    collections,
    joined: { of: async () => new Map(), ofIdentity: async () => new Map() },
  }
  return { ...deps, nowMs: () => Date.parse('2030-03-01T12:00:00Z') } as unknown as CollectionDependencies
}

/** What the one thread has worked so far. Unlike a clock it stands while the machine does something else. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest that the thread worked without serving a timer that is due all the time, during some work. */
async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0
  let lastMs = workedMs()
  const look = () => {
    longestMs = Math.max(longestMs, workedMs() - lastMs)
    lastMs = workedMs()
  }
  const timer = setInterval(look, 1)
  await work().finally(() => clearInterval(timer))
  look()
  return longestMs
}

const preview = (condition: object, deps: CollectionDependencies) =>
  previewCriteria(CALLER, { preview: { objectType: 'Identity', condition } }, deps)

const karisAmong = (people: readonly SnapshotObject[]) =>
  people.filter(({ attributes }) => String(attributes.displayName).startsWith('Kari')).length

describe('A preview of a hostile condition', () => {
  for (const [claim, condition] of Object.entries(HOSTILE_CONDITIONS)) {
    it(`does not block the thread: ${claim}`, async () => {
      const deps = tenantOf([manyPeople(PEOPLE_COUNT)])
      await deps.snapshots.fresh(TENANT)
      let answeredCount = 0
      let isOver = false
      const stallMs = await longestStallMs(async () => {
        const others = async () => {
          for (; !isOver; answeredCount += 1) {
            await tenantSchemas(CALLER, deps)
            await new Promise(setImmediate)
          }
        }
        const asking = others()
        await preview(condition, deps).finally(() => {
          isOver = true
        })
        await asking
      })
      assert.ok(stallMs < MAX_STALL_MS, `stalled for ${stallMs} ms`)
      assert.ok(answeredCount > 1, `answered ${answeredCount} others`)
    })
  }

  it('does not block the thread: lists of very many dates', async () => {
    const deps = tenantOf([manyPeople(100)])
    await deps.snapshots.fresh(TENANT)
    let answeredCount = 0
    const timer = setInterval(() => {
      answeredCount += 1
    }, 1)
    const stallMs = await longestStallMs(() => preview(MANY_DATES, deps)).finally(() => clearInterval(timer))
    assert.ok(stallMs < MAX_STALL_MS, `stalled for ${stallMs} ms`)
    assert.ok(answeredCount > 0, `answered ${answeredCount} others`)
  })

  it('does not delay a small one', async () => {
    const deps = tenantOf([manyPeople(PEOPLE_COUNT)])
    const finished: string[] = []
    const [hostile] = Object.values(HOSTILE_CONDITIONS)
    const small = {
      groupOperator: 'AND',
      conditions: [{ id: 'identityId', field: 'identityId', operator: 'Equals', value: personId(7) }],
    }
    const run = async (what: string, condition: object) => {
      const { counts } = await preview(condition, deps)
      finished.push(`${what}: ${counts.preview}`)
    }
    await deps.snapshots.fresh(TENANT)
    const stallMs = await longestStallMs(() =>
      Promise.all([run('hostile', hostile as object), run('hostile', hostile as object), run('small', small)]),
    )
    assert.deepEqual(finished, ['small: 1', 'hostile: 0', 'hostile: 0'])
    assert.ok(stallMs < MAX_STALL_MS, `stalled for ${stallMs} ms`)
  })

  it('uses the rows as they were when it began, and the next one the current rows', async () => {
    const renamed = manyPeople(PEOPLE_COUNT).map((person) => ({ ...person, attributes: { displayName: 'Somebody' } }))
    const added = manyPeople(PEOPLE_COUNT + 100).slice(PEOPLE_COUNT)
    const written = [manyPeople(PEOPLE_COUNT)]
    const deps = tenantOf(written)
    const pair = (name: string) => ({
      id: 'identityDisplayName',
      field: 'ToLower(identityDisplayName)',
      operator: 'Contains',
      value: name,
    })
    const slow = Array.from({ length: 200 }, (_, index) => pair(`nowhere ${index}`))
    // Each person has one name or the other, at all times: an inconsistent read would find one with both, or with none.
    const condition = {
      groupOperator: 'XOR',
      conditions: [
        { groupOperator: 'OR', conditions: [...slow, pair('somebody')] },
        { groupOperator: 'OR', conditions: [...slow.slice(1), pair('kari')] },
      ],
    }
    await deps.snapshots.fresh(TENANT)
    const running = preview(condition, deps)
    let isOver = false
    void running.then(() => {
      isOver = true
    })
    // Past the two refreshes that the preview itself begins with.
    for (let round = 0; round < 5; round += 1) await new Promise(setImmediate)
    written.push([...renamed, ...added])
    await deps.snapshots.fresh(TENANT)
    assert.equal(isOver, false)
    assert.equal((await running).counts.preview, karisAmong(manyPeople(PEOPLE_COUNT)))
    assert.equal((await preview(condition, deps)).counts.preview, PEOPLE_COUNT + karisAmong(added))
  })
})

describe('The memberships of a person', () => {
  it('are found without blocking the thread, with large conditions that are checked for the first time', async () => {
    const definitions = [MANY_DATES, ...Object.values(HOSTILE_CONDITIONS)]
    const collections = definitions.map((definition, index) => ({
      tenantId: TENANT,
      id: personId(index),
      kind: 'criteria',
      objectType: 'Identity',
      definition,
      definitionVersion: 1,
      refersTo: [],
    })) as unknown as Collection[]
    const deps = tenantOf([manyPeople(200)], collections)
    const orgChart = new OrgChart(await deps.snapshots.fresh(TENANT), deps.nowMs())
    const ids = collections.map(({ id }) => id)
    for (const find of [
      () => liveMembershipResolver(deps).collectionsOf(TENANT, personId(7), ids, orgChart),
      () => liveMembershipResolver(deps).identitiesIn(TENANT, ids, orgChart),
    ]) {
      const stallMs = await longestStallMs(find)
      assert.ok(stallMs < MAX_STALL_MS, `stalled for ${stallMs} ms`)
    }
  })
})

describe('Rows with very many columns', () => {
  /** A thousand people, each with ten attributes of their own. */
  const wide = () =>
    manyPeople(1_000).map((person, index) => ({
      ...person,
      attributes: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`custom/${index}-${at}`, 'x'])),
    }))

  it('are loaded, refreshed and listed without blocking the thread', async () => {
    const people = wide()
    const renamed = people.map((person) => ({ ...person, attributes: { ...person.attributes, displayName: 'New' } }))
    const deps = tenantOf([people, renamed])
    for (const what of ['loaded', 'refreshed']) {
      const stallMs = await longestStallMs(() => deps.snapshots.fresh(TENANT))
      assert.ok(stallMs < MAX_STALL_MS, `${what}: stalled for ${stallMs} ms`)
    }
    const rows = await deps.snapshots.fresh(TENANT)
    assert.equal(rows.customAttributes().identity.length, 10_000)
    assert.equal(rows.displayNameOf('identity', personId(7)), 'New')
  })
})

describe('A preview of very many identities', () => {
  it('does not block the thread, nor does the first one, which sorts all ids', async () => {
    const people = manyPeople(LARGE_COUNT)
    const deps = tenantOf([people])
    await deps.snapshots.fresh(TENANT)
    const condition = {
      groupOperator: 'NOT',
      conditions: [{ id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'nobody' }],
    }
    for (const time of ['first', 'second']) {
      let counts: object = {}
      const stallMs = await longestStallMs(async () => {
        counts = (await preview(condition, deps)).counts
      })
      assert.deepEqual(counts, { preview: LARGE_COUNT, added: LARGE_COUNT, removed: 0 })
      assert.ok(stallMs < MAX_STALL_MS, `the ${time} one stalled for ${stallMs} ms`)
    }
  })
})
