import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { isCreating } from '../../shared/http/route.ts'
import { type Creating, openCreatingRoutes } from '../support/api/creating-routes.ts'
import { joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const OPERATIONS = [
  'createConnector',
  'createConnectorObject',
  'createCriteriaCollection',
  'createEventSubscription',
  'createGroupLink',
  'createJoinableCollection',
  'submitRequest',
  'submitRequestOnBehalf',
] as const

const AT_ONCE_COUNT = 50

const routes = await openCreatingRoutes()
after(() => routes.close())

/** What a repeated request must return again. */
const essence = ({ status, headers: { location, etag }, data }: Awaited<ReturnType<Creating['post']>>) => ({
  status,
  location,
  etag,
  data,
})

it('these are the routes that create', () => {
  const creating = routeTables().flatMap((group) => group.routes.filter(isCreating))
  assert.deepEqual(creating.map(({ operationId }) => operationId).sort(), OPERATIONS)
})

for (const operation of OPERATIONS) {
  describe(operation, () => {
    let creating: Creating
    const key = () => ({ 'idempotency-key': randomUUID() })

    before(async () => {
      creating = await routes[operation]()
    })

    it('creates once when it is sent twice with one key, and marks the second response', async () => {
      const one = await creating.fresh()
      const headers = key()
      const first = await creating.post(one.body, headers)
      assert.deepEqual([first.status, first.headers['idempotency-replayed'], await one.count()], [201, undefined, 1])
      const second = await creating.post(one.body, headers)
      assert.deepEqual(essence(second), essence(first))
      assert.deepEqual([second.headers['idempotency-replayed'], await one.count()], ['true', 1])
    })

    it('refuses the key for another body', async () => {
      const [first, second] = [await creating.fresh(), await creating.fresh()]
      const headers = key()
      assert.equal((await creating.post(first.body, headers)).status, 201)
      const { status, codes } = await creating.post(second.body, headers)
      assert.deepEqual([status, codes, await second.count()], [422, ['IdempotencyKeyReused'], 0])
    })

    it(`creates once when ${AT_ONCE_COUNT} are sent at once, and returns the same response to all`, async () => {
      const one = await creating.fresh()
      const headers = key()
      const responses = await Promise.all(Array.from({ length: AT_ONCE_COUNT }, () => creating.post(one.body, headers)))
      assert.equal(new Set(responses.map((response) => JSON.stringify(essence(response)))).size, 1)
      assert.equal(responses.filter((response) => response.headers['idempotency-replayed'] === undefined).length, 1)
      assert.deepEqual([responses[0]?.status, await one.count()], [201, 1])
    })

    it('finds what it created when its process ended before the result was stored', async () => {
      const one = await creating.fresh()
      const headers = key()
      const first = await creating.post(one.body, headers)
      await creating.forgetResult(headers['idempotency-key'], { isInProgress: false })
      const again = await creating.post(one.body, headers)
      assert.deepEqual(essence(again), essence(first))
      assert.deepEqual([again.headers['idempotency-replayed'], await one.count()], [undefined, 1])
      assert.equal((await creating.post(one.body, headers)).headers['idempotency-replayed'], 'true')
    })

    it('accepts the key of a refused request with a corrected body', async () => {
      const one = await creating.fresh()
      const headers = key()
      assert.equal((await creating.post(one.faulty, headers)).status, 400)
      assert.equal((await creating.post(one.body, headers)).status, 201)
    })
  })
}

describe('an Idempotency-Key', () => {
  for (const [claim, key] of [
    ['that is empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a control character', 'a\tb'],
    ['outside of ASCII', 'nøkkel'],
  ] as const) {
    it(`${claim} is refused`, async () => {
      const creating = await routes.createConnector()
      const one = await creating.fresh()
      const { status, codes, targets } = await creating.post(one.body, { 'idempotency-key': key })
      assert.deepEqual([status, codes, targets], [400, ['IdempotencyKeyInvalid'], ['Idempotency-Key']])
      assert.equal(await one.count(), 0)
    })
  }

  it('can have 255 printable characters', async () => {
    const creating = await routes.createConnector()
    const one = await creating.fresh()
    const headers = { 'idempotency-key': `"{ a/b\\c~ }"${'k'.repeat(242)}` }
    assert.equal((await creating.post(one.body, headers)).status, 201)
    assert.equal((await creating.post(one.body, headers)).headers['idempotency-replayed'], 'true')
  })

  it('identifies the content of the body, not its order and spelling', async () => {
    const creating = await routes.createConnector()
    const { body } = await creating.fresh()
    const headers = { 'idempotency-key': randomUUID() }
    const first = await creating.post(body, headers)
    const reordered = Object.fromEntries(Object.entries(body).reverse())
    const spelt = { ...reordered, clientId: String(reordered.clientId).toUpperCase(), unknown: 1 }
    assert.equal((await creating.post(spelt, headers)).data, first.data)
  })

  it('is scoped to the caller', async () => {
    const [creating, other] = [await routes.createJoinableCollection(), await routes.createJoinableCollection()]
    const one = await creating.fresh()
    const headers = { 'idempotency-key': randomUUID() }
    const [first, second] = [await creating.post(one.body, headers), await other.post(one.body, headers)]
    assert.deepEqual([second.status, second.headers['idempotency-replayed']], [201, undefined])
    assert.notEqual(second.data, first.data)
  })

  it('is refused for another operation', async () => {
    const callerId = randomUUID()
    const creating = await routes.createJoinableCollection(callerId)
    const elsewhere = await routes.createCriteriaCollection(callerId)
    const headers = { 'idempotency-key': randomUUID() }
    await creating.post((await creating.fresh()).body, headers)
    const { status, codes } = await elsewhere.post((await elsewhere.fresh()).body, headers)
    assert.deepEqual([status, codes], [422, ['IdempotencyKeyReused']])
  })

  it('is refused for the same body on another collection', async () => {
    const fixture = await joinableFixture()
    const [employee, first, second] = [
      await fixture.person(),
      await fixture.joinable(OPEN),
      await fixture.joinable(OPEN),
    ]
    const headers = { 'idempotency-key': randomUUID() }
    const submitTo = (collectionId: string) =>
      fixture.call(employee.token, 'POST', `${fixture.requests}/${collectionId}/submit`, {}, headers)
    assert.equal((await submitTo(first)).status, 201)
    const { status, codes } = await submitTo(second)
    assert.deepEqual([status, codes, await fixture.results(second)], [422, ['IdempotencyKeyReused'], []])
  })

  it('expires after 24 hours', async () => {
    const creating = await routes.createJoinableCollection()
    const one = await creating.fresh()
    const headers = { 'idempotency-key': randomUUID() }
    const first = await creating.post(one.body, headers)
    routes.pass(24 * 60 * 60 - 1)
    assert.equal((await creating.post(one.body, headers)).data, first.data)
    routes.pass(2)
    assert.notEqual((await creating.post(one.body, headers)).data, first.data)
    assert.equal(await one.count(), 2)
  })

  it('is ignored where nothing is created', async () => {
    const { status, headers } = await routes.read({ 'idempotency-key': 'x'.repeat(300) })
    assert.deepEqual([status, headers['idempotency-replayed']], [200, undefined])
  })

  it('is refused while the first request is in progress', async () => {
    const creating = await routes.createConnector()
    const one = await creating.fresh()
    const headers = { 'idempotency-key': randomUUID() }
    await creating.post(one.body, headers)
    await creating.forgetResult(headers['idempotency-key'], { isInProgress: true })
    const { status, codes, headers: answered } = await creating.post(one.body, headers)
    assert.deepEqual([status, codes, answered['retry-after']], [409, ['IdempotencyKeyInUse'], '1'])
  })

  it('allows a failed creation to be retried at once, and continues it', async () => {
    const creating = await routes.createGroupLink()
    const one = await creating.fresh()
    const headers = { 'idempotency-key': randomUUID() }
    const failed = await routes.withoutJobs(() => creating.post(one.body, headers))
    assert.deepEqual([failed.status, await one.count()], [500, 1])
    const again = await creating.post(one.body, headers)
    assert.deepEqual([again.status, again.headers['idempotency-replayed'], await one.count()], [201, undefined, 1])
    assert.equal((await routes.jobsOf(String(one.body.collectionId))).length, 1)
  })
})
