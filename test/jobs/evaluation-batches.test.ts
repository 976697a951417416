import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { EVALUATION_LEASE_MS } from '../../shared/domain/evaluation/evaluation-lease.ts'
import type { EvaluatedDependencies } from '../../shared/domain/evaluation/tenant-evaluator.ts'
import {
  all,
  CRITERIA,
  type CriteriaProcess,
  criteriaTenant,
  leaf,
  memberOf,
  startCriteriaService,
  startsWith,
} from '../support/api/criteria-service.ts'

const MINUTE_MS = 60_000
/** `functionTimeout` in host.json. */
const FUNCTION_TIMEOUT_MS = 10 * MINUTE_MS
/** How long each collection takes. Thirty of them take 15 minutes. */
const COLLECTION_TAKES_MS = MINUTE_MS / 2
const COLLECTION_COUNT = 30

const service = await startCriteriaService({ databaseSharesClock: true })

type Slow = {
  readonly process: CriteriaProcess
  readonly evaluated: string[]
  atOnceCount: number
  mostAtOnceCount: number
}

/** A process that takes long to store the members of a collection. `evaluated` has the collections in this order. */
function slowProcess(takesMs = COLLECTION_TAKES_MS, parts: Partial<EvaluatedDependencies> = {}, rowsMemoryMB?: number) {
  const { memberships } = service.process
  const replace: CollectionDependencies['memberships']['replace'] = async (tenantId, id, ...rest) => {
    slow.evaluated.push(id)
    slow.atOnceCount += 1
    slow.mostAtOnceCount = Math.max(slow.mostAtOnceCount, slow.atOnceCount)
    await pause(1)
    const result = await memberships.replace(tenantId, id, ...rest)
    service.clock.nowMs += takesMs
    slow.atOnceCount -= 1
    return result
  }
  const settings = rowsMemoryMB === undefined ? {} : { rowsMemoryMB }
  const process = service.newProcess({ memberships: { ...memberships, replace }, ...parts }, settings)
  const slow: Slow = { process, evaluated: [], atOnceCount: 0, mostAtOnceCount: 0 }
  return slow
}

/**
 * A tenant with Ann, and collections in pairs: one of all whose name begins with A, and one of the members of that one.
 */
async function tenantWithChains(pairCount = COLLECTION_COUNT / 2) {
  const tenant = criteriaTenant(service)
  const ann = await tenant.person('Ann')
  const pairs: [string, string][] = []
  for (let index = 0; index < pairCount; index += 1) {
    const first = await tenant.create(startsWith('A'))
    pairs.push([first, await tenant.create(memberOf(first))])
  }
  const members = () => Promise.all(pairs.flat().map((id) => tenant.members(id)))
  return { ...tenant, ann, pairs, members }
}

/**
 * Handles a message, and the messages that follow from it, each by the next of these processes. Returns the durations.
 */
async function handled(
  tenantId: string,
  next: (index: number) => CriteriaProcess | Promise<CriteriaProcess>,
): Promise<number[]> {
  const durationsMs: number[] = []
  for (let isDue = true; isDue && durationsMs.length < 20; ) {
    const process = await next(durationsMs.length)
    const startedMs = service.clock.nowMs
    process.sentMessages.length = 0
    await process.evaluator.evaluate(tenantId)
    durationsMs.push(service.clock.nowMs - startedMs)
    isDue = process.sentMessages.some(({ queue }) => queue === 'evaluations')
  }
  return durationsMs
}

const same = <Value>(value: Value): Value[] => Array.from({ length: COLLECTION_COUNT }, () => value)

