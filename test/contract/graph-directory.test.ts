import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { readAllMembers } from '../../shared/domain/group-links/directory.ts'
import { type GraphReply, retryAfterMsOf } from '../../shared/graph/graph-calls.ts'
import { graphDirectory } from '../../shared/graph/graph-directory.ts'
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
} from '../support/jobs/link-directory.ts'

const UNKNOWN_USER = user(900_000)
/** No deadline. */
const NO_DEADLINE = Number.POSITIVE_INFINITY
const NO_GROUP = 'dddddddd-0000-4000-8000-00000000000f'

describe('The directory through Graph', () => {
  const clock = testClock()
  let fixture: TestDirectory
  before(async () => {
    fixture = await openDirectory(clock)
  })
  after(async () => {
    assert.ok(fixture.server.requests().every(({ deletesMember }) => deletesMember !== true))
    await fixture.close()
  })
  beforeEach(() => {
    fixture.server.setFaults([])
    fixture.server.clearRequests()
  })

  const writes = () =>
    fixture.server
      .requests()
      .map(({ method, batch }) =>
        batch === undefined ? method : `batch of ${batch.map((item) => item.method).join(' ')}`,
      )

  it('reads a group, and returns undefined for a missing one', async () => {
    const groupId = await fixture.newGroup({ displayName: 'Kommunestyret' })
    const group = await fixture.directory.readGroup(TENANT, groupId)
    assert.deepEqual(group, {
      id: groupId,
      displayName: 'Kommunestyret',
      groupTypes: [],
      mailEnabled: false,
      onPremisesSyncEnabled: null,
      isAssignableToRole: group?.isAssignableToRole,
      visibility: group?.visibility,
      isManagementRestricted: group?.isManagementRestricted,
    })
    assert.equal(await fixture.directory.readGroup(TENANT, NO_GROUP), undefined)
    assert.equal(await fixture.directory.readGroup(SMALL_TENANT, groupId), undefined)
  })

  it('tells which groups an account is a direct member of, in one read, and that a user is unknown', async () => {
    const nested = await fixture.newGroup({}, users(300, 1))
    const [one, two] = [await fixture.newGroup({}, users(300, 2)), await fixture.newGroup({}, [nested])]
    fixture.server.clearRequests()
    const groupsOf = (account: string) => fixture.directory.groupsOf(TENANT, account, [one, two])
    assert.deepEqual(await groupsOf(user(300)), new Set([one]))
    assert.equal(fixture.server.requests().length, 1)
    assert.deepEqual(await groupsOf(user(302)), new Set())
    assert.equal(await groupsOf(UNKNOWN_USER), undefined)
    assert.equal(await groupsOf(nested), undefined)
    fixture.server.setFaults([{ method: 'GET', path: 'memberOf', status: 403, times: 1 }])
    await assert.rejects(groupsOf(user(300)), { kind: 'refused' })
  })

  it('reads the groups of an account to the last page', async () => {
    const groupIds: string[] = []
    for (let count = 0; count < 1_001; count += 1) groupIds.push(await fixture.newGroup({}, users(310, 1)))
    assert.deepEqual(await fixture.directory.groupsOf(TENANT, user(310), groupIds), new Set(groupIds))
  })

  it('lists members to the last page, users separately from other members', async () => {
    const nested = await fixture.newGroup()
    const groupId = await fixture.newGroup({}, [...users(0, 2_100), nested])
    assert.deepEqual(await readAllMembers(TENANT, groupId, fixture.directory), {
      users: new Set(users(0, 2_100)),
      others: new Set([nested]),
    })
  })

  it('sends no write after the deadline, and reports what was sent before', async () => {
    const groupId = await fixture.newGroup()
    fixture.server.clearRequests()
    const late = await fixture.directory.removeMembers(TENANT, groupId, users(0, 40), clock.nowMs())
    assert.deepEqual([late.fault?.kind, late.sentCount, writes()], ['unavailable', 0, []])
    fixture.server.setFaults([{ path: groupId, status: 503 }])
    const untilMs = clock.nowMs() + 1_300
    const slow = await fixture.directory.addMembers(TENANT, groupId, users(0, 100), untilMs)
    // Two attempts of five PATCHes, and of the accounts of one.
    assert.deepEqual([slow.fault?.kind, slow.sentCount], ['unavailable', 50])
    assert.ok(clock.nowMs() < untilMs)
  })

  it('adds a thousand members in ten calls, and removes forty in two', async () => {
    const groupId = await fixture.newGroup()
    fixture.server.clearRequests()
    const added = await fixture.directory.addMembers(TENANT, groupId, users(0, 1_000), NO_DEADLINE)
    assert.deepEqual(added, { written: users(0, 1_000), unchanged: [], missing: [], refused: [], sentCount: 50 })
    assert.equal(fixture.server.requests().length, 10)
    const removed = await fixture.directory.removeMembers(TENANT, groupId, users(0, 40), NO_DEADLINE)
    assert.deepEqual(removed, { written: users(0, 40), unchanged: [], missing: [], refused: [], sentCount: 40 })
    assert.equal(fixture.server.requests().length, 12)
    assert.equal((await fixture.membersOf(groupId)).size, 960)
  })

  it('reports the outcome of each account when a PATCH of twenty is refused', async () => {
    const groupId = await fixture.newGroup({}, users(3, 2))
    fixture.server.clearRequests()
    const outcome = await fixture.directory.addMembers(TENANT, groupId, [...users(0, 25), UNKNOWN_USER], NO_DEADLINE)
    assert.deepEqual(outcome.written.toSorted(), [...users(0, 3), ...users(5, 20)])
    assert.deepEqual(outcome.unchanged, users(3, 2))
    assert.deepEqual(outcome.missing, [UNKNOWN_USER])
    assert.equal(outcome.fault, undefined)
    assert.deepEqual(writes(), ['batch of PATCH PATCH', `batch of ${Array(20).fill('POST').join(' ')}`, 'PATCH'])
  })

  it('reports an added member and a removed non-member as unchanged', async () => {
    const groupId = await fixture.newGroup({}, [user(1)])
    fixture.server.clearRequests()
    assert.deepEqual(await fixture.directory.addMembers(TENANT, groupId, [user(1)], NO_DEADLINE), {
      written: [],
      unchanged: [user(1)],
      missing: [],
      refused: [],
      sentCount: 1,
    })
    assert.deepEqual(await fixture.directory.removeMembers(TENANT, groupId, [user(2)], NO_DEADLINE), {
      written: [],
      unchanged: [user(2)],
      missing: [],
      refused: [],
      sentCount: 1,
    })
    assert.deepEqual(writes(), ['PATCH', 'DELETE'])
  })

  it('tells changed groups after tracking has begun, and that a position is not kept any more', async () => {
    const { directory, server } = fixture
    const [first, second] = [await fixture.newGroup({}, [user(1)]), await fixture.newGroup()]
    const lastPage = async (from: Parameters<typeof directory.readMemberChanges>[1]) => {
      let page = await directory.readMemberChanges(TENANT, from)
      while (page?.isLast === false) page = await directory.readMemberChanges(TENANT, page)
      assert.ok(page !== undefined)
      return page
    }
    const begun = await lastPage({ groupIds: [first, second] })
    assert.deepEqual((await lastPage(begun)).changes, [])
    await directory.addMembers(TENANT, second, [user(2)], NO_DEADLINE)
    const changed = await lastPage(begun)
    const added = { id: user(2), isUser: true, isMember: true }
    assert.deepEqual(changed.changes, [{ groupId: second, members: [added] }])
    assert.deepEqual((await lastPage(changed)).changes, [])
    await fixture.asTester({ method: 'DELETE', path: `/groups/${first}` })
    assert.deepEqual((await lastPage(changed)).changes, [{ groupId: first, members: undefined }])
    server.setFaults([{ path: '/delta$', delta: 'reset', times: 1 }])
    assert.equal(await directory.readMemberChanges(TENANT, changed), undefined)
    server.setFaults([{ path: '/delta$', status: 403 }])
    await assert.rejects(directory.readMemberChanges(TENANT, changed), { kind: 'refused' })
  })

  it('reports what was written before a fault', async () => {
    const groupId = await fixture.newGroup()
    fixture.server.setFaults([{ method: 'PATCH', times: 1, delayMs: 0 }])
    const outcome = await fixture.directory.addMembers(TENANT, groupId, users(0, 100), NO_DEADLINE)
    assert.equal(outcome.written.length, 100)
    fixture.server.setFaults([{ path: 'batch', status: 500 }])
    const failed = await fixture.directory.addMembers(TENANT, groupId, users(100, 100), NO_DEADLINE)
    assert.equal(failed.fault?.kind, 'unavailable')
    assert.deepEqual(failed.written, [])
  })

  it('reports the kind of a fault', async () => {
    const groupId = await fixture.newGroup()
    const kindOf = async (fault: Parameters<typeof fixture.server.setFaults>[0]) => {
      fixture.server.setFaults(fault)
      const { fault: reported } = await fixture.directory.addMembers(TENANT, groupId, [user(1)], NO_DEADLINE)
      return [reported?.kind, reported?.retryAfterMs]
    }
    assert.deepEqual(await kindOf([{ method: 'PATCH', retryAfterS: 120 }]), ['throttled', 120_000])
    assert.deepEqual(await kindOf([{ method: 'PATCH', status: 403 }]), ['refused', undefined])
    assert.deepEqual(await kindOf([{ method: 'PATCH', drop: true }]), ['unavailable', undefined])
    fixture.server.setFaults([])
    const gone = await fixture.directory.addMembers(TENANT, NO_GROUP, [user(1)], NO_DEADLINE)
    assert.equal(gone.fault?.kind, 'groupMissing')
  })

  it('follows no link to another host, and does not take a page without members as the last', async () => {
    const replyWith = (body: unknown) =>
      graphDirectory({
        graphUrl: 'https://graph.example',
        send: async (): Promise<GraphReply> => ({ status: 200, body, isJson: true, retryAfterMs: undefined }),
        servicePrincipalOf: async () => '',
        sleep: async () => undefined,
        nowMs: () => 0,
        random: () => 0,
      })
    const otherHost = replyWith({ value: [], '@odata.nextLink': 'https://evil.example/v1.0/groups/x/members' })
    const { continueAfter } = await otherHost.listMembers(TENANT, NO_GROUP, undefined)
    const unavailable = { name: 'DirectoryFault', kind: 'unavailable' }
    await assert.rejects(otherHost.listMembers(TENANT, NO_GROUP, continueAfter), unavailable)
    const own = 'https://graph.example/v1.0/groups/x/members?$skiptoken=1'
    const circle = replyWith({ value: [], '@odata.nextLink': own })
    await assert.rejects(readAllMembers(TENANT, NO_GROUP, circle), unavailable)
    await assert.rejects(replyWith({}).listMembers(TENANT, NO_GROUP, undefined), unavailable)
    await assert.rejects(replyWith(undefined).listMembers(TENANT, NO_GROUP, undefined), unavailable)
    const whole = await replyWith({ value: [] }).listMembers(TENANT, NO_GROUP, undefined)
    assert.deepEqual(whole, { users: [], others: [] })
  })

  const answering = (status: number, body: unknown, isJson: boolean) =>
    graphDirectory({
      graphUrl: 'https://graph.example',
      send: async (): Promise<GraphReply> => ({ status, body, isJson, retryAfterMs: undefined }),
      servicePrincipalOf: async () => user(0),
      sleep: async () => undefined,
      nowMs: () => 0,
      random: () => 0,
    })

  it('begins anew when a position is not kept any more or is too old, with the code in either spelling', async () => {
    const from = { groupIds: [NO_GROUP] }
    const tooOld = ['Request_UnsupportedQuery', 'Directory_ExpiredPageToken']
    for (const code of ['syncStateNotFound', 'SyncStateNotFound', 'syncstatenotfound', ...tooOld]) {
      const reset = answering(400, { error: { code } }, true)
      assert.equal(await reset.readMemberChanges(TENANT, from), undefined)
    }
    const refused = answering(400, { error: { code: 'BadRequest' } }, true)
    await assert.rejects(refused.readMemberChanges(TENANT, from), { name: 'DirectoryFault' })
  })

  it('takes a group for not owned only when Graph says that it does not exist, not a proxy', async () => {
    const missing = answering(404, { error: { code: 'Request_ResourceNotFound' } }, true)
    assert.deepEqual(await missing.ownedGroups(TENANT, [NO_GROUP]), new Set())
    const proxy = answering(404, '<html>Not Found</html>', false)
    await assert.rejects(proxy.ownedGroups(TENANT, [NO_GROUP]), { name: 'DirectoryFault' })
  })

  it('builds the path of a removal from GUIDs only, always ending in /$ref', () => {
    assert.equal(removeCall(NO_GROUP, user(1)).path, `/groups/${NO_GROUP}/members/${user(1)}/$ref`)
    for (const account of ['', `${user(1)}/../..`, `${user(1)}?x=`, 'me']) {
      assert.throws(() => removeCall(NO_GROUP, account), /is not a directory object's id/)
    }
  })

  it('requests a tenant’s token once for concurrent calls, again after it was invalidated, and reports a refusal', async () => {
    const settings = {
      authorityUrl: fixture.server.url,
      homeTenantId: TENANT,
      clientId: 'aaaaaaaa-0000-4000-8000-000000000001',
      clientSecret: 'service-secret',
      graphIdentityClientId: undefined,
    }
    const tokens = graphTokens(settings, Date.now)
    const all = await Promise.all([1, 2, 3, 4].map(() => tokens.get(TENANT)))
    assert.equal(new Set(all).size, 1)
    assert.notEqual(await tokens.get(SMALL_TENANT), all[0])
    tokens.invalidate(TENANT)
    assert.notEqual(await tokens.get(TENANT), all[0])
    const wrong = graphTokens({ ...settings, clientSecret: 'wrong' }, Date.now)
    await assert.rejects(wrong.get(TENANT), { name: 'DirectoryFault', kind: 'refused' })
  })

  it('renews an old token once for concurrent calls, and caches a limited number of tenants', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const settings = {
      authorityUrl: fixture.server.url,
      homeTenantId: TENANT,
      clientId: 'aaaaaaaa-0000-4000-8000-000000000001',
      clientSecret: 'service-secret',
      graphIdentityClientId: undefined,
    }
    const tokens = graphTokens(settings, Date.now, 1)
    const first = await tokens.get(TENANT)
    assert.equal(await tokens.get(TENANT), first)
    context.mock.timers.tick(56 * 60 * 1000)
    const renewed = new Set(await Promise.all([1, 2, 3, 4].map(() => tokens.get(TENANT))))
    assert.deepEqual([renewed.size, renewed.has(first)], [1, false])
    await tokens.get(SMALL_TENANT)
    assert.equal(renewed.has(await tokens.get(TENANT)), false)
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
