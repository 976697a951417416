import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { allMembers } from '../../shared/domain/sync/group-members.ts'
import { graphDirectory } from '../../shared/graph/graph-directory.ts'
import { type GraphReply, retryAfterMsOf } from '../../shared/graph/graph-reply.ts'
import { graphTokens } from '../../shared/graph/graph-tokens.ts'
import { removeCall } from '../../shared/graph/member-calls.ts'
import {
  openDirectory,
  SMALL_TENANT,
  TENANT,
  type TestDirectory,
  testClock,
  user,
  users,
} from '../jobs/link-directory.ts'

const NOBODY = user(900_000)
/** No end of the time to write. */
const ANY_TIME = Number.POSITIVE_INFINITY
const NO_GROUP = 'dddddddd-0000-4000-8000-00000000000f'

describe('The directory through Graph', () => {
  const clock = testClock()
  let world: TestDirectory
  before(async () => {
    world = await openDirectory(clock)
  })
  after(async () => {
    assert.ok(world.server.requests().every(({ deletesMember }) => deletesMember !== true))
    await world.close()
  })
  beforeEach(() => {
    world.server.setFaults([])
    world.server.clearRequests()
  })

  const writes = () =>
    world.server
      .requests()
      .map(({ method, batch }) =>
        batch === undefined ? method : `batch of ${batch.map((item) => item.method).join(' ')}`,
      )

  it('reads a group, and knows one that is not there', async () => {
    const groupId = await world.newGroup({ displayName: 'Kommunestyret' })
    const group = await world.directory.readGroup(TENANT, groupId)
    assert.deepEqual(group, {
      id: groupId,
      displayName: 'Kommunestyret',
      groupTypes: [],
      mailEnabled: false,
      onPremisesSyncEnabled: null,
      isAssignableToRole: group?.isAssignableToRole,
      visibility: group?.visibility,
    })
    assert.equal(await world.directory.readGroup(TENANT, NO_GROUP), undefined)
    assert.equal(await world.directory.readGroup(SMALL_TENANT, groupId), undefined)
  })

  it('lists members to the last page, users apart from what is none', async () => {
    const nested = await world.newGroup()
    const groupId = await world.newGroup({}, [...users(0, 2_100), nested])
    assert.deepEqual(await allMembers(TENANT, groupId, world.directory), {
      users: new Set(users(0, 2_100)),
      others: new Set([nested]),
    })
  })

  it('sends no write after the time for it, and tells what was written in time', async () => {
    const groupId = await world.newGroup()
    world.server.clearRequests()
    const late = await world.directory.removeMembers(TENANT, groupId, users(0, 40), clock.nowMs())
    assert.deepEqual([late.fault?.kind, late.sentCount, writes()], ['unavailable', 0, []])
    world.server.setFaults([{ method: 'PATCH', status: 503 }])
    const untilMs = clock.nowMs() + 1_000
    const slow = await world.directory.addMembers(TENANT, groupId, users(0, 100), untilMs)
    assert.deepEqual([slow.fault?.kind, slow.sentCount], ['unavailable', 10])
    assert.ok(clock.nowMs() < untilMs)
  })

  it('adds a thousand members in ten calls, and removes forty in two', async () => {
    const groupId = await world.newGroup()
    world.server.clearRequests()
    const added = await world.directory.addMembers(TENANT, groupId, users(0, 1_000), ANY_TIME)
    assert.deepEqual(added, { written: users(0, 1_000), unchanged: [], missing: [], sentCount: 50 })
    assert.equal(world.server.requests().length, 10)
    const removed = await world.directory.removeMembers(TENANT, groupId, users(0, 40), ANY_TIME)
    assert.deepEqual(removed, { written: users(0, 40), unchanged: [], missing: [], sentCount: 40 })
    assert.equal(world.server.requests().length, 12)
    assert.equal((await world.membersOf(groupId)).size, 960)
  })

  it('tells for each account what became of it, when a PATCH of twenty is refused', async () => {
    const groupId = await world.newGroup({}, users(3, 2))
    world.server.clearRequests()
    const outcome = await world.directory.addMembers(TENANT, groupId, [...users(0, 25), NOBODY], ANY_TIME)
    assert.deepEqual(outcome.written.toSorted(), [...users(0, 3), ...users(5, 20)])
    assert.deepEqual(outcome.unchanged, users(3, 2))
    assert.deepEqual(outcome.missing, [NOBODY])
    assert.equal(outcome.fault, undefined)
    assert.deepEqual(writes(), ['batch of PATCH PATCH', `batch of ${Array(20).fill('POST').join(' ')}`, 'PATCH'])
  })

  it('takes one who is there already, or gone already, as done', async () => {
    const groupId = await world.newGroup({}, [user(1)])
    world.server.clearRequests()
    assert.deepEqual(await world.directory.addMembers(TENANT, groupId, [user(1)], ANY_TIME), {
      written: [],
      unchanged: [user(1)],
      missing: [],
      sentCount: 1,
    })
    assert.deepEqual(await world.directory.removeMembers(TENANT, groupId, [user(2)], ANY_TIME), {
      written: [],
      unchanged: [user(2)],
      missing: [],
      sentCount: 1,
    })
    assert.deepEqual(writes(), ['PATCH', 'DELETE'])
  })

  it('tells what was written before it failed', async () => {
    const groupId = await world.newGroup()
    world.server.setFaults([{ method: 'PATCH', times: 1, delayMs: 0 }])
    const outcome = await world.directory.addMembers(TENANT, groupId, users(0, 100), ANY_TIME)
    assert.equal(outcome.written.length, 100)
    world.server.setFaults([{ path: 'batch', status: 500 }])
    const failed = await world.directory.addMembers(TENANT, groupId, users(100, 100), ANY_TIME)
    assert.equal(failed.fault?.kind, 'unavailable')
    assert.deepEqual(failed.written, [])
  })

  it('says what kind of trouble it is', async () => {
    const groupId = await world.newGroup()
    const kindOf = async (fault: Parameters<typeof world.server.setFaults>[0]) => {
      world.server.setFaults(fault)
      const { fault: told } = await world.directory.addMembers(TENANT, groupId, [user(1)], ANY_TIME)
      return [told?.kind, told?.retryAfterMs]
    }
    assert.deepEqual(await kindOf([{ method: 'PATCH', retryAfterS: 120 }]), ['throttled', 120_000])
    assert.deepEqual(await kindOf([{ method: 'PATCH', status: 403 }]), ['refused', undefined])
    assert.deepEqual(await kindOf([{ method: 'PATCH', drop: true }]), ['unavailable', undefined])
    world.server.setFaults([])
    const gone = await world.directory.addMembers(TENANT, NO_GROUP, [user(1)], ANY_TIME)
    assert.equal(gone.fault?.kind, 'groupMissing')
  })

  it('never follows a link to another host, and never takes a page without members for the end', async () => {
    const replyWith = (body: unknown) =>
      graphDirectory({
        graphUrl: 'https://graph.example',
        send: async (): Promise<GraphReply> => ({ status: 200, body, isJson: true, retryAfterMs: undefined }),
        sleep: async () => undefined,
        nowMs: () => 0,
        random: () => 0,
      })
    const elsewhere = replyWith({ value: [], '@odata.nextLink': 'https://evil.example/v1.0/groups/x/members' })
    const { continueAfter } = await elsewhere.listMembers(TENANT, NO_GROUP, undefined)
    const unavailable = { name: 'DirectoryFault', kind: 'unavailable' }
    await assert.rejects(elsewhere.listMembers(TENANT, NO_GROUP, continueAfter), unavailable)
    const own = 'https://graph.example/v1.0/groups/x/members?$skiptoken=1'
    const circle = replyWith({ value: [], '@odata.nextLink': own })
    await assert.rejects(allMembers(TENANT, NO_GROUP, circle), unavailable)
    await assert.rejects(replyWith({}).listMembers(TENANT, NO_GROUP, undefined), unavailable)
    await assert.rejects(replyWith(undefined).listMembers(TENANT, NO_GROUP, undefined), unavailable)
    const whole = await replyWith({ value: [] }).listMembers(TENANT, NO_GROUP, undefined)
    assert.deepEqual(whole, { users: [], others: [] })
  })

  it('builds the path of a removal from ids alone, always with its ending', () => {
    assert.equal(removeCall(NO_GROUP, user(1)).path, `/groups/${NO_GROUP}/members/${user(1)}/$ref`)
    for (const account of ['', `${user(1)}/../..`, `${user(1)}?x=`, 'me']) {
      assert.throws(() => removeCall(NO_GROUP, account), /is not a directory object's id/)
    }
  })

  it('asks once for a tenant’s token, however many need it, anew when it was refused, and says when there is none', async () => {
    const settings = {
      authorityUrl: world.server.url,
      homeTenantId: TENANT,
      clientId: 'aaaaaaaa-0000-4000-8000-000000000001',
      clientSecret: 'service-secret',
      managedIdentityClientId: undefined,
    }
    const tokens = graphTokens(settings, Date.now)
    const all = await Promise.all([1, 2, 3, 4].map(() => tokens.of(TENANT)))
    assert.equal(new Set(all).size, 1)
    assert.notEqual(await tokens.of(SMALL_TENANT), all[0])
    tokens.forget(TENANT)
    assert.notEqual(await tokens.of(TENANT), all[0])
    const wrong = graphTokens({ ...settings, clientSecret: 'wrong' }, Date.now)
    await assert.rejects(wrong.of(TENANT), { name: 'DirectoryFault', kind: 'refused' })
  })

  it('asks once also when a token has become old, and remembers a limited number of tenants', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const settings = {
      authorityUrl: world.server.url,
      homeTenantId: TENANT,
      clientId: 'aaaaaaaa-0000-4000-8000-000000000001',
      clientSecret: 'service-secret',
      managedIdentityClientId: undefined,
    }
    const tokens = graphTokens(settings, Date.now, 1)
    const first = await tokens.of(TENANT)
    assert.equal(await tokens.of(TENANT), first)
    context.mock.timers.tick(56 * 60 * 1000)
    const renewed = new Set(await Promise.all([1, 2, 3, 4].map(() => tokens.of(TENANT))))
    assert.deepEqual([renewed.size, renewed.has(first)], [1, false])
    await tokens.of(SMALL_TENANT)
    assert.equal(renewed.has(await tokens.of(TENANT)), false)
  })

  it('reads Retry-After as seconds and as a date', () => {
    const nowMs = Date.parse('2030-01-01T00:00:00Z')
    assert.deepEqual(
      ['7', 'Tue, 01 Jan 2030 00:00:09 GMT', 'Mon, 31 Dec 2029 23:59:59 GMT', 'soon', '', null].map((header) =>
        retryAfterMsOf(header, nowMs),
      ),
      [7_000, 9_000, 0, undefined, undefined, undefined],
    )
  })
})
