import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { accountConflicts } from '../../shared/domain/connectors/account-claims.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import { builtService } from '../support/api/built-service.ts'
import { localAccount } from '../support/contract/local-database.ts'

const { cosmos, container } = await localAccount()
const coreObjects = container('coreObjects')
const operationCount = () => Object.values(cosmos.operations()).reduce((sum, count) => sum + count, 0)

type Stored = {
  id: string
  objectType: string
  externalId: string
  attributes: Record<string, unknown>
  deleted: boolean
  _etag: string
}

const upsert = (objectType: ObjectWrite['objectType'], externalId: string, data: ObjectData): ObjectWrite =>
  ({ operation: 'upsert', objectType, externalId, data }) as ObjectWrite

/** A tenant with people and their positions, in core objects that agree with the connector space. */
async function newTenant(peopleCount: number, nowMs: () => number = Date.now) {
  const tenantId = randomUUID()
  const messages: Message[] = []
  const { messages: handlers, connectors: deps } = builtService(container, {
    nowMs,
    messageQueue: { enqueue: async (message) => void messages.push(message) },
  })
  const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
  await deps.connectors.add(tenantId, connector)
  const write = (...writes: ObjectWrite[]) => writeObjects(tenantId, connector, writes, deps)
  const people = Array.from({ length: peopleCount }, (_, index) =>
    upsert('identity', `p${index}`, { displayName: `Person ${index}` }),
  )
  const positions = people.map((_, index) =>
    upsert('relationship', `r${index}`, { identity: { externalId: `p${index}` } }),
  )
  await write(...people)
  await write(...positions)
  const stored = async (): Promise<Stored[]> => {
    const query = 'SELECT * FROM c ORDER BY c.id'
    return (await coreObjects.items.query(query, { partitionKey: tenantId }).fetchAll()).resources
  }
  return {
    tenantId,
    write,
    stored,
    messages,
    find: async (externalId: string) => {
      const found = (await stored()).find((candidate) => candidate.externalId === externalId)
      assert.ok(found !== undefined, externalId)
      return found
    },
    accountConflicts: () => accountConflicts(tenantId, deps.coreObjects),
    live: async () => (await stored()).filter(({ deleted }) => !deleted),
    /** Delivers the first message of an audit, or the next one. */
    async auditOnce() {
      const index = messages.findIndex(({ queue }) => queue === 'audits')
      const [next] = index < 0 ? [] : messages.splice(index, 1)
      await handlers.audits.handle(next?.message ?? { tenantId })
    },
    /** Delivers messages until the audit has ended. Returns how many there were. */
    async audit() {
      messages.length = 0
      for (let count = 1; ; count += 1) {
        await this.auditOnce()
        if (!messages.some(({ queue }) => queue === 'audits')) return count
      }
    },
  }
}

/** The core objects without what a write changes. */
const contents = (all: readonly Stored[]) =>
  all.map(({ id, externalId, attributes, deleted }) => ({ id, externalId, attributes, deleted }))

