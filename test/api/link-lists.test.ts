import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { GroupLinkDto } from '../../shared/domain/group-links/group-link.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { LinkableGroup } from '../../shared/domain/group-links/search-groups.ts'
import { newJob, type SyncJob, type SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import { codes, type LinkApi, openLinkApi, type Reply } from '../support/api/link-api.ts'
import { SERVICE_PRINCIPAL, TENANT, users } from '../support/jobs/link-directory.ts'

const AT_MS = Date.parse('2030-01-01T00:00:00Z')

type Paged<T> = Omit<Reply, 'body'> & { body: { data: T[]; nextCursor?: string; errors: { code: string }[] } }

/** All items of a list, page by page. */
async function allPages<T>(api: LinkApi, path: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const { status, body } = (await api.call(
      'GET',
      cursor === undefined ? path : `${path}&nextCursor=${cursor}`,
    )) as Paged<T>
    assert.equal(status, 200)
    items.push(...body.data)
    cursor = body.nextCursor
  } while (cursor !== undefined)
  return items
}

describe('The group links of a tenant', () => {
  let api: LinkApi
  let linked: GroupLinkDto[]
  before(async () => {
    api = await openLinkApi()
    for (const [age, changes] of [
      [2, {}],
      [1, { state: 'Disabled' }],
      [1, { lastSyncOutcome: 'Failed' }],
      [1, { lastSyncOutcome: 'Succeeded' }],
      [1, { lastSyncOutcome: 'Failed', state: 'Disabled' }],
      [0, {}],
    ] as const) {
      const [collectionId, directoryGroupId] = [randomUUID(), randomUUID()]
      const ids = { id: randomUUID(), tenantId: TENANT, collectionId, directoryGroupId }
      await api.deps.links.add({ ...newLink({ ...ids, directoryGroupDisplayName: null }, AT_MS + age), ...changes })
    }
    linked = await allPages<GroupLinkDto>(api, '/group-links?pageSize=100')
  })
  after(() => api.close())

  it('are listed oldest first, in pages of any size, each once', async () => {
    const keys = linked.map(({ createdAt, id }) => `${createdAt} ${id}`)
    assert.deepEqual([keys.length, keys], [6, keys.toSorted()])
    for (const pageSize of [1, 2, 3, 4, 5, 6]) {
      assert.deepEqual(await allPages(api, `/group-links?pageSize=${pageSize}`), linked, String(pageSize))
    }
  })

  it('can be filtered, in pages as well', async () => {
    const [one] = linked
    for (const [query, matches] of [
      ['state=Disabled', (link: GroupLinkDto) => link.state === 'Disabled'],
      ['lastSyncOutcome=Failed', (link: GroupLinkDto) => link.lastSyncOutcome === 'Failed'],
      ['state=Enabled&lastSyncOutcome=Failed', (link: GroupLinkDto) => link === linked.find(isEnabledAndFailed)],
      [`directoryGroupId=${one?.directoryGroupId.toUpperCase()}`, (link: GroupLinkDto) => link === one],
      [`collectionId=${one?.collectionId}`, (link: GroupLinkDto) => link === one],
      [`collectionId=${one?.collectionId}&state=Disabled`, () => false],
    ] as const) {
      const expected = linked.filter(matches)
      assert.deepEqual(await allPages(api, `/group-links?${query}`), expected, query)
      assert.deepEqual(await allPages(api, `/group-links?${query}&pageSize=1`), expected, query)
    }
    assert.deepEqual(codes(await api.call('GET', '/group-links?state=enabled')), [400, 'InvalidValue'])
  })

  it('are listed for one tenant, and its cursors are bound to it and to the filters', async () => {
    const { body } = (await api.call('GET', '/group-links?pageSize=1&state=Enabled')) as Paged<GroupLinkDto>
    const next = `nextCursor=${body.nextCursor}`
    assert.equal((await api.call('GET', `/group-links?state=Enabled&${next}`)).status, 200)
    for (const query of [next, `state=Disabled&${next}`, `state=Enabled&lastSyncOutcome=Failed&${next}`]) {
      assert.deepEqual(codes(await api.call('GET', `/group-links?${query}`)), [400, 'InvalidCursor'], query)
    }
    const stranger = api.as('stranger')
    assert.deepEqual((await stranger('GET', '/group-links')).body.data, [])
    assert.deepEqual(codes(await stranger('GET', `/group-links?state=Enabled&${next}`)), [400, 'InvalidCursor'])
    assert.deepEqual(codes(await api.as('nobody')('GET', '/group-links')), [403, 'RoleRequired'])
  })
})

