import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connectors/connector-object-store.ts'
import type { ConnectorObject } from '../../shared/domain/connectors/connector-object.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const database = await localDatabase()
const objects = cosmosConnectorObjectStore(database('connectorObjects'))

function newSpace() {
  const [tenantId, connectorId] = [randomUUID(), randomUUID()]
  const space = { tenantId, connectorId, softDeletionDays: 1, isDelivery: true }
  const units = (count: number) =>
    Array.from({ length: count }, () => {
      const names = { connectorId, objectType: 'orgUnit', externalId: 'x' } as const
      const object: ConnectorObject = {
        id: randomUUID(),
        ...names,
        data: {},
        coreObjectId: randomUUID(),
        references: {},
      }
      return { object, version: undefined }
    })
  return {
    units,
    open: () => objects.open(tenantId, connectorId),
    version: () => objects.version(tenantId, connectorId),
    close: (version: string) => objects.close(tenantId, connectorId, version),
    write: (count: number) => objects.write(space, units(count)),
    writeTree: (writes: ReturnType<typeof units>, version: string | undefined) =>
      objects.writeTree(space, writes, version),
    treeVersion: () => objects.treeVersion(tenantId, connectorId),
    stored: async (writes: ReturnType<typeof units>) =>
      (
        await objects.ofIds(
          tenantId,
          writes.map(({ object }) => object.id),
        )
      ).length,
  }
}

describe('a connector space', () => {
  it('accepts no writes before it is opened or after it is closed', async () => {
    const space = newSpace()
    assert.equal((await space.write(1)).size, 1)
    assert.equal(await space.open(), true)
    assert.equal((await space.write(1)).size, 0)
    await space.close((await space.version()) ?? '')
    assert.equal((await space.write(250)).size, 250)
    assert.equal((await space.writeTree(space.units(1), undefined)).size, 1)
    assert.equal(await space.version(), undefined)
  })

  it('cannot be opened again once closed, and opening an open space changes nothing', async () => {
    const space = newSpace()
    await space.open()
    const version = (await space.version()) ?? ''
    assert.equal(await space.open(), true)
    assert.equal(await space.version(), version)
    await space.close(version)
    assert.equal(await space.open(), false)
    assert.equal(await space.version(), undefined)
  })

  it('cannot be closed with a version read before the latest write', async () => {
    const space = newSpace()
    await space.open()
    const version = (await space.version()) ?? ''
    await space.write(1)
    await assert.rejects(space.close(version), { code: 'StaleVersion' })
    assert.equal((await space.write(1)).size, 0)
    await space.close((await space.version()) ?? '')
    await assert.rejects(space.close(version), { code: 'StaleVersion' })
  })
})

describe("a connector's org tree", () => {
  it('is changed in several transactions with the current version, and not with an older one', async () => {
    const space = newSpace()
    await space.open()
    const [first, second] = [space.units(250), space.units(2)]
    const version = await space.treeVersion()
    assert.equal((await space.writeTree(first, version)).size, 0)
    assert.equal(await space.stored(first), 250)
    assert.equal((await space.writeTree(second, version)).size, 2)
    assert.equal((await space.writeTree(second, await space.treeVersion())).size, 0)
  })

  it('is not changed further after the first conflict', async () => {
    const space = newSpace()
    await space.open()
    const writes = space.units(250)
    const [written] = writes.slice(120)
    await space.writeTree(written === undefined ? [] : [written], undefined)
    const unwritten = await space.writeTree(writes, await space.treeVersion())
    assert.equal(unwritten.size, 250 - 97)
    assert.equal(await space.stored(writes), 97 + 1)
  })
})
