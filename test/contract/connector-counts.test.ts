import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { builtService } from '../support/api/built-service.ts'
import { directDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'
import { isTrouble, Life } from '../support/jobs/mortal-process.ts'

const HOUR_MS = 3_600_000
const MAX_CALLS_COUNT = 200

let nowMs = Date.parse('2030-01-15T01:00:00Z')
const { cosmos, container } = await startDirectAccount(() => nowMs)
cosmos.unref()
const parts = { nowMs: () => nowMs, elapsedMs: () => nowMs }
const { connectors: deps, messages } = builtService(container, parts)

const upsert = (objectType: ObjectType, externalId: string, data = {}): ObjectWrite => {
  return { operation: 'upsert', objectType, externalId, data }
}
const remove = (objectType: ObjectType, externalId: string): ObjectWrite => {
  return { operation: 'delete', objectType, externalId }
}
const to = (externalId: string) => ({ externalId })

const BEFORE = [
  upsert('identity', 'gone'),
  upsert('identity', 'named', { displayName: 'Before' }),
  upsert('orgUnit', 'root'),
  upsert('orgUnit', 'moved'),
  upsert('relationship', 'post', { identity: to('nobody'), orgUnit: to('nowhere') }),
  upsert('relationship', 'former', { identity: to('gone') }),
]
/** Creates, changes, deletes, renames; references are found and lost. */
const BATCH = [
  remove('identity', 'gone'),
  upsert('identity', 'named', { displayName: 'After' }),
  upsert('identity', 'nobody'),
  upsert('identity', 'new'),
  upsert('orgUnit', 'moved', { parent: to('root') }),
  upsert('orgUnit', 'unit', { parent: to('nothing') }),
  { ...upsert('relationship', 'latter', { identity: to('somebody') }), previousExternalId: 'former' } as ObjectWrite,
]

async function newTenant() {
  const source = await newSourceTenant([randomUUID(), randomUUID()], deps)
  const { tenantId, connectors } = source
  const [connector = assert.fail(), other = assert.fail()] = connectors
  const write = (writes: readonly ObjectWrite[], using = deps, by = connector) =>
    writeObjects(tenantId, by, writes, using)
  await write(BEFORE)
  await write([upsert('identity', 'named')], deps, other)
  const audit = async () => {
    nowMs += 2 * HOUR_MS
    await messages.audits.handle({ tenantId })
    nowMs += 2 * HOUR_MS
  }
  await audit()
  const counts = async () => {
    const found = await deps.spaceCounts.find(tenantId, connector.id)
    const { unresolved, ...objects } = found?.value ?? assert.fail('No counts are stored')
    return { objects, unresolved }
  }
  const stored = async () => ({
    objects: await deps.spaceCounts.countObjects(tenantId, connector.id),
    unresolved: await deps.coreObjects.countUnresolved(tenantId, connector.id),
  })
  return { tenantId, connector, write, audit, counts, stored }
}

/** A process that ends at the call of the database of this number, which has taken effect where it `isDone`. */
async function writtenAndKilled(tenant: Awaited<ReturnType<typeof newTenant>>, callCount: number, isDone: boolean) {
  const life = new Life()
  life.endAfter(2 * callCount + Number(isDone))
  const { connectors } = builtService(
    directDatabase(cosmos, (call) => life.make(call)),
    parts,
  )
  await tenant.write(BATCH, connectors).catch((error: unknown) => {
    if (!isTrouble(error)) throw error
  })
  return life.hasEnded
}

describe('The counts of a connector whose batch was killed', () => {
  for (const [follows, isRepeated] of [
    ['the daily audit', false],
    ['the same batch again and the daily audit', true],
  ] as const) {
    it(`are those of the stored objects after ${follows}, at whichever call it was`, async () => {
      let killedCount = 0
      for (let callCount = 0; callCount < MAX_CALLS_COUNT; callCount += 1) {
        const tenant = await newTenant()
        const kills = [await writtenAndKilled(tenant, callCount, callCount % 2 === 0)]
        // The other kind of death, in a second process that finds what the first one has left.
        kills.push(await writtenAndKilled(tenant, callCount, callCount % 2 === 1))
        assert.deepEqual((await tenant.counts()).objects, (await tenant.stored()).objects, `call ${callCount}`)
        if (isRepeated) await tenant.write(BATCH)
        await tenant.audit()
        assert.deepEqual(await tenant.counts(), await tenant.stored(), `call ${callCount}`)
        if (!kills.includes(true)) break
        killedCount += 1
      }
      assert.ok(killedCount > 15 && killedCount < MAX_CALLS_COUNT, `${killedCount}`)
    })
  }
})

describe('The counts of a connector', () => {
  it('are exact beside a recount of everything, after concurrent batches', async () => {
    const tenant = await newTenant()
    const batch = (number: number) =>
      Array.from({ length: 150 }, (_, index) => upsert('identity', `${number} ${index}`))
    const forgotten = deps.spaceCounts.forget(tenant.tenantId, tenant.connector.id)
    await Promise.all([forgotten, ...[1, 2, 3, 4].map((number) => tenant.write(batch(number)))])
    assert.deepEqual(await tenant.counts(), await tenant.stored())
    assert.equal((await tenant.counts()).objects.identity, 602)
  })
})
