import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { Overrides } from '../../functions/app/service.ts'
import { criteriaRoutes } from '../../functions/routes/collections-criteria.ts'
import { joinableRoutes } from '../../functions/routes/collections-joinable.ts'
import { connectorRoutes } from '../../functions/routes/connectors.ts'
import { groupLinkRoutes } from '../../functions/routes/group-link.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { builtService } from '../support/api/built-service.ts'
import {
  application,
  CONNECTORS,
  remove,
  sendTo,
  type TestAnswer,
  upsert,
  user,
} from '../support/api/core-data-service.ts'
import { localAccount } from '../support/contract/local-database.ts'
import { TENANT } from '../support/jobs/link-directory.ts'
import { openFixture } from '../support/jobs/link-fixture.ts'

const { container } = await localAccount()

const codes = ({ status, body }: TestAnswer) => [status, body.errors[0]?.code]
const CREATED = [201, undefined]
const EXCEEDED = [409, 'QuotaExceeded']

/** Requests to a service with these limits. */
function serviceWith(tenantLimits: NonNullable<Overrides['tenantLimits']>) {
  const { connectors, requests, dispatch } = builtService(container, { tenantLimits })
  const groups = [connectorRoutes(connectors), criteriaRoutes(requests), joinableRoutes(requests)]
  return (caller: Caller) => sendTo(groups, caller, dispatch)
}

const writerOf = (tenantId: string) =>
  application(tenantId, randomUUID(), 'collections-criteria.criteria.readwrite.all')

describe('A tenant that has used up a quota', () => {
  it('creates no other collection of either kind until one is deleted', async () => {
    const as = serviceWith({ collections: 2 })
    const send = as(writerOf(randomUUID()))
    const leaf = { id: 'identityId', field: 'identityId', operator: 'IsNull' }
    const condition = { groupOperator: 'AND', conditions: [leaf] }
    const criteria = () => send('POST', '/collections-criteria/beta', { objectType: 'Identity', name: 'A', condition })
    const joinPolicy = { approvalRequired: false }
    const joinable = () => send('POST', '/collections-joinable/beta', { objectType: 'Identity', name: 'B', joinPolicy })
    const first = await criteria()
    assert.deepEqual([codes(first), codes(await joinable())], [CREATED, CREATED])
    assert.deepEqual([codes(await criteria()), codes(await joinable())], [EXCEEDED, EXCEEDED])
    const other = as(writerOf(randomUUID()))
    const body = { objectType: 'Identity', name: 'C', condition }
    assert.deepEqual(codes(await other('POST', '/collections-criteria/beta', body)), CREATED)
  })

  it('creates and changes no definition beyond the bytes of all definitions together', async () => {
    const send = serviceWith({ definitionBytes: 1_000 })(writerOf(randomUUID()))
    const bodyOf = (length: number) => {
      const leaf = {
        id: 'identityDisplayName',
        field: 'identityDisplayName',
        operator: 'Equals',
        value: 'x'.repeat(length),
      }
      return { objectType: 'Identity', name: 'A', condition: { groupOperator: 'AND', conditions: [leaf] } }
    }
    const first = await send('POST', '/collections-criteria/beta', bodyOf(300))
    assert.deepEqual(codes(first), CREATED)
    assert.deepEqual(codes(await send('POST', '/collections-criteria/beta', bodyOf(700))), EXCEEDED)
    const path = `/collections-criteria/beta/${first.body.data}`
    assert.deepEqual(codes(await send('PUT', path, bodyOf(950))), EXCEEDED)
    assert.deepEqual(codes(await send('PUT', path, bodyOf(100))), [200, undefined])
    assert.deepEqual(codes(await send('POST', '/collections-criteria/beta', bodyOf(500))), CREATED)
  })

  it('creates no more connectors than the limit, however many requests come at once', async () => {
    const send = serviceWith({ connectors: 10 })(user(randomUUID(), randomUUID(), 'Administrator'))
    const create = async () => codes(await send('POST', CONNECTORS, { name: 'HR', clientId: randomUUID() }))
    const outcomes = await Promise.all(Array.from({ length: 30 }, create))
    assert.equal(outcomes.filter(([status]) => status === 201).length, 10)
    assert.equal(((await send('GET', CONNECTORS)).body.data as unknown as unknown[]).length, 10)
  })

  it('creates no other connector', async () => {
    const send = serviceWith({ connectors: 2 })(user(randomUUID(), randomUUID(), 'Administrator'))
    const create = async () => codes(await send('POST', CONNECTORS, { name: 'HR', clientId: randomUUID() }))
    assert.deepEqual([await create(), await create(), await create()], [CREATED, CREATED, EXCEEDED])
  })

  it('creates no other connector objects, and goes on to change, delete and restore those that it has', async () => {
    const as = serviceWith({ connectorObjects: 10 })
    const [tenantId, clientId] = [randomUUID(), randomUUID()]
    const admin = as(user(tenantId, randomUUID(), 'Administrator'))
    const { body } = await admin('POST', CONNECTORS, { name: 'HR', clientId })
    const send = as(application(tenantId, clientId, 'iam-core.connector-data.readwrite.self'))
    const batch = async (...items: object[]) => {
      const answer = await send('POST', `${CONNECTORS}/${body.data}/data/batch`, { items })
      return answer.body.data.map(({ status, errors }: { status: number; errors?: { code: string }[] }) =>
        errors === undefined ? status : errors[0]?.code,
      )
    }
    const people = (count: number) => Array.from({ length: count }, (_, index) => upsert('identity', `${index}`, {}))
    const results = await batch(...people(12))
    const createdCount = results.filter((result: unknown) => result === 201).length
    // The document that guards the connector's space counts as well.
    assert.ok(createdCount === 9 || createdCount === 10, results.join())
    assert.deepEqual(new Set(results.slice(createdCount)), new Set(['QuotaExceeded']))
    assert.deepEqual(await batch(upsert('identity', '0', { displayName: 'Ada' }), remove('identity', '1')), [200, 200])
    assert.deepEqual(await batch(upsert('identity', '1', {}), upsert('identity', 'new', {})), [201, 'QuotaExceeded'])
    const single = { objectType: 'identity', externalId: 'single', data: {} }
    assert.deepEqual(codes(await send('POST', `${CONNECTORS}/${body.data}/data`, single)), EXCEEDED)
  })

  it('creates no other group link', async () => {
    const fixture = await openFixture()
    after(() => fixture.close())
    const { links, dispatch } = fixture.newService({
      tenantLimits: { links: 1 },
      linkedCollections: fixture.deps.collections,
    })
    const caller = application(TENANT, randomUUID(), 'collections-criteria.criteria.readwrite.all')
    const send = sendTo([groupLinkRoutes(links)], caller, dispatch)
    const { collectionId } = await fixture.linked([])
    const groupId = await fixture.newGroup()
    const answer = await send('POST', '/group-link/beta/group-links', { collectionId, directoryGroupId: groupId })
    assert.deepEqual(codes(answer), EXCEEDED)
  })
})