describe('An evaluation that takes longer than an invocation may', () => {
  it('is continued by further messages, and no invocation comes near the timeout', async () => {
    const { tenantId, ann, pairs, members } = await tenantWithChains()
    const { process, evaluated } = slowProcess()
    const durationsMs = await handled(tenantId, () => process)
    assert.deepEqual(await members(), same([ann]))
    assert.ok(Math.max(...durationsMs) <= FUNCTION_TIMEOUT_MS * 0.6, `took ${durationsMs} ms`)
    assert.deepEqual(evaluated.toSorted(), pairs.flat().sort())
  })

  it('brings changes made meanwhile to the collections that were evaluated before and after them', async () => {
    const { tenantId, ann, person, members } = await tenantWithChains()
    const { process } = slowProcess()
    let bo = ''
    const durationsMs = await handled(tenantId, async (index) => {
      if (index === 1) bo = await person('Anders')
      return process
    })
    await process.evaluator.evaluate(tenantId)
    assert.ok(durationsMs.length > 2)
    assert.deepEqual(await members(), same([ann, bo].sort()))
  })

  it('loses nothing when the process ends after each batch', async () => {
    const { tenantId, ann, members } = await tenantWithChains()
    // A collection whose members are stored is compared in no time.
    const { memberships } = service.process
    const replace: CollectionDependencies['memberships']['replace'] = async (...args) => {
      if (args[2] === undefined) service.clock.nowMs += COLLECTION_TAKES_MS
      return memberships.replace(...args)
    }
    const durationsMs = await handled(tenantId, () => service.newProcess({ memberships: { ...memberships, replace } }))
    assert.deepEqual(await members(), same([ann]))
    assert.ok(durationsMs.length > 2)
    assert.ok(Math.max(...durationsMs) <= FUNCTION_TIMEOUT_MS * 0.6, `took ${durationsMs} ms`)
  })

  it('ends although two processes take turns, and neither knows what a third one wrote before it was killed', async () => {
    const { tenantId, ann, members } = await tenantWithChains()
    const lease = await service.process.evaluationLeases.find(tenantId)
    assert.equal(lease, undefined)
    const untilMs = service.clock.nowMs + EVALUATION_LEASE_MS
    const unreleased = { holderId: 'killed', untilMs, epoch: 1 }
    await service.process.evaluationLeases.save(tenantId, unreleased, undefined)
    service.clock.nowMs += 5 * MINUTE_MS
    const processes = [slowProcess(), slowProcess()]
    const durationsMs = await handled(tenantId, (index) => (processes[index % 2] as Slow).process)
    assert.ok(durationsMs.length < 12, `took ${durationsMs.length} messages`)
    assert.deepEqual(await members(), same([ann]))
    for (const { evaluated } of processes) assert.equal(new Set(evaluated).size, evaluated.length)
  })

  it('reaches the collections that refer to what another process wrote, in one that knows their former members', async () => {
    const { tenantId, pairs, members, send } = await tenantWithChains()
    const next = service.newProcess()
    await next.evaluator.evaluate(tenantId)
    for (const [first] of pairs) {
      const body = { objectType: 'Identity', condition: startsWith('B') }
      assert.equal((await send('PUT', `${CRITERIA}/${first}`, body)).status, 200)
    }
    const slow = slowProcess()
    const durationsMs = await handled(tenantId, (index) => (index === 0 ? slow.process : next))
    assert.ok(slow.evaluated.length > 0 && slow.evaluated.length < pairs.length, `${slow.evaluated.length} evaluated`)
    assert.equal(durationsMs.length, 2)
    assert.deepEqual(await members(), same([]))
  })
})

describe('Collections that do not refer to each other', () => {
  it('are evaluated concurrently, a limited number at once, and before those that refer to them', async () => {
    const { tenantId, pairs } = await tenantWithChains()
    const slow = slowProcess(0)
    await slow.process.evaluator.evaluate(tenantId)
    assert.equal(slow.mostAtOnceCount, 8)
    const { evaluated } = slow
    for (const [first, second] of pairs) assert.ok(evaluated.indexOf(first) < evaluated.indexOf(second))
  })
})

