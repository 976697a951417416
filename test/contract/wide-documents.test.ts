import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import type { LocalCosmos } from '../../infra/local/cosmos/cosmos-server.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { builtService } from '../support/api/built-service.ts'
import { directDatabase } from '../support/contract/direct-database.ts'
import { startDirectAccount } from '../support/contract/local-database.ts'
import { newSourceTenant } from '../support/contract/source-tenant.ts'

/** What a thread parses in about 5 ms. A response of Cosmos can have 4 MB. */
const RESPONSE_LIMIT_BYTES = 1_000_000

const OBJECTS_COUNT = 400
const VALUES_PER_OBJECT_COUNT = 100

const { cosmos } = await startDirectAccount()
cosmos.unref()
let largestBytes = 0
const observed: LocalCosmos = {
  ...cosmos,
  answer(operation, request) {
    const answer = cosmos.answer(operation, request)
    largestBytes = Math.max(largestBytes, Buffer.byteLength(answer.body ?? ''))
    return answer
  },
}

it('A response of the database has at most 1 MB while a large batch is written, loaded and written again', async () => {
  const { connectors, collections } = builtService(directDatabase(observed))
  const { tenantId, connectors: sources } = await newSourceTenant([randomUUID()], connectors)
  const [source] = sources
  assert.ok(source !== undefined)
  const deliver = async (delivery: number) => {
    const writes = Array.from({ length: OBJECTS_COUNT }, (_, index) => {
      const values = Array.from({ length: VALUES_PER_OBJECT_COUNT }, (_, at) => [`custom/name ${at}`, `${index}.${at}`])
      const data: ObjectData = { displayName: `Person ${delivery}`, ...Object.fromEntries(values) }
      return { operation: 'upsert' as const, objectType: 'identity' as const, externalId: String(index), data }
    })
    await writeObjects(tenantId, source, writes, connectors)
  }
  await deliver(1)
  assert.equal((await collections.snapshots.fresh(tenantId)).objectCount, OBJECTS_COUNT)
  await deliver(2)
  await collections.snapshots.fresh(tenantId)
  assert.ok(largestBytes > RESPONSE_LIMIT_BYTES / 4, `${largestBytes} bytes: pages are small`)
  assert.ok(largestBytes <= RESPONSE_LIMIT_BYTES, `${largestBytes} bytes`)
})
