import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import type { Items } from '@azure/cosmos'
import { cosmosJobStore } from '../../shared/cosmos/job-store.ts'
import { cosmosLinkStore } from '../../shared/cosmos/link-store.ts'
import { createCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import type { Directory } from '../../shared/domain/group-links/directory.ts'
import { type Lease, newLink } from '../../shared/domain/group-links/group-link.ts'
import { changeLink, LeaseLost, renewLease } from '../../shared/domain/group-links/lease.ts'
import { newJob } from '../../shared/domain/group-links/sync-job.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { builtService, faultLog } from '../api/built-service.ts'
import { databaseOfInstances, type Instance, STOPPED } from './instances.ts'
import { operationsDuring } from './local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const { cosmos, newInstance } = await databaseOfInstances()

const CALLER: Omit<Caller, 'tenantId'> = {
  kind: 'application',
  objectId: randomUUID(),
  clientId: undefined,
  roles: new Set(),
}
const PERSON = { objectType: 'identity', deleted: false, contributors: [] } as const
const LEAF = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'A person' } as const
const PEOPLE = {
  objectType: 'Identity',
  name: 'People',
  condition: { groupOperator: 'AND', conditions: [LEAF] },
} as const

const lease = (token: number): Lease => ({ owner: `worker ${token}`, expiresAtMs: NOW_MS + 60_000, token })

describe('A worker with lagging reads', () => {
  beforeEach(() => cosmos.setReplicaLag(undefined))

  it('detects before its next step that another worker has acquired the lease, regardless of their clocks', async () => {
    const [one, other] = [newInstance(), newInstance()].map(({ container }) => cosmosLinkStore(container('links')))
    assert.ok(one !== undefined && other !== undefined)
    const [tenantId, linkId] = [randomUUID(), randomUUID()]
    const input = { collectionId: randomUUID(), directoryGroupId: randomUUID(), directoryGroupDisplayName: null }
    await one.add(newLink({ ...input, tenantId, id: linkId }, NOW_MS))
    await changeLink(tenantId, linkId, (current) => ({ ...current, lease: lease(1) }), { links: one })
    cosmos.setReplicaLag(STOPPED)
    const held = { tenantId, linkId, lease: lease(1) }
    const deps = { links: one, leaseMs: 60_000, nowMs: () => NOW_MS }
    assert.equal((await renewLease(held, deps)).link.lease?.token, 1)
    await changeLink(tenantId, linkId, (current) => ({ ...current, lease: lease(2) }), { links: other })
    await assert.rejects(renewLease(held, deps), LeaseLost)
  })

  it('does not take the link of a new job for a deleted one', async () => {
    const [one, other] = [newInstance(), newInstance()]
    const [tenantId, linkId] = [randomUUID(), randomUUID()]
    const input = { collectionId: randomUUID(), directoryGroupId: randomUUID(), directoryGroupDisplayName: null }
    const link = newLink({ ...input, tenantId, id: linkId }, NOW_MS)
    const job = newJob({ id: randomUUID(), type: 'LinkCreated' }, link, NOW_MS)
    const directory = { readGroup: () => Promise.reject(new Error('The directory is away')) } as unknown as Directory
    const worker = builtService(other.container, { nowMs: () => NOW_MS, directory, sleep: async () => undefined })
    // It has seen the tenant before the link was created.
    assert.equal(await worker.links.links.find(tenantId, linkId), undefined)
    cosmos.setReplicaLag({ ...STOPPED, containers: ['links'] })
    await cosmosLinkStore(one.container('links')).add(link)
    await cosmosJobStore(one.container('jobs'), one.container('tenants'), Date.now).add(job)
    await runSyncJob({ tenantId, jobId: job.id }, worker.links)
    assert.equal((await worker.links.jobs.find(tenantId, job.id))?.value.status, 'Queued')
  })
})