describe('Evaluations that do not fit into the memory', () => {
  const PEOPLE_COUNT = 500
  /** The list of each takes 4 KB. */
  const COLLECTION_OF_ALL_COUNT = 40
  const ROOM_BYTES = 100_000

  /** A tenant with many collections of everybody, evaluated once by a process with room for some of them. */
  async function crowded() {
    const tenant = criteriaTenant(service)
    const names = Array.from({ length: PEOPLE_COUNT }, (_, index) => `Person ${index}`)
    const people = await Promise.all(names.map((name) => tenant.person(name)))
    const ids: string[] = []
    for (let index = 0; index < COLLECTION_OF_ALL_COUNT; index += 1) ids.push(await tenant.create(startsWith('Person')))
    const accountsChanged: string[] = []
    const links: CollectionDependencies['links'] = {
      linksOf: async () => [],
      collectionsFilling: async () => new Map(),
      linkedCollections: async () => new Map(ids.map((id) => [id, Infinity])),
      async accountsChanged(_tenantId, changed) {
        accountsChanged.push(...changed.keys())
        return new Set()
      },
    }
    const { sizeBytes } = await service.process.snapshots.fresh(tenant.tenantId)
    const changed = { id: people[0] ?? '', objectType: 'identity' as const, changedAtMs: service.clock.nowMs }
    const accountChanges = { since: async () => [changed], amongSince: async () => [changed] }
    const slow = slowProcess(0, { links, accountChanges }, (sizeBytes + ROOM_BYTES) / 1024 / 1024)
    const { snapshots } = slow.process
    const sizesBytes: number[] = []
    const cacheComputed = snapshots.cacheComputed.bind(snapshots)
    snapshots.cacheComputed = (tenantId, computedBytes) => {
      sizesBytes.push(computedBytes)
      return cacheComputed(tenantId, computedBytes)
    }
    await slow.process.evaluator.evaluate(tenant.tenantId)
    return { ...tenant, ...slow, ids, people, sizesBytes, accountsChanged }
  }

  it('are released in the course of the evaluation, and made again when a change concerns them', async () => {
    const tenant = await crowded()
    const { tenantId, ids, people, person, members, evaluated, process, sizesBytes, accountsChanged } = tenant
    const evaluate = () => process.evaluator.evaluate(tenantId)
    const counts = async () => [
      (await members(ids[0] ?? '')).length,
      (await members(ids.at(-1) ?? '')).length,
      evaluated.splice(0).length,
    ]
    assert.deepEqual(await counts(), [PEOPLE_COUNT, PEOPLE_COUNT, COLLECTION_OF_ALL_COUNT])
    // Without the release, they would take 160 KB and more.
    assert.ok(sizesBytes.length > 2 && Math.max(...sizesBytes) < ROOM_BYTES * 1.5, `${sizesBytes} bytes`)
    await person('Person 0', { mobile: '+47' }, people[0])
    await evaluate()
    assert.deepEqual(await counts(), [PEOPLE_COUNT, PEOPLE_COUNT, 0])
    accountsChanged.length = 0
    await person('Person 0', { directoryObjectId: '99999999-0000-4000-8000-000000000001' }, people[0])
    await evaluate()
    assert.deepEqual(new Set(accountsChanged), new Set(ids))
    await person('Another', {}, people[0])
    await evaluate()
    assert.deepEqual((await counts()).slice(0, 2), [PEOPLE_COUNT - 1, PEOPLE_COUNT - 1])
  })

  /** Chains whose members do not fit, evaluated by further messages. `evaluated` has what was written. */
  async function crowdedChains() {
    const tenant = await tenantWithChains()
    await Promise.all(Array.from({ length: PEOPLE_COUNT - 1 }, (_, index) => tenant.person(`Anna ${index}`)))
    const { sizeBytes } = await service.process.snapshots.fresh(tenant.tenantId)
    const slow = slowProcess(COLLECTION_TAKES_MS, {}, (sizeBytes + ROOM_BYTES / 3) / 1024 / 1024)
    await handled(tenant.tenantId, () => slow.process)
    return { ...tenant, ...slow }
  }

  it('are made once, and those of the collections that refer to them after them, by further messages', async () => {
    const { pairs, members, evaluated } = await crowdedChains()
    assert.deepEqual(evaluated.toSorted(), pairs.flat().sort())
    const counts = (await members()).map(({ length }) => length)
    assert.deepEqual(counts, same(PEOPLE_COUNT))
  })

  it('are made again for a later collection that refers to them, without another write', async () => {
    const { tenantId, pairs, create, results, evaluated, process } = await crowdedChains()
    evaluated.length = 0
    const [second = ''] = pairs.map((pair) => pair[1])
    const laters = [await create(memberOf(second)), await create(all(leaf('memberOfCollection', 'NotEquals', second)))]
    await process.evaluator.evaluate(tenantId)
    assert.deepEqual(evaluated.toSorted(), laters.toSorted())
    const counts = await Promise.all(laters.map(async (id) => (await results(id)).memberIds.length))
    assert.deepEqual(counts, [PEOPLE_COUNT, 0])
  })
})
