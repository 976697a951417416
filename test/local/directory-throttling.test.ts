import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { binding, GROUPS, graphToken, openDirectory, send, user } from '../support/local/directory-fixture.ts'

const PLAIN = `/v1.0/groups/${GROUPS.plain}`
const START_MS = Date.parse('2030-01-01T00:00:00Z')

describe('Throttling in the local directory', () => {
  async function open(test: TestContext, quotas: object) {
    const clock = { nowMs: START_MS }
    const directory = await openDirectory({ nowMs: () => clock.nowMs, quotas })
    test.after(() => directory.close())
    const token = await graphToken(directory, 'service')
    return { clock, ask: (method: string, path: string, body?: unknown) => send(directory, method, path, body, token) }
  }

  it('counts resource units as documented', async (test) => {
    const { ask } = await open(test, {})
    for (const [path, units] of [
      [`${PLAIN}/members`, '3'],
      [`${PLAIN}/members?$select=id`, '2'],
      [`${PLAIN}/members?$select=id&$top=5`, '1'],
      [PLAIN, '1'],
      [`${PLAIN}?$select=id`, '1'],
    ] as const) {
      assert.equal((await ask('GET', path)).headers.get('x-ms-resource-unit'), units, path)
    }
  })

  it('warns from 80 percent, refuses requests over the quota, and accepts them in the next window', async (test) => {
    const { ask, clock } = await open(test, { unitsPer10S: [10, 10, 10] })
    for (let count = 1; count <= 10; count += 1) {
      const warning = (await ask('GET', PLAIN)).headers.get('x-ms-throttle-limit-percentage')
      assert.equal(warning, [null, null, null, null, null, null, null, '0.80', '0.90', '1.00'][count - 1])
    }
    clock.nowMs += 4_000
    const refused = await ask('GET', PLAIN)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), '6')
    assert.equal(refused.headers.get('x-ms-throttle-information'), 'ResourceUnitLimitExceeded')
    assert.match(refused.headers.get('x-ms-throttle-scope') ?? '', /^Tenant_Application\//)
    assert.equal(refused.body.error.code, 'TooManyRequests')
    clock.nowMs += 6_000
    assert.equal((await ask('GET', PLAIN)).status, 200)
  })

  it('counts writes separately, including each item of a batch', async (test) => {
    const { ask } = await open(test, { writesPer150S: 2 })
    const requests = [1, 2, 3].map((number) => ({
      id: String(number),
      method: 'PATCH',
      url: `/groups/${GROUPS.plain}`,
      headers: { 'content-type': 'application/json' },
      body: binding([user(number)]),
    }))
    const { body } = await ask('POST', '/v1.0/$batch', { requests })
    const statuses = body.responses.map(({ status }: { status: number }) => status)
    assert.deepEqual(statuses.sort(), [204, 204, 429])
    assert.equal((await ask('GET', PLAIN)).status, 200)
  })

  it('can charge a PATCH by its members', async (test) => {
    const { ask } = await open(test, { writesPer150S: 7, membersPerWrite: 3 })
    const members = Array.from({ length: 20 }, (_, index) => user(index))
    assert.equal((await ask('PATCH', PLAIN, binding(members))).status, 204)
    assert.equal((await ask('PATCH', PLAIN, binding([user(21)]))).status, 429)
  })
})