/** The evaluation writes the members of each in a batch of its own. */
const COLLECTIONS_COUNT = 12

describe('An evaluator that has just started', () => {
  beforeEach(() => cosmos.setReplicaLag(undefined))
  const faults: unknown[] = []
  const start = ({ container, session }: Instance = newInstance()) =>
    builtService(container, { databaseSession: session, nowMs: () => NOW_MS, log: faultLog(faults) })

  /** A tenant of which one evaluator has evaluated the collections: Anna is their member, Bo is nobody's. */
  const evaluatedTenant = async () => {
    const tenantId = randomUUID()
    const [anna, bo] = [randomUUID(), randomUUID()].toSorted()
    assert.ok(anna !== undefined && bo !== undefined)
    const write = (id: string, displayName: string) =>
      newInstance()
        .container('coreObjects')
        .items.upsert({ ...PERSON, id, externalId: id, tenantId, attributes: { displayName } })
    const { collections, evaluator } = start()
    const ids: string[] = []
    for (let index = 0; index < COLLECTIONS_COUNT; index += 1) {
      ids.push((await createCriteriaCollection(PEOPLE, { ...CALLER, tenantId }, collections)).id)
    }
    await write(anna, 'A person')
    await write(bo, 'Nobody')
    await evaluator.evaluate(tenantId)
    return { tenantId, anna, bo, ids, write }
  }

  const membersOf = async (tenantId: string, ids: readonly string[]) => {
    const { memberships } = start().collections
    const members = ids.map(async (id) => {
      const { head, ids: found } = (await memberships.members(tenantId, id)) ?? {}
      return [head?.membershipVersion, found]
    })
    return Promise.all(members)
  }

  it('reads the heads of many collections in one query, as the evaluator before it has left them', async () => {
    const { tenantId, anna, bo, ids, write } = await evaluatedTenant()
    cosmos.setReplicaLag({ ...STOPPED, containers: ['members'] })
    await write(bo, 'A person')
    await start().evaluator.evaluate(tenantId)
    await write(anna, 'Nobody')
    const third = start()
    const { query = 0, batch = 0 } = await operationsDuring({ cosmos }, () => third.evaluator.evaluate(tenantId))
    assert.ok(batch < 2 * COLLECTIONS_COUNT, `${batch} batches, ${query} queries`)
    assert.deepEqual(faults, [])
    cosmos.setReplicaLag(undefined)
    const expected = ids.map(() => [3, [bo]])
    assert.deepEqual(await membersOf(tenantId, ids), expected)
  })

  it('finds the members that a failed evaluator has written without an answer', async () => {
    const { tenantId, anna, bo, ids, write } = await evaluatedTenant()
    cosmos.setReplicaLag({ ...STOPPED, containers: ['members'] })
    await write(bo, 'A person')
    const second = newInstance()
    await assert.rejects(start({ ...second, container: losingAnswers(second) }).evaluator.evaluate(tenantId), LOST)
    await write(bo, 'Nobody')
    await start().evaluator.evaluate(tenantId)
    cosmos.setReplicaLag(undefined)
    for (const [, members] of await membersOf(tenantId, ids)) assert.deepEqual(members, [anna])
    assert.deepEqual(faults, [])
  })
})

const LOST = /The answer was lost/

/** An instance whose writes of members are done, and whose session does not see their answers. */
function losingAnswers({ session, container }: Instance): Instance['container'] {
  const sender = newInstance()
  const items = container('members').items
  const batch: Items['batch'] = async (operations, ...options) => {
    if (operations.every(({ operationType }) => operationType === 'Read')) return items.batch(operations, ...options)
    sender.session.advance(session.tokens())
    await sender.container('members').items.batch(operations, ...options)
    throw new Error('The answer was lost')
  }
  const members = Object.create(container('members'), {
    items: { value: Object.create(items, { batch: { value: batch } }) },
  })
  return (id) => (id === 'members' ? members : container(id))
}