const isEnabledAndFailed = ({ state, lastSyncOutcome }: GroupLinkDto) =>
  state === 'Enabled' && lastSyncOutcome === 'Failed'

describe('The sync jobs of a tenant', () => {
  let api: LinkApi
  const links = [1, 2].map(() => ({
    id: randomUUID(),
    tenantId: TENANT,
    collectionId: randomUUID(),
    directoryGroupId: randomUUID(),
  }))
  let stored: SyncJob[]
  before(async () => {
    api = await openLinkApi()
    stored = []
    for (let count = 0; count < 60; count += 1) {
      const link = links[count % 2] as (typeof links)[number]
      const job = newJob({ id: randomUUID(), type: 'ManualSync' }, link, AT_MS + Math.floor(count / 7))
      stored.push({ ...job, status: count % 10 === 0 ? 'Failed' : 'Succeeded' })
    }
    for (const job of stored) await api.deps.jobs.add(job)
    stored.sort((left, right) => (`${left.createdAt} ${left.id}` < `${right.createdAt} ${right.id}` ? 1 : -1))
  })
  after(() => api.close())

  const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id)

  it('are listed newest first, ten at a time, each once', async () => {
    const first = (await api.call('GET', '/sync-jobs')) as Paged<SyncJobDto>
    assert.deepEqual(ids(first.body.data), ids(stored.slice(0, 10)))
    for (const query of ['?', '?limit=1', '?limit=7', '?limit=13', '?limit=50']) {
      assert.deepEqual(ids(await allPages<SyncJobDto>(api, `/sync-jobs${query}`)), ids(stored), query)
    }
  })

  it('can be filtered by status, link and collection', async () => {
    const [link] = links
    for (const [query, matches] of [
      ['status=Failed', ({ status }: SyncJob) => status === 'Failed'],
      [`linkId=${link?.id}`, ({ linkId }: SyncJob) => linkId === link?.id],
      [`collectionId=${link?.collectionId}`, ({ linkId }: SyncJob) => linkId === link?.id],
      [`status=Failed&linkId=${links[1]?.id}`, () => false],
      ['status=Queued', () => false],
    ] as const) {
      assert.deepEqual(
        ids(await allPages<SyncJobDto>(api, `/sync-jobs?limit=4&${query}`)),
        ids(stored.filter(matches)),
        query,
      )
    }
    assert.deepEqual(codes(await api.call('GET', '/sync-jobs?status=Done')), [400, 'InvalidValue'])
  })

  it('are listed for one tenant, and its cursors are bound to it and to the filters', async () => {
    const { body } = (await api.call('GET', '/sync-jobs')) as Paged<SyncJobDto>
    const path = `/sync-jobs?nextCursor=${body.nextCursor}`
    assert.equal((await api.call('GET', path)).status, 200)
    assert.deepEqual(codes(await api.call('GET', `${path}&status=Failed`)), [400, 'InvalidCursor'])
    assert.deepEqual(codes(await api.as('stranger')('GET', path)), [400, 'InvalidCursor'])
    assert.deepEqual((await api.as('stranger')('GET', '/sync-jobs')).body.data, [])
  })

  it('cost operations for a page, not for the list', async () => {
    const count = () => Object.values(api.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const path = '/sync-jobs?limit=5&status=Succeeded'
    const { body } = (await api.call('GET', path)) as Paged<SyncJobDto>
    const before = count()
    await api.call('GET', `${path}&nextCursor=${body.nextCursor}`)
    // Each query has a plan, for which the SDK asks first. One of four queries is for the sweeps that have jobs.
    assert.ok(count() - before <= 8)
  })
})

