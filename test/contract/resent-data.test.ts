import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import type { WriteDependencies } from '../../shared/domain/connectors/write-dependencies.ts'
import { writeObjects } from '../../shared/domain/connectors/write-objects.ts'
import { builtService } from '../support/api/built-service.ts'
import { localDatabase } from '../support/contract/local-database.ts'
import { nameOf, objectWrite } from '../support/contract/random-writes.ts'
import { newSourceTenant, recordsOf, type SourceTenant } from '../support/contract/source-tenant.ts'

const RUNS_COUNT = 20

const database = await localDatabase()
const deps = builtService(database, { nowMs: () => Date.parse('2030-01-01T00:00:00Z') }).connectors

/** The store call at which a process ends. `ordinal` counts calls of the same method from 0. */
type Death = { readonly method: string; readonly ordinal: number; readonly when: 'before' | 'after' }

/** One batch of a connector, and the call at which its process ends; undefined when it completes. */
type Batch = { readonly connector: number; readonly writes: readonly ObjectWrite[]; readonly death: Death | undefined }

/** Most processes end between two writes. */
const death: fc.Arbitrary<Death> = fc.record({
  method: fc.constantFrom('write', 'writeTree', 'coreObjectsReferringTo', 'mergedOfIds', 'open'),
  ordinal: fc.nat({ max: 2 }),
  when: fc.constantFrom('before', 'after'),
})
const batch: fc.Arbitrary<Batch> = fc.record({
  connector: fc.constantFrom(0, 1),
  writes: fc.uniqueArray(objectWrite, { minLength: 1, maxLength: 3, selector: nameOf }),
  death: fc.option(death, { nil: undefined, freq: 3 }),
})

class Died extends Error {}

/** The stores of a process that ends at a call. Calls sent before are completed. */
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

async function send({ tenantId, connectors }: SourceTenant, { connector, writes, death }: Batch): Promise<boolean> {
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

/**
 * Whether two identities of a connector have one value of a join key. Such a value joins no more identities, but
 * those it has joined before stay together: what was sent before matters.
 */
function shareJoinValues(writes: readonly ObjectWrite[]): boolean {
  const values = writes.flatMap((write) => {
    if (write.operation === 'delete' || write.objectType !== 'identity') return []
    return ['nin', 'directoryObjectId'].flatMap((key) => {
      const value = write.data[key]
      return typeof value === 'string' ? [`${key} ${value.toLowerCase()}`] : []
    })
  })
  return new Set(values).size < values.length
}

describe('all data sent again after any writes, some of them interrupted', () => {
  it('gives the same core objects as in an empty tenant, unless identities of a connector share a join key', async () => {
    let deathsCount = 0
    let comparedCount = 0
    const property = fc.asyncProperty(
      fc.array(batch, { minLength: 4, maxLength: 8 }),
      fc.boolean(),
      async (batches, isYoungerFirst) => {
        const ids = [randomUUID(), randomUUID()]
        const [tenant, fresh] = await Promise.all([newSourceTenant(ids, deps), newSourceTenant(ids, deps)])
        for (const batch of batches) if (!(await send(tenant, batch))) deathsCount += 1
        for (const connector of isYoungerFirst ? [1, 0] : [0, 1]) {
          const own = batches.filter((batch) => batch.connector === connector).flatMap(({ writes }) => writes)
          const writes = [...new Map(own.map((each) => [nameOf(each), each])).values()]
          if (writes.length === 0) continue
          if (shareJoinValues(writes)) return
          await send(tenant, { connector, writes, death: undefined })
          await send(fresh, { connector, writes, death: undefined })
        }
        comparedCount += 1
        assert.deepEqual(await recordsOf(tenant, deps), await recordsOf(fresh, deps))
      },
    )
    while (comparedCount < RUNS_COUNT) await fc.assert(property, { numRuns: RUNS_COUNT })
    assert.ok(deathsCount > RUNS_COUNT, `only ${deathsCount} writes died`)
  })
})
