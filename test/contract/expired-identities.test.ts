import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import { type Connector, newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { erasePersonalData } from '../../shared/domain/connectors/erase-personal-data.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { newRequest } from '../../shared/domain/membership-requests/membership-request.ts'
import { builtService } from '../support/api/built-service.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

const NOW_MS = Date.parse('2030-01-15T01:00:00Z')
const AT = '2030-01-15T01:00:00.000Z'
const NIN = '02029012345'

const { cosmos, container } = await startDirectAccount(() => NOW_MS)
cosmos.unref()
const { connectors: deps, requests } = builtService(container, { nowMs: () => NOW_MS, elapsedMs: () => NOW_MS })

/** A tenant with three connectors, which each have at most one person. */
async function tenant() {
  const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID(), randomUUID()], deps)
  const [hr = assert.fail(), payroll = assert.fail(), school = assert.fail()] = connectors
  return {
    ...{ tenantId, hr, payroll, school },
    /** @param data None deletes the person. */
    async write(connector: Connector, data?: ObjectData): Promise<void> {
      const names = { objectType: 'identity', externalId: connector.id } as const
      const change = data === undefined ? { operation: 'delete' as const } : { operation: 'upsert' as const, data }
      await writeObjects(tenantId, connector, [{ ...names, ...change }], deps)
    },
    async liveIds(): Promise<string[]> {
      return (await deps.coreObjects.page(tenantId, 'identity', undefined, 10)).items.map(({ id }) => id)
    },
    /** Saves a request that the identity has rejected with a note. @returns The note as it is stored. */
    async rejectedBy(actorId: string): Promise<() => Promise<string | undefined>> {
      const collection = { tenantId, id: randomUUID(), objectType: 'Identity' } as Collection
      const [id, requesterId] = [randomUUID(), randomUUID()]
      const names = { id, requesterId, submittedBy: requesterId, relationshipId: null, notes: null }
      const { lifecycle, ...request } = newRequest({ ...names, collection, status: 'Requested', at: AT })
      const rejected = { status: 'Rejected', actorId, at: AT, notes: 'A reason' } as const
      await requests.requests.save([{ after: { ...request, status: 'Rejected', lifecycle: [...lifecycle, rejected] } }])
      return async () => (await requests.requests.find(tenantId, id))?.value.lifecycle.at(-1)?.notes
    },
    /** The time of the soft deletion is over. */
    async expire(id: string): Promise<void> {
      await container('coreObjects').item(id, tenantId).delete()
    },
    erase: (id: string) => erasePersonalData(tenantId, id, deps),
  }
}

const refusalOf = (id: string) => ({ code: 'IdentityIsLive', message: `Identity ${id} is not deleted` })

it('A person who is restored while their data are erased keeps the data of the core object', async () => {
  const { tenantId, hr, write, liveIds } = await tenant()
  await write(hr, { displayName: 'Kari' })
  const [id = assert.fail()] = await liveIds()
  await assert.rejects(deps.personalData.eraseCoreObjects(tenantId, [id]), refusalOf(id))
  assert.deepEqual((await deps.coreObjects.find(tenantId, 'identity', id))?.attributes, { displayName: 'Kari' })
})

describe('Erasing an id whose core object has expired', () => {
  it('is refused when it became one with a live person, also by way of another id, and leaves their notes', async () => {
    const { tenantId, hr, payroll, school, write, liveIds, rejectedBy, expire, erase } = await tenant()
    for (const connector of [school, payroll, hr]) await write(connector, { displayName: 'Kari' })
    const ids = await liveIds()
    for (const connector of [school, payroll, hr]) await write(connector, { displayName: 'Kari', nin: NIN })
    const [survivorId = assert.fail(), ...others] = await liveIds()
    assert.deepEqual(others, [])
    const merged = await requests.deletedObjects.ofIds(tenantId, ids)
    const last = merged.find(({ mergedInto }) => mergedInto === survivorId) ?? assert.fail()
    const first = merged.find(({ mergedInto }) => mergedInto === last.id) ?? assert.fail('no chain')
    const notes = await Promise.all([first, last].map(({ id }) => rejectedBy(id)))
    for (const expiring of [last, first]) {
      await expire(expiring.id)
      for (const { id } of [first, last]) await assert.rejects(erase(id), refusalOf(survivorId))
    }
    assert.deepEqual(await Promise.all(notes.map((note) => note())), ['A reason', 'A reason'])
  })

  it('erases the notes of a person of whom only supplementing sources still know', async () => {
    const { tenantId, hr, write, liveIds, rejectedBy, expire, erase } = await tenant()
    const input = { name: 'Supplement', clientId: randomUUID(), authority: 'Supplement' as const }
    const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-05T00:00:00.000+00:00' }
    const supplement = newConnector(input, creation)
    await deps.connectors.add(tenantId, supplement)
    await write(hr, { displayName: 'Kari', nin: NIN })
    await write(supplement, { nin: NIN, mobile: '+47 900 00 000' })
    const [id = assert.fail(), ...others] = await liveIds()
    assert.deepEqual(others, [])
    await write(hr)
    const [known] = await deps.objects.ofCoreObjects(tenantId, [id]).then((all) => all.filter(isOf(supplement)))
    assert.deepEqual([known?.value.coreObjectId, known?.value.deletedAtMs], [id, undefined])
    const note = await rejectedBy(id)
    await expire(id)
    await erase(id)
    assert.equal(await note(), undefined)
  })

  it('is refused when a person who was split from it is live, whose notes it may have, and not before', async () => {
    const { hr, school, write, liveIds, rejectedBy, expire, erase } = await tenant()
    for (const connector of [hr, school]) await write(connector, { displayName: 'Kari', nin: NIN })
    const [id = assert.fail()] = await liveIds()
    await write(school, { displayName: 'Kari Nordmann', nin: '03039012345' })
    const apart = (await liveIds()).find((other) => other !== id) ?? assert.fail()
    await write(hr)
    const erased = await rejectedBy(id)
    await erase(id)
    const kept = await rejectedBy(id)
    await expire(id)
    await assert.rejects(erase(id), refusalOf(apart))
    assert.deepEqual([await erased(), await kept()], [undefined, 'A reason'])
  })
})

const isOf =
  ({ id }: Connector) =>
  ({ value }: { readonly value: { readonly connectorId: string } }) =>
    value.connectorId === id
