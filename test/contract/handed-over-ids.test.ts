import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import { connectorObjectId, type ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { erasePersonalData } from '../../shared/domain/connectors/erase-personal-data.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { builtService } from '../support/api/built-service.ts'
import { interruptedWrites } from '../support/contract/connector-writes.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

const NOW_MS = Date.parse('2030-01-15T01:00:00Z')
const [ADA, BO] = [{ nin: '01017012345' }, { nin: '02027012345' }]

const { cosmos, container } = await startDirectAccount(() => NOW_MS)
cosmos.unref()
const { connectors: deps } = builtService(container, { nowMs: () => NOW_MS, elapsedMs: () => NOW_MS })
/** Interrupts the write after the connector objects and before the core objects. */
const dying = () =>
  interruptedWrites(deps)('coreObjectsReferringTo', 'before', () => Promise.reject(new Error('The process died')))

const person = (externalId: string, data: ObjectData): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}
const gone = (externalId: string): ObjectWrite => ({ operation: 'delete', objectType: 'identity', externalId })

/** A tenant with three connectors. HR has Ada as `p1`. */
async function tenant() {
  const { tenantId, connectors } = await newSourceTenant([randomUUID(), randomUUID(), randomUUID()], deps)
  const [older = assert.fail(), hr = assert.fail(), younger = assert.fail()] = connectors
  const write = async (connector: Connector, writes: readonly ObjectWrite[], using = deps) =>
    (await writeObjects(tenantId, connector, writes, using)).map(({ outcome }) => outcome)
  const coreIdOf = async (externalId: string, { id: connectorId } = hr): Promise<string> => {
    const id = connectorObjectId({ connectorId, objectType: 'identity', externalId }, derivedId)
    return (await deps.objects.ofIds(tenantId, [id]))[0]?.value.coreObjectId ?? assert.fail()
  }
  await write(hr, [person('p1', ADA)])
  const ada = await coreIdOf('p1')
  return {
    ...{ older, hr, younger, ada, write, coreIdOf },
    audit: () => auditCoreObjects({ tenantId, after: '0', beganAtMs: NOW_MS }, deps),
    erase: (id: string) => erasePersonalData(tenantId, id, deps),
    /** The time of its soft deletion is over. */
    async expire(id: string): Promise<void> {
      for (const { value } of await deps.objects.ofCoreObjects(tenantId, [id])) {
        await container('connectorObjects').item(value.id, tenantId).delete()
      }
      await container('coreObjects').item(id, tenantId).delete()
    },
    /** Whether the core object of Ada is deleted, and into which one it was merged. */
    async fate(): Promise<readonly [isDeleted: boolean | undefined, mergedInto: string | undefined]> {
      const [found] = await deps.coreObjects.mergedOfIds(tenantId, [ada])
      return [found?.value.deleted, found?.value.mergedInto]
    },
  }
}

describe('A person who gets the external id of a deleted one', () => {
  it('is another one, also when the deletion and the creation are interrupted, and is not created twice', async () => {
    const { hr, ada, write, coreIdOf, fate, audit } = await tenant()
    await assert.rejects(write(hr, [gone('p1')], dying()))
    await assert.rejects(write(hr, [person('p1', BO)], dying()))
    const bo = await coreIdOf('p1')
    assert.notEqual(bo, ada)
    assert.deepEqual(await write(hr, [person('p1', BO)]), ['unchanged'])
    await write(hr, [person('p1', { ...BO, displayName: 'Bo' })])
    assert.equal(await coreIdOf('p1'), bo)
    await audit()
    assert.deepEqual(await fate(), [true, undefined])
  })

  it('keeps the core id when the number is corrected', async () => {
    const { hr, ada, write, coreIdOf } = await tenant()
    await write(hr, [person('p1', BO)])
    assert.equal(await coreIdOf('p1'), ada)
  })

  it('joins others as a new one, and has no core object of the former one when it parts from them', async () => {
    const { older, hr, ada, write, coreIdOf, expire } = await tenant()
    await write(hr, [gone('p1')])
    await write(older, [person('bo', BO)])
    await write(hr, [person('p1', BO)])
    const joined = await coreIdOf('bo', older)
    assert.equal(await coreIdOf('p1'), joined)
    await expire(ada)
    await write(hr, [person('p1', { nin: '03037012345' })])
    assert.ok(![ada, joined].includes(await coreIdOf('p1')))
  })

  it('leaves the former one what it was when one that was the same person once is written', async () => {
    const { younger, hr, ada, write, coreIdOf, fate } = await tenant()
    await write(younger, [person('cy', ADA)])
    assert.equal(await coreIdOf('cy', younger), ada)
    await write(younger, [person('cy', { nin: '03037012345' })])
    await write(hr, [gone('p1')])
    await write(hr, [person('p1', BO)])
    await write(younger, [person('cy', { nin: '03037012345', displayName: 'Cy' })])
    assert.deepEqual(await fate(), [true, undefined])
  })

  it('has a core id of its own under a name that is said to be the new one of the former person', async () => {
    const { hr, ada, write, coreIdOf, fate } = await tenant()
    await write(hr, [gone('p1')])
    await write(hr, [{ ...person('p2', BO), previousExternalId: 'p1' } as ObjectWrite])
    assert.notEqual(await coreIdOf('p2'), ada)
    assert.deepEqual(await fate(), [true, undefined])
  })

  it('does not stop the erasure of the former one, before and after that has expired', async () => {
    for (const hasExpired of [false, true]) {
      const { hr, ada, write, erase, expire } = await tenant()
      await write(hr, [gone('p1')])
      await write(hr, [person('p1', BO)])
      if (!hasExpired) await erase(ada)
      await expire(ada)
      await assert.rejects(erase(ada), { code: 'CoreObjectNotFound' })
    }
  })
})

describe('A deleted person whose external id another one has got', () => {
  it('has the core object again under another external id, and under the same one', async () => {
    for (const externalId of ['p1', 'p2']) {
      const { hr, ada, write, coreIdOf, fate } = await tenant()
      await write(hr, [gone('p1')])
      await write(hr, [person('p1', BO)])
      const bo = await coreIdOf('p1')
      if (externalId === 'p1') await write(hr, [gone('p1')])
      await write(hr, [person(externalId, ADA)])
      assert.equal(await coreIdOf(externalId), ada)
      assert.deepEqual(await fate(), [false, undefined])
      if (externalId === 'p2') assert.equal(await coreIdOf('p1'), bo)
    }
  })

  it('can have it in the same batch, in either order', async () => {
    for (const isFirst of [false, true]) {
      const { hr, ada, write, coreIdOf } = await tenant()
      await write(hr, [gone('p1')])
      const batch = [person('p1', BO), person('p2', ADA)]
      assert.deepEqual(await write(hr, isFirst ? batch.toReversed() : batch), ['created', 'created'])
      assert.equal(await coreIdOf('p2'), ada)
      assert.notEqual(await coreIdOf('p1'), ada)
    }
  })
})
