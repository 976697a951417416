import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { auditCoreObjects } from '../../shared/domain/connectors/audit-core-objects.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { builtService } from '../support/api/built-service.ts'
import { mortalDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant, recordsOf } from '../support/contract/source-tenant.ts'

const { cosmos, container } = await startDirectAccount(Date.now)
cosmos.unref()
const { connectors: deps } = builtService(container)

/** A service that ends before its call of the database of this number. */
const mortal = (callsLeft: number) => builtService(mortalDatabase(cosmos, callsLeft)).connectors

const upsert = (
  objectType: ObjectType,
  externalId: string,
  data: ObjectData,
  previousExternalId?: string,
): ObjectWrite => ({
  ...{ operation: 'upsert', objectType, externalId, data },
  ...(previousExternalId && { previousExternalId }),
})
const to = (externalId: string) => ({ externalId })

it('A renaming that is interrupted anywhere loses no core object and no reference, and completes when repeated', async () => {
  let isInterrupted = true
  let interruptedCount = 0
  for (let callCount = 1; isInterrupted; callCount += 1) {
    const ids = [randomUUID(), randomUUID()]
    const tenant = await newSourceTenant(ids, deps)
    const { tenantId, connectors } = tenant
    const [hr = assert.fail(), directory = assert.fail()] = connectors
    const objects = [
      upsert('identity', 'a', { nin: '1' }),
      upsert('orgUnit', 'u', { manager: to('a') }),
      upsert('orgUnit', 'below', { parent: to('u') }),
      upsert('relationship', 'r', { identity: to('a'), orgUnit: to('u') }),
    ]
    await writeObjects(tenantId, hr, objects, deps)
    await writeObjects(tenantId, directory, [upsert('identity', 'd', { nin: '1', displayName: 'Ada' })], deps)
    const coreIds = async () => {
      const types = ['identity', 'orgUnit', 'relationship'] as const
      const pages = await Promise.all(types.map((type) => deps.coreObjects.page(tenantId, type, undefined, 100)))
      return pages.flatMap(({ items }) => items.map(({ id }) => id)).sort()
    }
    const attributes = async () =>
      (await deps.coreObjects.mergedOfIds(tenantId, await coreIds()))
        .map(({ value }) => ({ id: value.id, attributes: value.attributes }))
        .sort((left, right) => (left.id < right.id ? -1 : 1))
    const before = await attributes()
    const renames = [
      upsert('identity', 'a 2', { nin: '1' }, 'a'),
      upsert('orgUnit', 'u 2', { manager: to('a 2') }, 'u'),
      upsert('relationship', 'r 2', { identity: to('a'), orgUnit: to('u') }, 'r'),
    ]
    isInterrupted = await writeObjects(tenantId, hr, renames, mortal(callCount)).then(
      () => false,
      () => true,
    )
    interruptedCount += Number(isInterrupted)
    await auditCoreObjects({ tenantId, after: '0', beganAtMs: 1 }, deps)
    assert.deepEqual(await attributes(), before, `after ${callCount} calls`)
    const outcomes = await writeObjects(tenantId, hr, renames, deps)
    assert.ok(outcomes.every(({ outcome }) => outcome === 'updated' || outcome === 'unchanged'))
    assert.deepEqual(await attributes(), before)
    const stored = (await deps.objects.page(tenantId, hr.id, undefined, undefined, 100)).items
    const references = stored.flatMap(({ data }) =>
      Object.values(data).flatMap((value) =>
        typeof value === 'object' && 'externalId' in value ? value.externalId : [],
      ),
    )
    assert.deepEqual(references.sort(), ['a 2', 'a 2', 'u 2', 'u 2'])
    await recordsOf(tenant, deps)
  }
  assert.ok(interruptedCount > 10)
})
