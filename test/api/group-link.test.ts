import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { GROUP_LINK_PREFIX, groupLinkRoutes } from '../../functions/routes/group-link.ts'
import type { Caller, Role } from '../../shared/domain/caller.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { SMALL_TENANT, TENANT, user, users } from '../jobs/link-directory.ts'
import { type LinkWorld, openWorld } from '../jobs/link-world.ts'

const NOBODYS_ID = 'eeeeeeee-0000-4000-8000-000000000001'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/

type Envelope = { data: unknown; errors: { code: string; target?: string }[]; error?: string; isSuccess: boolean }
type Reply = { status: number; headers: Readonly<Record<string, string>>; body: Envelope }

const ROLES: Record<string, readonly Role[]> = {
  reader: ['collections-criteria.criteria.read.all'],
  writer: ['collections-criteria.criteria.readwrite.all'],
  stranger: ['collections-criteria.criteria.readwrite.all'],
  nobody: [],
}

describe('The API of group links', () => {
  let world: LinkWorld
  let call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
  let as: (name: string) => typeof call
  before(async () => {
    world = await openWorld()
    const dispatch = dispatcher(
      { prefix: GROUP_LINK_PREFIX, routes: groupLinkRoutes(world.deps) },
      { ...world.deps, authenticate: async (header) => callerOf(header ?? '') },
    )
    as =
      (name) =>
      async (method, path, body, headers = {}) => {
        const all: Record<string, string> = { authorization: name, 'content-type': 'application/json', ...headers }
        const answer = await dispatch({
          method,
          url: `/${GROUP_LINK_PREFIX}${path}`,
          header: (header) => all[header] ?? null,
          bytes: async () => new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
        })
        return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body ?? 'null') }
      }
    call = as('writer')
  })
  after(() => world.close())
  beforeEach(() => {
    world.server.setFaults([])
    world.collections.failing = false
    world.rings.length = 0
  })

  function callerOf(name: string): Caller {
    const roles = ROLES[name]
    if (roles === undefined) throw new Refusal('TokenInvalid')
    const tenantId = name === 'stranger' ? SMALL_TENANT : TENANT
    return { kind: 'application', tenantId, objectId: user(0), clientId: user(1), roles: new Set(roles) }
  }

  const codes = ({ status, body }: Reply) => [status, ...body.errors.map(({ code }) => code)]
  const create = async (collectionId: string, directoryGroupId: string) =>
    (await call('POST', '/group-links', { collectionId, directoryGroupId })).body.data as string

  it('creates a link, and answers exactly the fields of the statement', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const directoryGroupId = await world.newGroup({ displayName: 'Rådhuset' })
    const created = await call('POST', '/group-links', {
      collectionId: collectionId.toUpperCase(),
      directoryGroupId: directoryGroupId.toUpperCase(),
      id: 'ignored',
    })
    assert.equal(created.status, 201)
    const id = created.body.data as string
    assert.equal(created.headers.location, `/group-link/beta/group-links/${id}`)
    const { status, body, headers } = await as('reader')('GET', `/group-links/${id}`)
    assert.equal(status, 200)
    assert.match(headers.etag ?? '', /^"[^"]+"$/)
    const { createdAt, ...link } = body.data as Record<string, unknown>
    assert.match(String(createdAt), TIMESTAMP)
    assert.deepEqual(link, {
      id,
      collectionId,
      directoryGroupId,
      directoryTenantId: TENANT,
      state: 'Enabled',
      lastSyncedAt: null,
      lastSyncOutcome: null,
      directoryGroupDisplayName: 'Rådhuset',
    })
    await world.drain()
    const { data } = (await as('reader')('GET', `/sync-jobs?collectionId=${collectionId}`)).body as { data: object[] }
    assert.deepEqual(Object.keys(data[0] ?? {}).sort(), [
      'added',
      'attempts',
      'collectionId',
      'completedAt',
      'createdAt',
      'directoryGroupId',
      'error',
      'id',
      'removed',
      'skipped',
      'startedAt',
      'status',
      'type',
    ])
    const synced = (await call('GET', `/group-links/by-collection/${collectionId}`)).body.data as Record<
      string,
      unknown
    >
    assert.equal(synced.lastSyncOutcome, 'Succeeded')
    assert.match(String(synced.lastSyncedAt), TIMESTAMP)
  })

  const UNLINKABLE: [code: string, properties: Record<string, unknown>][] = [
    ['GroupMembershipIsDynamic', { groupTypes: ['DynamicMembership'], membershipRule: 'user.city -eq "Oslo"' }],
    ['GroupIsMailEnabled', { mailEnabled: true, securityEnabled: false }],
    ['GroupIsMailEnabled', { mailEnabled: true, securityEnabled: true }],
    ['GroupIsSyncedFromOnPremises', { onPremisesSyncEnabled: true }],
    ['GroupIsRoleAssignable', { isAssignableToRole: true }],
    ['GroupHasHiddenMembership', { visibility: 'HiddenMembership', groupTypes: ['Unified'], mailEnabled: true }],
  ]
  for (const [code, properties] of UNLINKABLE) {
    it(`refuses a group at creation and preview: ${code} for ${JSON.stringify(properties)}`, async () => {
      const collectionId = world.collections.make(users(0, 3))
      const groupId = await groupLike(properties)
      const asked = await withProperties(groupId, properties, async () => ({
        creation: await call('POST', '/group-links', { collectionId, directoryGroupId: groupId }),
        preview: await call('POST', '/group-links/preview', { collectionId, groupId }),
      }))
      assert.deepEqual(codes(asked.creation), [403, code])
      assert.deepEqual(codes(asked.preview), [403, code])
      assert.equal(asked.creation.body.errors[0]?.target, '/directoryGroupId')
      assert.equal(asked.preview.body.errors[0]?.target, '/groupId')
    })
  }

  /** The local directory lets nobody make some kinds of group: those are read as if they were. */
  const groupLike = (_properties: Record<string, unknown>) => world.newGroup()
  async function withProperties<T>(id: string, properties: Record<string, unknown>, act: () => Promise<T>): Promise<T> {
    const { directory } = world.deps
    const original = directory.readGroup
    directory.readGroup = async (tenantId, groupId) => {
      const group = await original(tenantId, groupId)
      return group === undefined || group.id !== id ? group : { ...group, ...properties }
    }
    try {
      return await act()
    } finally {
      directory.readGroup = original
    }
  }

  it('takes a unified group, and one that was mastered on premises once', async () => {
    const collectionId = world.collections.make(users(0, 3))
    for (const properties of [
      { groupTypes: ['Unified'], mailEnabled: true, securityEnabled: false },
      { onPremisesSyncEnabled: false },
    ]) {
      const directoryGroupId = await world.newGroup()
      const made = await withProperties(directoryGroupId, properties, () =>
        call('POST', '/group-links', { collectionId, directoryGroupId }),
      )
      assert.equal(made.status, 201)
    }
  })

  it('refuses faulty input with all that is wrong, before it looks anywhere', async () => {
    const { errors } = (await call('POST', '/group-links', { collectionId: '', directoryGroupId: '' })).body
    assert.deepEqual(
      errors.map(({ code, target }) => [code, target]),
      [
        ['InvalidId', '/collectionId'],
        ['InvalidId', '/directoryGroupId'],
      ],
    )
    assert.deepEqual(codes(await call('POST', '/group-links', {})), [400, 'MissingMember', 'MissingMember'])
    assert.deepEqual(codes(await call('POST', '/group-links')), [400, 'BodyRequired'])
  })

  it('refuses in the decided order: collection, its type, an existing link, the group', async () => {
    const groupId = await world.newGroup()
    const missing = { collectionId: NOBODYS_ID, directoryGroupId: NOBODYS_ID }
    const unknown = await call('POST', '/group-links', missing)
    assert.deepEqual(codes(unknown), [400, 'CollectionUnknown'])
    assert.equal(unknown.body.errors[0]?.target, '/collectionId')
    const orgUnits = world.collections.make([], 'OrgUnit')
    const notLinkable = await call('POST', '/group-links', { collectionId: orgUnits, directoryGroupId: NOBODYS_ID })
    assert.deepEqual(codes(notLinkable), [400, 'ObjectTypeNotLinkable'])
    const collectionId = world.collections.make(users(0, 3))
    const noGroup = await call('POST', '/group-links', { collectionId, directoryGroupId: NOBODYS_ID })
    assert.deepEqual(codes(noGroup), [403, 'GroupNotFound'])
    await create(collectionId, groupId)
    const again = await call('POST', '/group-links', { collectionId, directoryGroupId: groupId })
    assert.deepEqual(codes(again), [409, 'GroupAlreadyLinked'])
  })

  it('lets one of several creates at once win', async () => {
    const directoryGroupId = await world.newGroup()
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() =>
        call('POST', '/group-links', { collectionId: world.collections.make(users(0, 3)), directoryGroupId }),
      ),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409])
  })

  for (const [claim, fault] of [
    ['fails', { status: 500 }],
    ['refuses', { status: 403 }],
    ['hangs up', { drop: true }],
  ] as const) {
    it(`answers 502 when the directory ${claim}, at creation and preview`, async () => {
      const collectionId = world.collections.make(users(0, 3))
      const groupId = await world.newGroup()
      world.server.setFaults([{ ...fault, method: 'GET' }])
      const creation = await call('POST', '/group-links', { collectionId, directoryGroupId: groupId })
      assert.deepEqual(codes(creation), [502, 'GroupNotVerified'])
      assert.deepEqual(codes(await call('POST', '/group-links/preview', { collectionId, groupId })), [
        502,
        'GroupNotVerified',
      ])
    })
  }

  it('answers 502 when the collection cannot be looked up', async () => {
    world.collections.failing = true
    const body = { collectionId: NOBODYS_ID, directoryGroupId: NOBODYS_ID }
    assert.deepEqual(codes(await call('POST', '/group-links', body)), [502, 'CollectionNotVerified'])
  })

  it('previews what a sync would write, and writes nothing', async () => {
    const collectionId = world.collections.make(users(0, 3))
    world.collections.change(collectionId, users(0, 3), 2)
    const groupId = await world.newGroup({}, users(2, 3))
    world.server.clearRequests()
    const { status, body } = await as('reader')('POST', '/group-links/preview', { collectionId, groupId })
    assert.equal(status, 200)
    assert.deepEqual(body.data, {
      membersToAdd: [user(0), user(1)],
      membersToRemove: [user(3), user(4)],
      membersWithoutEntraAccount: 2,
    })
    assert.ok(world.server.requests().every(({ method }) => method === 'GET'))
    assert.deepEqual((await call('GET', `/group-links?collectionId=${collectionId}`)).body.data, [])
  })

  it('lists the links of a collection oldest first, and answers the oldest alone', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      ids.push(await create(collectionId, await world.newGroup()))
      await world.clock.sleep(5)
    }
    const listed = (await call('GET', `/group-links?collectionId=${collectionId}`)).body.data as { id: string }[]
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids,
    )
    const oldest = (await call('GET', `/group-links/by-collection/${collectionId}`)).body.data as { id: string }
    assert.equal(oldest.id, ids[0])
    const { status, body } = await call('POST', `/group-links/${collectionId}/sync`)
    assert.equal(status, 202)
    const { jobId, jobIds } = body.data as { jobId: string; jobIds: string[] }
    assert.equal(jobIds.length, 3)
    assert.equal(jobId, jobIds[0])
  })

  it('answers a queued ManualSync again, also when several ask at once, and queues anew once it runs', async () => {
    const collectionId = world.collections.make(users(0, 3))
    await create(collectionId, await world.newGroup())
    await world.drain()
    const asked = await Promise.all([1, 2, 3, 4].map(() => call('POST', `/group-links/${collectionId}/sync`)))
    const jobIds = new Set(asked.map(({ body }) => (body.data as { jobId: string }).jobId))
    assert.equal(jobIds.size, 1)
    await world.drain()
    const next = (await call('POST', `/group-links/${collectionId}/sync`)).body.data as { jobId: string }
    assert.ok(!jobIds.has(next.jobId))
    assert.deepEqual((await world.jobsOf(collectionId)).map(({ type }) => type).sort(), [
      'LinkCreated',
      'ManualSync',
      'ManualSync',
    ])
  })

  it('disables and enables a link', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const id = await create(collectionId, await world.newGroup())
    const disabled = await call('PATCH', `/group-links/${id}`, { state: 'Disabled' })
    assert.equal(disabled.status, 200)
    assert.equal((disabled.body.data as { state: string }).state, 'Disabled')
    assert.equal((disabled.body.data as { lastSyncOutcome: string }).lastSyncOutcome, 'Failed')
    const [job] = await world.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.error], ['Failed', 'The group link is disabled'])
    assert.deepEqual(codes(await call('POST', `/group-links/${collectionId}/sync`)), [409, 'LinkDisabled'])
    await call('PATCH', `/group-links/${id}`, { state: 'Enabled' })
    assert.equal((await world.jobsOf(collectionId)).length, 1)
    assert.equal((await call('POST', `/group-links/${collectionId}/sync`)).status, 202)
    assert.deepEqual(codes(await call('PATCH', `/group-links/${id}`, { state: 'enabled' })), [400, 'InvalidValue'])
    assert.deepEqual(codes(await call('PATCH', `/group-links/${id}`, {})), [400, 'MissingMember'])
  })

  it('honours If-Match, and a sync in between does not make it fail', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const id = await create(collectionId, await world.newGroup())
    const { headers } = await call('GET', `/group-links/${id}`)
    await world.drain()
    const etag = headers.etag ?? ''
    const first = await call('PATCH', `/group-links/${id}`, { state: 'Disabled' }, { 'if-match': etag })
    assert.equal(first.status, 200)
    assert.notEqual(first.headers.etag, etag)
    const stale = { 'if-match': etag }
    assert.deepEqual(codes(await call('PATCH', `/group-links/${id}`, { state: 'Enabled' }, stale)), [
      412,
      'PreconditionFailed',
    ])
    assert.deepEqual(codes(await call('DELETE', `/group-links/${id}`, undefined, stale)), [412, 'PreconditionFailed'])
    const current = { 'if-match': `"other", ${first.headers.etag}` }
    assert.equal((await call('DELETE', `/group-links/${id}`, undefined, current)).status, 200)
  })

  it('deletes a link, leaves its group and its history, and frees the group', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const groupId = await world.newGroup()
    const id = await create(collectionId, groupId)
    await world.drain()
    await call('POST', `/group-links/${collectionId}/sync`)
    const deleted = await call('DELETE', `/group-links/${id}`)
    assert.deepEqual([deleted.status, deleted.body.data], [200, null])
    assert.deepEqual(codes(await call('GET', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await call('DELETE', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await call('POST', `/group-links/${collectionId}/sync`)), [404, 'LinkNotFound'])
    const jobs = (await call('GET', `/sync-jobs?collectionId=${collectionId}`)).body.data as { error: string }[]
    assert.deepEqual(
      jobs.map(({ error }) => error),
      ['The group link was deleted', null],
    )
    assert.equal((await world.membersOf(groupId)).size, 3)
    assert.ok(await create(collectionId, groupId))
  })

  it('lists ten jobs, or as many as asked up to fifty, newest first', async () => {
    const collectionId = world.collections.make(users(0, 1))
    await create(collectionId, await world.newGroup())
    await world.drain()
    for (let count = 0; count < 11; count += 1) {
      await world.clock.sleep(5)
      await call('POST', `/group-links/${collectionId}/sync`)
      await world.drain()
    }
    const list = async (query: string) =>
      (await call('GET', `/sync-jobs?collectionId=${collectionId}${query}`)).body.data as { createdAt: string }[]
    assert.equal((await list('')).length, 10)
    assert.equal((await list('&limit=3')).length, 3)
    const all = (await list('&limit=50')).map(({ createdAt }) => createdAt)
    assert.equal(all.length, 12)
    assert.deepEqual(all, all.toSorted().reverse())
    for (const limit of ['0', '51', 'ten', '1.5', '']) {
      const reply = await call('GET', `/sync-jobs?collectionId=${collectionId}&limit=${limit}`)
      assert.equal(reply.status, 400, `limit=${limit}`)
      assert.equal(reply.body.errors[0]?.target, 'limit')
    }
    assert.deepEqual(codes(await call('GET', '/sync-jobs')), [400, 'MissingMember'])
    assert.deepEqual((await call('GET', `/sync-jobs?collectionId=${NOBODYS_ID}`)).body.data, [])
  })

  it('shows nothing of another tenant', async () => {
    const collectionId = world.collections.make(users(0, 3))
    const id = await create(collectionId, await world.newGroup())
    const [job] = await world.jobsOf(collectionId)
    const stranger = as('stranger')
    assert.deepEqual(codes(await stranger('GET', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('PATCH', `/group-links/${id}`, { state: 'Disabled' })), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('DELETE', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('GET', `/sync-jobs/${job?.id}`)), [404, 'SyncJobNotFound'])
    assert.deepEqual((await stranger('GET', `/group-links?collectionId=${collectionId}`)).body.data, [])
    assert.equal((await call('GET', `/sync-jobs/${job?.id}`)).status, 200)
  })

  it('lets readers read and preview, and only writers change', async () => {
    const id = NOBODYS_ID
    for (const [method, path, forReaders] of [
      ['POST', '/group-links', false],
      ['GET', `/group-links?collectionId=${id}`, true],
      ['POST', '/group-links/preview', true],
      ['GET', `/group-links/by-collection/${id}`, true],
      ['GET', `/group-links/${id}`, true],
      ['PATCH', `/group-links/${id}`, false],
      ['DELETE', `/group-links/${id}`, false],
      ['POST', `/group-links/${id}/sync`, false],
      ['GET', `/sync-jobs?collectionId=${id}`, true],
      ['GET', `/sync-jobs/${id}`, true],
    ] as const) {
      assert.equal((await as('nobody')(method, path)).status, 403, `nobody: ${method} ${path}`)
      assert.equal((await as('reader')(method, path)).status === 403, !forReaders, `reader: ${method} ${path}`)
      assert.notEqual((await call(method, path)).status, 403, `writer: ${method} ${path}`)
    }
  })
})
