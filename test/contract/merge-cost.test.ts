import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { connectorObjectId, type ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { addMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../shared/domain/membership-requests/joinable-collection.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { builtService } from '../support/api/built-service.ts'
import { operationsDuring, startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

/** Store operations for each membership and gate of a merge. */
const OPERATIONS_PER_ITEM = 3

it('a merge of two identities with 200 memberships and 20 gates costs operations in proportion to them', async (test) => {
  const { cosmos, container } = await startDirectAccount()
  test.after(() => cosmos.close())
  const { connectors: stores, requests, evaluator } = builtService(container)
  const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID()], stores)
  const caller: Caller = { kind: 'user', tenantId, objectId: randomUUID(), clientId: undefined, roles: new Set() }
  const actor = { id: caller.objectId, identityId: undefined }

  async function write(connector: number, data: ObjectData): Promise<string> {
    const source = connectors[connector]
    assert.ok(source !== undefined)
    const named = { objectType: 'identity' as const, externalId: 'ada' }
    await writeObjects(tenantId, source, [{ operation: 'upsert', ...named, data }], stores)
    const [found] = await stores.objects.ofIds(tenantId, [
      connectorObjectId({ connectorId: source.id, ...named }, derivedId),
    ])
    return found?.value.coreObjectId ?? ''
  }
  const remaining = await write(0, { displayName: 'Ada' })
  const mergedAway = await write(1, { nin: '1' })

  const collectionIds: string[] = []
  for (let index = 0; index < 200; index += 1) {
    const approvers = [mergedAway, remaining]
    const approvalGates = index < 20 ? [{ order: 1, type: 'Identity' as const, approvers }] : []
    const joinPolicy = { approvalRequired: index < 20, approvalGates }
    const body = { objectType: 'Identity' as const, name: `Choir ${index}`, joinPolicy }
    const { id } = await createJoinableCollection(body, caller, requests)
    await addMembersDirectly(tenantId, id, { coreIdentityIds: [mergedAway] }, actor, requests)
    // In some, both are members.
    if (index % 4 === 0) await addMembersDirectly(tenantId, id, { coreIdentityIds: [remaining] }, actor, requests)
    collectionIds.push(id)
  }
  await evaluator.evaluate(tenantId)

  const startMs = performance.now()
  const operations = await operationsDuring({ cosmos }, async () => {
    await write(0, { displayName: 'Ada', nin: '1' })
    await evaluator.evaluate(tenantId)
  })
  const durationMs = performance.now() - startMs
  const count = Object.values(operations).reduce((sum, count) => sum + count, 0)
  test.diagnostic(`${durationMs.toFixed(0)} ms (limit 2,000), ${count} operations: ${JSON.stringify(operations)}`)
  assert.ok(count <= 220 * OPERATIONS_PER_ITEM, `${count} operations`)
  const live = await requests.requests.liveOf(tenantId, remaining)
  assert.deepEqual(new Set(live.map(({ value }) => value.collectionId)), new Set(collectionIds))
  assert.equal(live.length, 200)
  const policies = await requests.collections.list(tenantId, 'joinable')
  assert.ok(!JSON.stringify(policies).includes(mergedAway))
})
