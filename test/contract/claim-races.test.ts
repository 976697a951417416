import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { it } from 'node:test'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core/core-object-store.ts'
import { accountConflicts } from '../../shared/domain/connectors/account-claims.ts'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-dependencies.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { writeDependencies } from '../support/contract/connector-writes.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const deps = writeDependencies(database)
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))

/** A connector, and how identities with the given data are written through it. */
async function newSource(tenantId: string) {
  const creation = { id: randomUUID(), createdBy: randomUUID(), createdAt: '2030-01-01T00:00:00.000+00:00' }
  const connector = newConnector({ name: 'HR', clientId: randomUUID() }, creation)
  await deps.connectors.add(tenantId, connector)
  return (externalId: string, data: Readonly<Record<string, string>>, using: WriteDependencies = deps) =>
    writeObjects(tenantId, connector, [{ operation: 'upsert', objectType: 'identity', externalId, data }], using)
}

const holdersOf = async (tenantId: string, account: string) =>
  (await coreObjects.page(tenantId, 'identity', undefined, 10)).items.filter(
    ({ attributes }) => attributes.directoryObjectId === account,
  )

it('An account that two writes take without seeing each other has one holder after the later one', async () => {
  const [tenantId, directoryObjectId] = [randomUUID(), randomUUID()]
  const write = await newSource(tenantId)
  let isDue = true
  const late: typeof deps.coreObjects.write = async (...args) => {
    if (isDue) {
      isDue = false
      await write('first', { nin: '1', directoryObjectId })
    }
    return deps.coreObjects.write(...args)
  }
  await write('second', { nin: '2', directoryObjectId }, { ...deps, coreObjects: { ...deps.coreObjects, write: late } })
  const people = (await coreObjects.page(tenantId, 'identity', undefined, 10)).items
  const holders = await holdersOf(tenantId, directoryObjectId)
  assert.deepEqual([people.length, holders.length], [2, 1])
  const claimantIds = people.map(({ id }) => id).filter((id) => holders.every((holder) => holder.id !== id))
  assert.deepEqual(await accountConflicts(tenantId, deps.coreObjects), [
    { directoryObjectId, holderId: holders[0]?.id, claimantIds },
  ])
})

it('An account that an identity lets go during a merge is taken first by who waits for it, also after a conflict', async () => {
  const [tenantId, released, taken] = [randomUUID(), randomUUID(), randomUUID()]
  const [writeHr, writeCards] = [await newSource(tenantId), await newSource(tenantId)]
  await writeHr('releasing', { directoryObjectId: released })
  await writeHr('waiting', { displayName: 'Ada', directoryObjectId: released })
  await writeCards('card', { directoryObjectId: taken })
  const [holder] = await holdersOf(tenantId, released)
  const holderCounts: number[] = []
  let hasConflict = false
  const write: typeof deps.coreObjects.write = async (id, writes, days) => {
    const isTaking = writes.some(({ object }) => object.attributes.displayName === 'Ada')
    if (isTaking && !hasConflict) {
      hasConflict = true
      await writeHr('waiting', { displayName: 'Ada', mobile: '1', directoryObjectId: released })
    }
    const conflicts = await deps.coreObjects.write(id, writes, days)
    holderCounts.push((await holdersOf(tenantId, released)).length)
    return conflicts
  }
  await writeHr('releasing', { directoryObjectId: taken }, { ...deps, coreObjects: { ...deps.coreObjects, write } })
  assert.ok(hasConflict)
  assert.notEqual((await holdersOf(tenantId, released))[0]?.id, holder?.id)
  assert.ok(!holderCounts.includes(0), `${holderCounts} holders after the writes`)
})
