import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { auditDocument } from '../../shared/cosmos/audit-trail.ts'
import { CONTAINERS, type ContainerId } from '../../shared/cosmos/containers.ts'
import { savedRowsPartition } from '../../shared/cosmos/members/saved-rows-store.ts'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { erasePersonalData } from '../../shared/domain/connectors/erase-personal-data.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { type MembershipRequest, newRequest } from '../../shared/domain/membership-requests/membership-request.ts'
import { builtService } from '../support/api/built-service.ts'
import { directDatabase, mortalDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

const NOW_MS = Date.parse('2030-01-15T01:00:00Z')
const AT = '2030-01-15T01:00:00.000Z'
const ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000001'
/** What is erased. Each text is of this person alone. */
const SECRETS = ['Erasable Name', '02029012345', 'erasable@example.org', 'Erasable note', 'Erasable custom']

let nowMs = NOW_MS
const { cosmos, container } = await startDirectAccount(() => nowMs)
cosmos.unref()
const parts = { nowMs: () => nowMs, elapsedMs: () => nowMs }
const { connectors: deps, requests } = builtService(container, parts)

/** A service that ends before its call of the database of this number. */
const mortal = (callsLeft: number) => builtService(mortalDatabase(cosmos, callsLeft), parts).connectors

/** All documents of a tenant, as text. */
async function everything(tenantId: string): Promise<string> {
  const found = CONTAINERS.flatMap(({ id }) =>
    [tenantId, savedRowsPartition(tenantId)].map(async (partitionKey) => {
      const page = await container(id).items.query('SELECT * FROM c', { partitionKey }).fetchNext()
      return page.resources
    }),
  )
  return JSON.stringify(await Promise.all(found))
}

const data = {
  displayName: 'Erasable Name',
  nin: '02029012345',
  email: 'erasable@example.org',
  directoryObjectId: ACCOUNT,
  'custom/title': 'Erasable custom',
}

/** A tenant with a deleted person, whose texts stand wherever they can, and with another person. */
async function tenantWithDeleted() {
  const { tenantId, connectors } = await newSourceTenant([randomUUID()], deps)
  const [connector = assert.fail()] = connectors
  const write = (...writes: readonly ObjectWrite[]) => writeObjects(tenantId, connector, writes, deps)
  const person = (externalId: string, more: ObjectData): ObjectWrite => {
    return { operation: 'upsert', objectType: 'identity', externalId, data: more }
  }
  await write(person('other', { displayName: 'Other Name' }))
  const [other = assert.fail()] = (await deps.coreObjects.page(tenantId, 'identity', undefined, 10)).items
  await write(person('erasable', data))
  const all = (await deps.coreObjects.page(tenantId, 'identity', undefined, 10)).items
  const { id = assert.fail() } = all.find((candidate) => candidate.id !== other.id) ?? {}
  await write({ operation: 'delete', objectType: 'identity', externalId: 'erasable' })
  const collection = { tenantId, id: randomUUID(), objectType: 'Identity' } as Collection
  const requested = (requesterId: string, submittedBy: string, notes: string): MembershipRequest => {
    const names = { id: randomUUID(), requesterId, submittedBy, relationshipId: null, notes }
    return newRequest({ ...names, collection, status: 'PendingApproval', at: AT })
  }
  await requests.requests.save([
    { after: requested(id, other.id, 'Erasable note by another') },
    { after: requested(other.id, id, 'Erasable note about another') },
  ])
  const record = { id: randomUUID(), tenantId, subject: randomUUID(), at: AT, action: 'Updated', linkId: null } as const
  const condition = { conditions: [{ id: 'identityNin', operator: 'In', value: ['02029012345', '1'] }] }
  await container('collections').items.create(
    auditDocument({ ...record, actorId: other.id, before: { condition }, after: { name: 'Nurses' } }),
  )
  const held = { ...record, id: randomUUID(), action: 'RemovalsApproved', actorId: id } as const
  await container('links').items.create({
    ...auditDocument({ ...held, before: {}, after: { notes: 'Erasable note on a plan' } }),
    directoryGroupId: held.id,
  })
  const approved = { approvedPlanId: randomUUID(), approvalNotes: 'Erasable note of an approval' }
  await container('jobs').items.create({ id: randomUUID(), tenantId, ...approved })
  const membersOf = savedRowsPartition(tenantId)
  await container('members').items.create({ id: 'chunk:0', membersOf, packedRows: 'Erasable Name' })
  return { tenantId, id, write, person }
}

describe('Erasing the personal data of a deleted identity', () => {
  it('leaves none of its texts in any container, and its ids, wherever an earlier attempt was interrupted', async () => {
    let isInterrupted = true
    for (let callCount = 0; isInterrupted; callCount += 1) {
      const { tenantId, id } = await tenantWithDeleted()
      const before = await everything(tenantId)
      for (const secret of SECRETS) assert.ok(before.includes(secret), secret)
      isInterrupted = await erasePersonalData(tenantId, id, mortal(callCount)).then(
        () => false,
        () => true,
      )
      await erasePersonalData(tenantId, id, deps)
      const after = await everything(tenantId)
      for (const secret of SECRETS) assert.ok(!after.includes(secret), `${secret} after ${callCount} calls`)
      for (const kept of [id, ACCOUNT, 'Other Name', 'Nurses']) assert.ok(after.includes(kept), kept)
    }
  })

  for (const [claim, changeCount] of [
    ['is completed although others change meanwhile what is to be erased', 10],
    ['is refused while others change again and again what is to be erased, and completed by its repetition', 10_000],
  ] as const) {
    it(claim, async () => {
      const { tenantId, id } = await tenantWithDeleted()
      const jobs = container('jobs')
      let changesLeft = changeCount
      const changed = directDatabase(cosmos, async (call) => {
        if (changesLeft > 0) {
          changesLeft -= 1
          const [job] = (await jobs.items.query('SELECT * FROM c', { partitionKey: tenantId }).fetchNext()).resources
          await jobs.item(job.id, tenantId).replace({ ...job, changesLeft })
        }
        return call()
      })
      const contested = (of: ContainerId) => (of === 'jobs' ? changed(of) : container(of))
      const erased = erasePersonalData(tenantId, id, builtService(contested, parts).connectors)
      if (changeCount > 10) {
        await assert.rejects(erased, { code: 'StaleVersion' })
        assert.ok(changesLeft > 0)
        await erasePersonalData(tenantId, id, deps)
      } else await erased
      const after = await everything(tenantId)
      for (const secret of SECRETS) assert.ok(!after.includes(secret), secret)
    })
  }

  it('keeps the expiry, also an hour later, and writes nothing when it is repeated', async () => {
    const { tenantId, id } = await tenantWithDeleted()
    const [before] = await requests.deletedObjects.ofIds(tenantId, [id])
    nowMs += 3_600_000
    await erasePersonalData(tenantId, id, deps)
    const [after] = await requests.deletedObjects.ofIds(tenantId, [id])
    assert.ok(before?.expiresAtMs !== undefined)
    assert.equal(after?.expiresAtMs, before.expiresAtMs)
    const erased = await everything(tenantId)
    await erasePersonalData(tenantId, id, deps)
    assert.equal(await everything(tenantId), erased)
  })

  it('leaves none of the texts of duplicates and of those that became one with it, one after the other', async () => {
    const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID(), randomUUID()], deps)
    const [hr = assert.fail(), payroll = assert.fail(), school = assert.fail()] = connectors
    const write = (connector: Connector, externalId: string, input: ObjectData | undefined) => {
      const names = { objectType: 'identity', externalId } as const
      const change =
        input === undefined ? { operation: 'delete' as const } : { operation: 'upsert' as const, data: input }
      return writeObjects(tenantId, connector, [{ ...names, ...change }], deps)
    }
    await write(school, 'third', { displayName: 'Erasable Third' })
    await write(payroll, 'second', { displayName: 'Erasable Second' })
    await write(hr, 'first', { displayName: 'Erasable First' })
    await write(school, 'third', { displayName: 'Erasable Third', nin: '02029012345' })
    await write(payroll, 'second', { displayName: 'Erasable Second', nin: '02029012345' })
    await write(hr, 'first', { displayName: 'Erasable First', nin: '02029012345' })
    const [person = assert.fail(), ...others] = (await deps.coreObjects.page(tenantId, 'identity', undefined, 10)).items
    assert.deepEqual(others, [])
    await write(hr, 'duplicate', { displayName: 'Erasable Duplicate', nin: '02029012345' })
    for (const externalId of ['duplicate', 'first']) await write(hr, externalId, undefined)
    await write(payroll, 'second', undefined)
    await write(school, 'third', undefined)
    await erasePersonalData(tenantId, person.id, deps)
    const after = await everything(tenantId)
    assert.deepEqual(after.match(/Erasable \w+|02029012345/g), null)
  })

  it('is refused for ids that became one with a live person, one after the other, until that person is deleted', async () => {
    const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID(), randomUUID()], deps)
    const [hr = assert.fail(), payroll = assert.fail(), school = assert.fail()] = connectors
    const write = (connector: Connector, input: ObjectData | undefined) => {
      const names = { objectType: 'identity', externalId: connector.id } as const
      const change =
        input === undefined ? { operation: 'delete' as const } : { operation: 'upsert' as const, data: input }
      return writeObjects(tenantId, connector, [{ ...names, ...change }], deps)
    }
    const live = async () =>
      (await deps.coreObjects.page(tenantId, 'identity', undefined, 10)).items.map(({ id }) => id)
    await write(school, { displayName: 'Erasable Third' })
    await write(payroll, { displayName: 'Erasable Second' })
    await write(hr, { displayName: 'Erasable First' })
    const ids = await live()
    for (const connector of [school, payroll, hr]) {
      await write(connector, { displayName: 'Erasable Name', nin: '02029012345' })
    }
    const [survivorId = assert.fail(), ...others] = await live()
    assert.deepEqual(others, [])
    const merged = await requests.deletedObjects.ofIds(tenantId, ids)
    const { id: firstMergedId } = merged.find(({ mergedInto }) => mergedInto !== survivorId) ?? assert.fail('no chain')
    const before = await everything(tenantId)
    for (const id of ids) {
      const refusal = { code: 'IdentityIsLive', message: `Identity ${survivorId} is not deleted` }
      await assert.rejects(erasePersonalData(tenantId, id, deps), refusal)
    }
    assert.equal(await everything(tenantId), before)
    for (const connector of connectors) await write(connector, undefined)
    await erasePersonalData(tenantId, firstMergedId, deps)
    assert.deepEqual((await everything(tenantId)).match(/Erasable \w+|02029012345/g), null)
  })

  it('leaves no notes of an actor who has neither submitted nor decided, also in requests of earlier releases', async () => {
    const { tenantId, id } = await tenantWithDeleted()
    const collection = { tenantId, id: randomUUID(), objectType: 'Identity' } as Collection
    const requesterId = randomUUID()
    const names = { id: randomUUID(), requesterId, submittedBy: requesterId, relationshipId: null, notes: 'Kept note' }
    const request = newRequest({ ...names, collection, status: 'Joined', at: AT })
    const extended = { status: 'Joined', actorId: id, at: AT, notes: 'Erasable note on an extension' } as const
    await requests.requests.save([{ after: { ...request, lifecycle: [...request.lifecycle, extended] } }])
    const { resource } = await container('requests').item(request.id, tenantId).read()
    const { actorIds: _actorIds, ...earlier } = resource
    const name = { id: randomUUID(), slot: randomUUID() }
    await container('requests').items.create({ ...earlier, ...name })
    await erasePersonalData(tenantId, id, deps)
    const after = await everything(tenantId)
    assert.equal(after.match(/Erasable note/g), null)
    assert.equal(after.match(/Kept note/g)?.length, 4)
  })

  it('leaves no notes of a person whose core object has expired, and can be repeated', async () => {
    const { tenantId, id } = await tenantWithDeleted()
    await container('coreObjects').item(id, tenantId).delete()
    await erasePersonalData(tenantId, id, deps)
    const after = await everything(tenantId)
    assert.equal(after.match(/Erasable note/g), null)
    for (const kept of [id, 'Other Name', 'Nurses']) assert.ok(after.includes(kept), kept)
    await erasePersonalData(tenantId, id, deps)
    assert.equal(await everything(tenantId), after)
  })

  it('is refused for an id that nothing names, and for an org unit', async () => {
    const { tenantId, write } = await tenantWithDeleted()
    await write({ operation: 'upsert', objectType: 'orgUnit', externalId: 'unit', data: { name: 'Unit' } })
    const [unit = assert.fail()] = (await deps.coreObjects.page(tenantId, 'orgUnit', undefined, 10)).items
    await write({ operation: 'delete', objectType: 'orgUnit', externalId: 'unit' })
    const before = await everything(tenantId)
    for (const id of [unit.id, randomUUID()]) {
      await assert.rejects(erasePersonalData(tenantId, id, deps), { code: 'CoreObjectNotFound' })
    }
    assert.equal(await everything(tenantId), before)
  })

  it('brings back the id with a new object of the same name, and not the data', async () => {
    const { tenantId, id, write, person } = await tenantWithDeleted()
    await erasePersonalData(tenantId, id, deps)
    await write(person('erasable', { displayName: 'New Name' }))
    assert.deepEqual((await deps.coreObjects.find(tenantId, 'identity', id))?.attributes, { displayName: 'New Name' })
    await assert.rejects(erasePersonalData(tenantId, id, deps), { code: 'IdentityIsLive' })
    await assert.rejects(erasePersonalData(tenantId, randomUUID(), deps), { code: 'CoreObjectNotFound' })
  })
})
