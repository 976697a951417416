import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cosmosConnectorObjectStore } from '../../shared/cosmos/connector-object-store.ts'
import { cosmosCoreObjectStore } from '../../shared/cosmos/core-object-store.ts'
import { type Connector, newConnector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectData } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { type WriteDependencies, writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { type AttributeValue, OBJECT_TYPES, type ObjectType } from '../../shared/domain/core/core-object.ts'
import { writeDependencies } from './connector-writes.ts'
import { localDatabase } from './local-database.ts'

const RUNS_COUNT = 20

const database = await localDatabase()
const deps = writeDependencies(database)
const coreObjects = cosmosCoreObjectStore(database('coreObjects'))
const connectorObjects = cosmosConnectorObjectStore(database('connectorObjects'))

/** The store call at which a process ends. `ordinal` counts calls of the same method from 0. */
type Death = { readonly method: string; readonly ordinal: number; readonly when: 'before' | 'after' }

/** One batch of a connector, and the call at which its process ends; undefined when it completes. */
type Batch = { readonly connector: number; readonly writes: readonly ObjectWrite[]; readonly death: Death | undefined }

const name = fc.constantFrom('1', '2', '3')
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const reference = maybe(name.map((externalId) => ({ externalId })))
/** Few keys, so that most identities share one. */
const key = fc.constantFrom('1', '2', '3')
const dataOf: Record<ObjectType, fc.Arbitrary<Readonly<Record<string, unknown>>>> = {
  identity: fc.record({
    displayName: maybe(fc.constantFrom('a', 'b')),
    nin: maybe(key),
    directoryObjectId: maybe(key.map((digit) => `0a0a0a0a-0000-4000-8000-00000000000${digit}`)),
  }),
  // Without parents, because the order decides which unit of a cycle is refused.
  orgUnit: fc.record({ manager: reference, displayName: maybe(fc.constantFrom('a', 'b')) }),
  relationship: fc.record({ title: maybe(fc.constantFrom('a', 'b')), identity: reference, orgUnit: reference }),
}
const write: fc.Arbitrary<ObjectWrite> = fc
  .tuple(fc.constantFrom(...Array.from({ length: 6 }, () => 'identity' as const), ...OBJECT_TYPES), name)
  .chain(([objectType, externalId]) =>
    fc.option(dataOf[objectType], { nil: undefined, freq: 3 }).map((data): ObjectWrite => {
      if (data === undefined) return { operation: 'delete', objectType, externalId }
      const given = Object.entries(data).filter(([, value]) => value !== undefined)
      return { operation: 'upsert', objectType, externalId, data: Object.fromEntries(given) as ObjectData }
    }),
  )
const nameOf = ({ objectType, externalId }: Pick<ObjectWrite, 'objectType' | 'externalId'>): string =>
  `${objectType} ${externalId}`
/** Most processes end between two writes. */
const death: fc.Arbitrary<Death> = fc.record({
  method: fc.constantFrom('write', 'writeTree', 'coreObjectsReferringTo', 'mergedOfIds', 'open'),
  ordinal: fc.nat({ max: 2 }),
  when: fc.constantFrom('before', 'after'),
})
const batch: fc.Arbitrary<Batch> = fc.record({
  connector: fc.constantFrom(0, 1),
  writes: fc.uniqueArray(write, { minLength: 1, maxLength: 3, selector: nameOf }),
  death: fc.option(death, { nil: undefined, freq: 3 }),
})

class Died extends Error {}

/** The same stores for a process that ends at a call. Calls sent before are completed. */
function mortal({ method: last, ordinal, when }: Death) {
  let callsCount = 0
  let isDead = false
  const sent: Promise<unknown>[] = []
  const dieIf = (isDue: boolean) => {
    isDead ||= isDue
    if (isDead) throw new Died()
  }
  const wrapped = <T extends object>(store: T): T => {
    const methods = Object.entries(store).map(([method, run]: [string, (...args: unknown[]) => Promise<unknown>]) => {
      const call = async (...args: unknown[]) => {
        const isLast = method === last && callsCount === ordinal
        if (method === last) callsCount += 1
        dieIf(isLast && when === 'before')
        const answer = run(...args)
        sent.push(answer)
        await answer
        dieIf(isLast)
        return answer
      }
      return [method, call]
    })
    return Object.fromEntries(methods)
  }
  const using: WriteDependencies = { ...deps, objects: wrapped(deps.objects), coreObjects: wrapped(deps.coreObjects) }
  return { using, sent }
}

type Tenant = { readonly tenantId: string; readonly connectors: readonly Connector[] }

/** Connectors and their objects have the same ids in every tenant, so that their order is the same. */
async function newTenant(ids: readonly string[]): Promise<Tenant> {
  const tenantId = randomUUID()
  const connectors = ids.map((id, index) => {
    const creation = { id, createdBy: randomUUID(), createdAt: `2030-01-0${index + 1}T00:00:00.000+00:00` }
    return newConnector({ name: 'A source', clientId: randomUUID() }, creation)
  })
  for (const connector of connectors) await deps.connectors.add(tenantId, connector)
  return { tenantId, connectors }
}

async function send({ tenantId, connectors }: Tenant, { connector, writes, death }: Batch): Promise<boolean> {
  const { using, sent } = death === undefined ? { using: deps, sent: [] } : mortal(death)
  try {
    await writeObjects(tenantId, connectors[connector] as Connector, writes, using)
    return true
  } catch (error) {
    if (!(error instanceof Died)) throw error
    await Promise.allSettled(sent)
    return false
  }
}

/** The core objects by their contributors instead of their ids. */
async function recordsOf({ tenantId, connectors }: Tenant): Promise<unknown[]> {
  const spaces = connectors.map(({ id }) => connectorObjects.page(tenantId, id, undefined, undefined, 1000))
  const objects = (await Promise.all(spaces)).flatMap(({ items }) => items)
  const byCoreObject = Map.groupBy(objects, ({ coreObjectId }) => coreObjectId)
  const whoIs = (id: string): string => (byCoreObject.get(id) ?? []).map(({ id: contributor }) => contributor).join()
  const named = (value: AttributeValue): unknown =>
    typeof value === 'object' && 'objectId' in value ? whoIs(value.objectId) : value
  const pages = OBJECT_TYPES.map((type) => coreObjects.page(tenantId, type, undefined, 1000))
  const live = (await Promise.all(pages)).flatMap(({ items }) => items)
  // Which of several claimants holds an account depends on the order of the writes. That one of them does, does not.
  const unmet = await coreObjects.unmetClaims(tenantId)
  const held = live.flatMap(({ attributes }) => attributes.directoryObjectId ?? [])
  assert.equal(new Set(held).size, held.length, 'An account has several holders')
  for (const { directoryObjectId } of unmet) assert.ok(held.includes(directoryObjectId), 'An account has no holder')
  const claimOf = new Map(unmet.map(({ identityId, directoryObjectId }) => [identityId, { directoryObjectId }]))
  return live
    .map(({ id, objectType, externalId, attributes }) => {
      const own = Object.entries({ ...claimOf.get(id), ...attributes })
      const told = Object.fromEntries(own.map(([each, value]) => [each, named(value)]))
      return { who: whoIs(id), objectType, externalId, attributes: told }
    })
    .sort((one, other) => (`${one.who} ${one.externalId}` < `${other.who} ${other.externalId}` ? -1 : 1))
}

describe('all data sent again after any writes, some of them interrupted', () => {
  it('gives the same core objects as in an empty tenant', async () => {
    let deathsCount = 0
    const property = fc.asyncProperty(
      fc.array(batch, { minLength: 4, maxLength: 8 }),
      fc.boolean(),
      async (batches, isYoungerFirst) => {
        const ids = [randomUUID(), randomUUID()]
        const [tenant, fresh] = await Promise.all([newTenant(ids), newTenant(ids)])
        for (const each of batches) if (!(await send(tenant, each))) deathsCount += 1
        for (const connector of isYoungerFirst ? [1, 0] : [0, 1]) {
          const own = batches.filter((each) => each.connector === connector).flatMap(({ writes }) => writes)
          const writes = [...new Map(own.map((each) => [nameOf(each), each])).values()]
          if (writes.length === 0) continue
          await send(tenant, { connector, writes, death: undefined })
          await send(fresh, { connector, writes, death: undefined })
        }
        assert.deepEqual(await recordsOf(tenant), await recordsOf(fresh))
      },
    )
    await fc.assert(property, { numRuns: RUNS_COUNT })
    assert.ok(deathsCount > RUNS_COUNT, `only ${deathsCount} writes died`)
  })
})