describe('The search for groups', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi()
  })
  after(() => api.close())
  beforeEach(() => api.server.setFaults([]))

  const found = async (text: string, as = 'reader') => {
    const { status, body } = await api.as(as)('GET', `/groups?text=${encodeURIComponent(text)}`)
    return status === 200 ? (body.data as LinkableGroup[]) : codes({ status, body, headers: {} })
  }

  it('finds groups by the start of their name, by name, and says which can be linked and why not', async () => {
    const free = await api.newGroup({ displayName: 'Nurses North' })
    const taken = await api.newGroup({ displayName: 'nurses east' })
    const dynamic = await api.newGroup({ displayName: 'Nurses west', groupTypes: ['DynamicMembership'] })
    await api.newGroup({ displayName: 'Head nurses' })
    const linkId = await api.create(api.collections.make(users(0, 1)), taken)
    assert.deepEqual(await found('NURSES'), [
      { id: taken, displayName: 'nurses east', linkable: false, refusal: 'GroupAlreadyLinked', linkId },
      { id: free, displayName: 'Nurses North', linkable: true, refusal: null, linkId: null },
      {
        id: dynamic,
        displayName: 'Nurses west',
        linkable: false,
        refusal: 'GroupMembershipIsDynamic',
        linkId: null,
      },
    ])
  })

  it('takes the text literally', async () => {
    const id = await api.newGroup({ displayName: "O'Neill & Sons % #1" })
    for (const text of ["O'N", "O'Neill & Sons % #1", " o'neill "]) {
      assert.deepEqual(
        (await found(text)).map((group) => (group as LinkableGroup).id),
        [id],
        text,
      )
    }
    for (const text of ["x') or startswith(displayName,'O", '%%', "''", 'O_N']) {
      assert.deepEqual(await found(text), [], text)
    }
  })

  it('returns at most fifty groups by a number of calls that does not depend on their number', async () => {
    for (let count = 0; count < 51; count += 1) await api.newGroup({ displayName: `Many ${count}` })
    api.server.clearRequests()
    assert.equal((await found('Many')).length, 50)
    assert.equal(api.server.requests().length, 1)
  })

  describe('when only owned groups can be linked', () => {
    const settings = (linkableGroups: string) => api.as('administrator')('PATCH', '/settings', { linkableGroups })
    before(() => settings('Owned'))
    after(() => settings('Any'))

    it('refuses the groups that the service does not own, unless they have another reason', async () => {
      const owner = { '@odata.id': `${api.server.url}/v1.0/directoryObjects/${SERVICE_PRINCIPAL}` }
      const owned = await api.newGroup({ displayName: 'Staff 1' })
      await api.asTester({ method: 'POST', path: `/groups/${owned}/owners/$ref`, body: owner })
      await api.newGroup({ displayName: 'Staff 2' })
      await api.newGroup({ displayName: 'Staff 3', groupTypes: ['DynamicMembership'] })
      const refusals = ((await found('Staff')) as LinkableGroup[]).map(({ linkable, refusal }) => [linkable, refusal])
      assert.deepEqual(refusals, [
        [true, null],
        [false, 'GroupNotOwned'],
        [false, 'GroupMembershipIsDynamic'],
      ])
    })

    it('asks for the owners of fifty groups in three calls', async () => {
      for (let count = 0; count < 50; count += 1) await api.newGroup({ displayName: `Crowd ${count}` })
      api.server.clearRequests()
      assert.equal((await found('Crowd')).length, 50)
      assert.deepEqual(
        api.server.requests().map(({ method, batch = [] }) => [method, batch.length]),
        [
          ['GET', 0],
          ['POST', 20],
          ['POST', 20],
          ['POST', 10],
        ],
      )
    })
  })

  it('needs two characters, a role, and a directory that answers', async () => {
    for (const text of ['', 'x', ' x ', 'x'.repeat(257)]) {
      assert.deepEqual(await found(text), [400, 'InvalidLength'], text)
    }
    assert.deepEqual(await found('Nurses', 'nobody'), [403, 'RoleRequired'])
    api.server.setFaults([{ path: '/groups', status: 403 }])
    assert.deepEqual(await found('Nurses'), [502, 'GroupNotVerified'])
  })
})
