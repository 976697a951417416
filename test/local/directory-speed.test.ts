import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import { binding, GROUPS, graphToken, openDirectory, SEED, send, user } from '../support/local/directory-fixture.ts'
import { processorClock } from '../support/timing/processor-clock.ts'

const MEMBER_COUNT = 100_000

describe('Speed of the local directory', () => {
  let directory: LocalDirectory
  let token: string
  before(async () => {
    const [tenant, ...others] = SEED.tenants
    assert.ok(tenant)
    const users = Array.from({ length: MEMBER_COUNT }, (_, index) => ({
      id: user(index),
      displayName: `User ${index}`,
      userPrincipalName: `user${index}@one.example`,
    }))
    const groups = tenant.groups.map((group) =>
      group.id === GROUPS.populated ? { ...group, memberIds: users.map(({ id }) => id) } : group,
    )
    directory = await openDirectory({ seed: { ...SEED, tenants: [{ ...tenant, users, groups }, ...others] } })
    token = await graphToken(directory, 'service')
  })
  after(() => directory.close())

  async function medianMs(count: number, act: (index: number) => Promise<void>): Promise<number> {
    const durations: number[] = []
    for (let index = 0; index < count; index += 1) {
      const usedMs = processorClock()
      await act(index)
      durations.push(usedMs())
    }
    return durations.sort((left, right) => left - right)[Math.floor(count / 2)] ?? 0
  }

  it('pages a group of 100,000 members in under 20 ms a page', async (test) => {
    let path: string | undefined = `/v1.0/groups/${GROUPS.populated}/members?$select=id&$top=999`
    const seen = new Set<string>()
    const durationMs = await medianMs(101, async () => {
      assert.ok(path)
      const { body } = await send(directory, 'GET', path, undefined, token)
      for (const { id } of body.value) seen.add(id)
      path = body['@odata.nextLink']?.slice(directory.url.length)
    })
    assert.equal(path, undefined)
    assert.equal(seen.size, MEMBER_COUNT)
    test.diagnostic(`${durationMs.toFixed(2)} ms a page`)
    assert.ok(durationMs < 20, `${durationMs} ms`)
  })

  it('adds 20 members in under 5 ms', async (test) => {
    const durationMs = await medianMs(100, async (index) => {
      const members = Array.from({ length: 20 }, (_, place) => user(index * 20 + place))
      const { status } = await send(directory, 'PATCH', `/v1.0/groups/${GROUPS.plain}`, binding(members), token)
      assert.equal(status, 204)
    })
    test.diagnostic(`${durationMs.toFixed(2)} ms a PATCH`)
    assert.ok(durationMs < 5, `${durationMs} ms`)
  })
})