describe('An audit of core objects', () => {
  it('writes nothing where nothing differs, deleted objects included', async () => {
    const tenant = await newTenant(20)
    await tenant.write({ operation: 'delete', objectType: 'identity', externalId: 'p3' })
    const before = await tenant.stored()
    await tenant.audit()
    assert.deepEqual(await tenant.stored(), before)
    assert.deepEqual(tenant.messages, [])
  })

  for (const [claim, damage] of [
    ['creates a missing object', () => undefined],
    ['restores a deleted object', (one: Stored) => ({ ...one, deleted: true, contributors: [], ttl: 3600 })],
    ['updates a stale object', (one: Stored) => ({ ...one, attributes: { displayName: 'Formerly' } })],
    ['removes a reference that no contribution has', (one: Stored) => ({ ...one, attributes: { title: 'None' } })],
  ] as const) {
    for (const externalId of ['p7', 'r7']) {
      it(`${claim}: ${externalId}`, async () => {
        const tenant = await newTenant(20)
        const before = contents(await tenant.stored())
        const found = await tenant.find(externalId)
        const damaged = damage(found)
        if (damaged === undefined) await coreObjects.item(found.id, tenant.tenantId).delete()
        else await coreObjects.items.upsert(damaged)
        assert.notDeepEqual(contents(await tenant.stored()), before)
        await tenant.audit()
        assert.deepEqual(contents(await tenant.stored()), before)
        assert.deepEqual(tenant.messages, [{ queue: 'evaluations', message: { tenantId: tenant.tenantId } }])
      })
    }
  }

  it('deletes an object without live contributions', async () => {
    const tenant = await newTenant(3)
    const { id, ...person } = await tenant.find('p1')
    const extra = { ...person, id: randomUUID(), externalId: 'nobody', contributors: [randomUUID()] }
    await coreObjects.items.create(extra)
    await tenant.audit()
    assert.deepEqual((await tenant.live()).length, 6)
    assert.equal((await tenant.find('nobody')).deleted, true)
  })

  for (const isOlderFirst of [true, false]) {
    it(`leaves an account to the oldest claim, the ${isOlderFirst ? 'first' : 'last'} by id, when the writers of two were interrupted`, async () => {
      const nowMs = Date.parse('2030-01-01T00:00:00Z')
      const tenant = await newTenant(3, () => nowMs)
      const directoryObjectId = randomUUID()
      const claim = (externalId: string, nin: string) =>
        upsert('identity', externalId, { displayName: externalId, nin, directoryObjectId })
      await tenant.write(claim('one', '1'))
      await tenant.write(claim('other', '2'))
      // Ordered by id.
      const claimants = (await tenant.stored()).filter(({ externalId }) => ['one', 'other'].includes(externalId))
      assert.equal(claimants.filter(({ attributes }) => attributes.directoryObjectId === undefined).length, 1)
      const [older = assert.fail(), younger = assert.fail()] = isOlderFirst ? claimants : claimants.toReversed()
      for (const [claimant, accountSinceMs] of [
        [older, nowMs - 60_000],
        [younger, nowMs],
      ] as const) {
        const { claimedAccount: _unmet, ...unclaimed } = claimant as Stored & { claimedAccount?: string }
        const attributes = { ...claimant.attributes, directoryObjectId }
        await coreObjects.items.upsert({ ...unclaimed, attributes, accountSinceMs })
      }
      await tenant.audit()
      const holders = (await tenant.live()).filter(({ attributes }) => attributes.directoryObjectId !== undefined)
      assert.deepEqual(
        holders.map(({ id }) => id),
        [older.id],
      )
      assert.deepEqual(await tenant.accountConflicts(), [
        { directoryObjectId, holderId: older.id, claimantIds: [younger.id] },
      ])
    })
  }

  it('continues in the next message after half a minute, and repairs the objects of every batch', async () => {
    let nowMs = Date.parse('2030-01-01T00:00:00Z')
    const tenant = await newTenant(1100, () => {
      nowMs += 31_000
      return nowMs
    })
    const before = contents(await tenant.stored())
    const damaged = (await tenant.stored()).filter((_, index) => index % 300 === 0)
    for (const { id } of damaged) await coreObjects.item(id, tenant.tenantId).delete()
    assert.equal(await tenant.audit(), 3)
    assert.deepEqual(contents(await tenant.stored()), before)
  })

  it('compares six hundred objects in at most twenty operations', async () => {
    const tenant = await newTenant(300)
    const before = operationCount()
    await tenant.audit()
    assert.ok(operationCount() - before <= 20, String(operationCount() - before))
  })

  it('does not revert what a connector writes meanwhile', async () => {
    const tenant = await newTenant(20)
    const found = await tenant.find('p7')
    await coreObjects.items.upsert({ ...found, attributes: { displayName: 'Formerly' } })
    await Promise.all([
      tenant.audit(),
      tenant.write(upsert('identity', 'p7', { displayName: 'Now' }), upsert('identity', 'p8', { displayName: 'Now' })),
    ])
    assert.deepEqual((await tenant.find('p7')).attributes, { displayName: 'Now' })
    assert.deepEqual((await tenant.find('p8')).attributes, { displayName: 'Now' })
  })
})
