import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { it } from 'node:test'
import type { Container } from '@azure/cosmos'
import { cosmosMembershipStore } from '../../shared/cosmos/members/membership-store.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const TENANT = '00000000-0000-4000-8000-000000000001'
const COLLECTION = '00000000-0000-4000-8000-000000000002'
const AT_MS = Date.parse('2030-01-01T00:00:00Z')
const options = { historyDays: 400, nowMs: () => AT_MS }
const members = (await localDatabase())('members')

/** GUIDs that are spread over all chunks, as real ids are. */
function idsOf(from: number, count: number): string[] {
  const id = (number: number) => {
    const hex = createHash('sha256').update(String(number)).digest('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
  }
  return Array.from({ length: count }, (_, index) => id(from + index)).sort()
}

const evaluation = (ids: readonly string[]) => ({
  ids,
  ...{ definitionKey: '1', evaluatedAtMs: AT_MS, epoch: 1, unfencedEpoch: 0 },
  attribute: async (change: { added: readonly string[]; removed: readonly string[] }) => [
    { cause: 'ObjectChanged' as const, actorId: 'system', ...change },
  ],
})

/** A container that fails after one transaction, as in a crash of the process. */
function crashing(): Container {
  let count = 0
  const batch: Container['items']['batch'] = async (...args) => {
    count += 1
    if (count > 1) throw new Error('The process has crashed.')
    return members.items.batch(...args)
  }
  const query: Container['items']['query'] = (...args: Parameters<Container['items']['query']>) =>
    members.items.query(...args)
  return { item: members.item.bind(members), items: { batch, query } } as unknown as Container
}

it('A membership is whole after two changes whose writes were both interrupted, each in other chunks', async () => {
  const first = cosmosMembershipStore(members, options)
  await first.replace(TENANT, COLLECTION, undefined, evaluation(idsOf(0, 7_000)))
  for (const from of [70, 140]) {
    const process = cosmosMembershipStore(crashing(), options)
    const head = await process.head(TENANT, COLLECTION)
    await assert.rejects(process.replace(TENANT, COLLECTION, head, evaluation(idsOf(from, 7_000))), /has crashed/)
  }
  const another = cosmosMembershipStore(members, options)
  assert.deepEqual((await another.members(TENANT, COLLECTION))?.ids, idsOf(140, 7_000))
})
