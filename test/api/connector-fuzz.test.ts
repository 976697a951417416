import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Body, coreDataServiceOfTests, newTenantWithHr, to, upsert } from '../support/api/core-data-service.ts'

const ITEMS_COUNT = 10_000
const ITEMS_PER_BATCH_COUNT = 500
const ATTRIBUTES = [
  ...['displayName', 'email', 'nin', 'directoryObjectId', 'directoryOnPremisesSyncEnabled', 'assignedLicenses'],
  ...['parent', 'manager', 'deputies', 'identity', 'orgUnit', 'primaryRelationship', 'startDate', 'title', 'anchor1'],
  ...['custom/x', 'custom/__proto__', 'custom/', '__proto__', 'constructor', 'id', 'lastUpdated', 'shoeSize'],
]

const name = fc.integer({ min: 0, max: 60 }).map((number) => `f${number}`)
const nasty = fc.constantFrom('', ' ', '\u0000', '\ud800', "'; DROP", '@ids', '%', '𐐷', 'x'.repeat(2001))
const guid = fc.integer({ min: 0, max: 99 }).map((number) => `00000000-0000-4000-8000-0000000000${number}`.slice(-36))
const value = fc.oneof(
  fc.string(),
  nasty,
  name.map((externalId) => ({ externalId })),
  fc.array(
    fc.oneof(name, guid, nasty).map((externalId) => ({ externalId })),
    { maxLength: 3 },
  ),
  fc.array(guid, { maxLength: 3 }),
  guid,
  fc.constantFrom('2024-02-29', '2024-02-30', '2024-01-01T10:00:00Z'),
  fc.jsonValue({ maxDepth: 2 }),
)
const data = fc.oneof(
  { weight: 8, arbitrary: fc.array(fc.tuple(fc.constantFrom(...ATTRIBUTES), value), { maxLength: 3 }).map(ownMembers) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
)
const named = fc.record({
  op: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('upsert', 'upsert', 'delete') },
    { weight: 1, arbitrary: value },
  ),
  objectType: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('identity', 'orgUnit', 'relationship') },
    { weight: 1, arbitrary: value },
  ),
  externalId: fc.oneof({ weight: 8, arbitrary: name }, { weight: 1, arbitrary: value }),
  data,
})
const item = fc.oneof(
  { weight: 20, arbitrary: named },
  { weight: 1, arbitrary: fc.record({ op: value, data: value }, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
)

/** Own members under any name, `__proto__` included, as in JSON. */
function ownMembers(members: [string, unknown][]): unknown {
  return JSON.parse(`{${members.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)}`).join(',')}}`)
}

const service = await coreDataServiceOfTests()

const keyOf = ({ objectType, externalId }: Body): string => JSON.stringify([objectType, externalId])

describe('ten thousand random items', () => {
  it('have independent results, and change only the objects they name', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const other = await tenant.addConnector('Other')
    for (const connector of [hr, other]) {
      await connector.batch(
        upsert('identity', 'bystander', { displayName: 'Bystander', primaryRelationship: to('bystander') }),
        upsert('orgUnit', 'bystander', { manager: to('bystander'), deputies: [to('bystander')] }),
        upsert('relationship', 'bystander', { identity: to('bystander'), orgUnit: to('bystander') }),
      )
    }
    const space = async ({ send, data }: typeof hr): Promise<Map<string, Body>> => {
      const { body } = await send('GET', `${data}?pageSize=5000`)
      return new Map(body.data.map((object: Body) => [keyOf(object), object]))
    }
    const coreBystanders = async () =>
      (await Promise.all(['identities', 'orgunits', 'relationships'].map((type) => tenant.all(type))))
        .flat()
        .filter(({ externalId }) => externalId === 'bystander')

    const [otherBefore, bystandersBefore] = [await space(other), await coreBystanders()]
    let known = await space(hr)
    const seen = new Map<number, number>()
    for (let start = 0; start < ITEMS_COUNT; start += ITEMS_PER_BATCH_COUNT) {
      const items = fc.sample(item, { numRuns: ITEMS_PER_BATCH_COUNT, seed: start + 1 }) as Body[]
      const results = await hr.batch(...items)
      assert.deepEqual(
        results.map(({ index }) => index),
        [...items.keys()],
      )
      const touched = new Map<string, Body>()
      for (const { index, status, id, errors } of results) {
        seen.set(status, (seen.get(status) ?? 0) + 1)
        assert.ok([200, 201, 400, 404, 409].includes(status), `item ${index}: ${status}`)
        assert.equal(status < 300, typeof id === 'string')
        assert.equal(status >= 300, errors?.length > 0)
        if (status < 300) touched.set(keyOf(items[index]), items[index])
      }
      const now = await space(hr)
      for (const key of new Set([...known.keys(), ...now.keys()])) {
        const named = touched.get(key)
        if (named === undefined) assert.deepEqual(now.get(key), known.get(key), `${key} was not named`)
        else assert.equal(now.has(key), named.op === 'upsert', `${key} was named by ${named.op}`)
      }
      known = now
    }
    assert.deepEqual(await space(other), otherBefore)
    assert.deepEqual(await coreBystanders(), bystandersBefore)
    for (const status of [200, 201, 400, 404]) {
      assert.ok((seen.get(status) ?? 0) > 100, `${seen.get(status)} items were answered ${status}`)
    }
  })
})

describe('a single write of invalid data', () => {
  for (const [claim, externalId, attributes, code] of [
    ['an unpaired surrogate as external id', '\ud800', {}, 'InvalidJson'],
    ['a text of 2 MB', 'p1', { displayName: 'x'.repeat(2_000_000) }, 'BodyTooLarge'],
  ] as const) {
    it(`refuses ${claim}`, async () => {
      const { hr } = await newTenantWithHr(service)
      const { status, body } = await hr.send('POST', hr.data, { objectType: 'identity', externalId, data: attributes })
      assert.ok(status === 400 || status === 413, String(status))
      assert.equal(body.errors[0].code, code)
    })
  }

  it('refuses a text of 2 MB and an oversized list in a batch, and accepts the other items', async () => {
    const { hr } = await newTenantWithHr(service)
    const long = await hr.batch(
      upsert('identity', 'p1', { displayName: 'x'.repeat(2_000_000) }),
      upsert('identity', 'p2', {}),
    )
    const deputies = Array.from({ length: 5000 }, (_, index) => to(`${index}`.padEnd(400, 'x')))
    const wide = await hr.batch(upsert('orgUnit', 'o1', { deputies }), upsert('orgUnit', 'o2', {}))
    for (const [[faulty, fine], target] of [
      [long, '/items/0/data/displayName'],
      [wide, '/items/0/data'],
    ] as const) {
      assert.deepEqual([faulty.status, faulty.errors[0].code], [400, 'InvalidLength'])
      assert.equal(faulty.errors[0].target, target)
      assert.equal(fine.status, 201)
    }
  })
})
