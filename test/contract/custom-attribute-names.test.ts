import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosCustomAttributeNameStore } from '../../shared/cosmos/tenants/custom-attribute-name-store.ts'
import {
  type CustomAttributeNameStore,
  CustomAttributeRegister,
} from '../../shared/domain/connectors/custom-attribute-names.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const container = await localDatabase()

const LIMIT_COUNT = 10

/** An instance of the service, with a count of its reads and writes of the store. */
function instance() {
  const store = cosmosCustomAttributeNameStore(container('tenants'))
  const used = { reads: 0, writes: 0 }
  const counted: CustomAttributeNameStore = {
    find: (tenantId) => {
      used.reads += 1
      return store.find(tenantId)
    },
    save: (...saved) => {
      used.writes += 1
      return store.save(...saved)
    },
  }
  const register = new CustomAttributeRegister(counted, LIMIT_COUNT)
  /** Registers the names of one object. @returns Whether the object is refused. */
  const isRefused = async (tenantId: string, ...names: string[]) =>
    (await register.register(tenantId, [{ objectType: 'identity', names }])).size > 0
  return { register, isRefused, used, stored: async (tenantId: string) => (await store.find(tenantId))?.value.identity }
}

const names = (from: number, count: number) => Array.from({ length: count }, (_, index) => `custom/${from + index}`)

describe('The names of custom attributes', () => {
  it('are at most so many, and an object with one more adds none of its names', async () => {
    const tenantId = randomUUID()
    const { isRefused, stored } = instance()
    assert.equal(await isRefused(tenantId, ...names(0, 9)), false)
    assert.equal(await isRefused(tenantId, ...names(8, 3)), true)
    assert.equal(await isRefused(tenantId, ...names(9, 1)), false)
    assert.equal(await isRefused(tenantId, ...names(10, 1)), true)
    assert.deepEqual(await stored(tenantId), names(0, 10))
  })

  it('are limited for each tenant and object type', async () => {
    const { register, isRefused } = instance()
    const tenantId = randomUUID()
    assert.equal(await isRefused(tenantId, ...names(0, 10)), false)
    assert.equal(await isRefused(randomUUID(), ...names(10, 10)), false)
    const added = { objectType: 'orgUnit', names: names(10, 10) } as const
    assert.equal((await register.register(tenantId, [added])).size, 0)
  })

  it('are read and written once, however often objects with them are written', async () => {
    const tenantId = randomUUID()
    const { isRefused, used } = instance()
    for (let time = 0; time < 5; time += 1) await isRefused(tenantId, ...names(0, 5))
    await isRefused(tenantId)
    assert.deepEqual(used, { reads: 1, writes: 1 })
  })

  it('do not exceed the limit when several instances add names at once', async () => {
    const tenantId = randomUUID()
    const instances = Array.from({ length: 4 }, instance)
    const added = await Promise.all(
      instances.flatMap(({ isRefused }, writer) =>
        Array.from({ length: 5 }, async (_, index) => {
          const name = `custom/${writer}-${index}`
          return (await isRefused(tenantId, name)) ? [] : [name]
        }),
      ),
    )
    assert.equal(added.flat().length, LIMIT_COUNT)
    assert.deepEqual((await instance().stored(tenantId))?.toSorted(), added.flat().sort())
  })

  it('are registered again after a failed save', async () => {
    const tenantId = randomUUID()
    const store = cosmosCustomAttributeNameStore(container('tenants'))
    let isAway = true
    const failing: CustomAttributeNameStore = {
      find: (id) => store.find(id),
      async save(...saved) {
        if (isAway) throw new Error('The database is away')
        return store.save(...saved)
      },
    }
    const register = new CustomAttributeRegister(failing, LIMIT_COUNT)
    const added = [{ objectType: 'identity', names: ['custom/shift'] }] as const
    await assert.rejects(register.register(tenantId, added), /The database is away/)
    isAway = false
    await register.register(tenantId, added)
    assert.deepEqual((await store.find(tenantId))?.value.identity, ['custom/shift'])
  })
})
