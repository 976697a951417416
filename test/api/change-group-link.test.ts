import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { codes, linkApiOfTests, UNKNOWN_ID } from '../support/api/link-api.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'

const api = await linkApiOfTests()

/** Two people without an account, in ascending order of their ids. */
async function withoutAccount(): Promise<readonly [string, string]> {
  const ids = [randomUUID(), randomUUID()].sort() as [string, string]
  const written = ids.map((id) => {
    const names = { id, objectType: 'identity', externalId: id } as const
    return { object: { ...names, attributes: {}, contributors: [], deleted: false }, version: undefined }
  })
  await api.newService().connectors.coreObjects.write(TENANT, written, 1)
  return ids
}

describe('Reading and changing group links', () => {
  it('lists the links of a collection oldest first, and returns the oldest by collection', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const ids: string[] = []
    for (const _ of [1, 2, 3]) {
      ids.push(await api.create(collectionId, await api.newGroup()))
      await api.clock.sleep(5)
    }
    const listed = (await api.call('GET', `/group-links?collectionId=${collectionId}`)).body.data as { id: string }[]
    assert.deepEqual(
      listed.map(({ id }) => id),
      ids,
    )
    const oldest = (await api.call('GET', `/group-links/by-collection/${collectionId}`)).body.data as { id: string }
    assert.equal(oldest.id, ids[0])
    const { status, body } = await api.call('POST', `/group-links/${collectionId}/sync`)
    assert.equal(status, 202)
    const { jobId, jobIds } = body.data as { jobId: string; jobIds: string[] }
    assert.equal(jobIds.length, 3)
    assert.equal(jobId, jobIds[0])
  })

  it('disables and enables a link', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const id = await api.create(collectionId, await api.newGroup())
    const disabled = await api.call('PATCH', `/group-links/${id}`, { state: 'Disabled' })
    assert.equal(disabled.status, 200)
    assert.equal((disabled.body.data as { state: string }).state, 'Disabled')
    assert.equal((disabled.body.data as { lastSyncOutcome: string }).lastSyncOutcome, 'Failed')
    const [job] = await api.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.error], ['Failed', 'The group link is disabled.'])
    assert.deepEqual(codes(await api.call('POST', `/group-links/${collectionId}/sync`)), [409, 'LinkDisabled'])
    await api.call('PATCH', `/group-links/${id}`, { state: 'Enabled' })
    assert.equal((await api.jobsOf(collectionId)).length, 1)
    assert.equal((await api.call('POST', `/group-links/${collectionId}/sync`)).status, 202)
    assert.deepEqual(codes(await api.call('PATCH', `/group-links/${id}`, { state: 'enabled' })), [400, 'InvalidValue'])
    const same = await api.call('PATCH', `/group-links/${id}`, {})
    assert.deepEqual([same.status, (same.body.data as { state: string }).state], [200, 'Enabled'])
  })

  describe('disables a link whose job is queued, which is no failure of a sync', () => {
    const patch = async (id: string, state: string) => {
      const { data } = (await api.call('PATCH', `/group-links/${id}`, { state })).body
      return data as { syncState: string; lastSyncOutcome: string }
    }
    const needAttention = async () => {
      const { data } = (await api.call('GET', '/group-links?needsAttention=true')).body
      return (data as { id: string }[]).map(({ id }) => id)
    }

    it('so that the link is Pending when it is enabled, and needs no attention', async () => {
      const collectionId = api.collections.make(users(0, 3))
      const id = await api.create(collectionId, await api.newGroup())
      await api.drain()
      await api.call('POST', `/group-links/${collectionId}/sync`)
      const { lastSyncOutcome, syncState } = await patch(id, 'Disabled')
      assert.deepEqual([lastSyncOutcome, syncState], ['Failed', 'Disabled'])
      assert.equal((await patch(id, 'Enabled')).syncState, 'Pending')
      assert.ok(!(await needAttention()).includes(id))
    })

    it('and ends no series of failures before it', async () => {
      const [collectionId, groupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
      const id = await api.create(collectionId, groupId)
      await api.asTester({ method: 'DELETE', path: `/groups/${groupId}` })
      await api.drain()
      const { lastSyncError } = await api.link(id)
      await api.call('POST', `/group-links/${collectionId}/sync`)
      await patch(id, 'Disabled')
      assert.equal((await patch(id, 'Enabled')).syncState, 'Failed')
      assert.deepEqual([(await api.link(id)).lastSyncError, typeof lastSyncError], [lastSyncError, 'string'])
      assert.ok((await needAttention()).includes(id))
    })
  })

  it('sets up to 100 identities that need no account, each once, and queues a job for them', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const id = await api.create(collectionId, await api.newGroup())
    await api.drain()
    const [one, two] = await withoutAccount()
    const accepted = { acceptedWithoutAccount: [two, one.toUpperCase(), two] }
    const { status, body } = await api.call('PATCH', `/group-links/${id}`, accepted)
    const link = body.data as { state: string; acceptedWithoutAccount: string[]; syncState: string }
    assert.deepEqual([status, link.state, link.acceptedWithoutAccount], [200, 'Enabled', [one, two]])
    assert.equal(link.syncState, 'Pending')
    const [job] = await api.jobsOf(collectionId)
    assert.deepEqual([job?.status, job?.type, job?.requestedBy], ['Queued', 'ManualSync', users(0, 1)[0]])
    await api.drain()
    const { data } = (await api.call('GET', `/group-links/${id}`)).body
    // They are no members of the collection.
    assert.deepEqual((data as typeof link).acceptedWithoutAccount, [])
    assert.equal((data as typeof link).syncState, 'InSync')
    const many = { acceptedWithoutAccount: users(0, 101) }
    assert.deepEqual(codes(await api.call('PATCH', `/group-links/${id}`, many)), [400, 'InvalidLength'])
    const wrong = { acceptedWithoutAccount: ['ada'] }
    assert.equal((await api.call('PATCH', `/group-links/${id}`, wrong)).status, 400)
    assert.equal((await api.as('reader')('PATCH', `/group-links/${id}`, accepted)).status, 403)
  })

  it('accepts no identity without an account that does not exist, unless it was accepted before', async () => {
    const id = await api.create(api.collections.make(users(0, 3)), await api.newGroup())
    const [one, two] = await withoutAccount()
    const accept = (...acceptedWithoutAccount: string[]) =>
      api.call('PATCH', `/group-links/${id}`, { acceptedWithoutAccount })
    const { status, body } = await accept(one, UNKNOWN_ID, two, randomUUID())
    assert.deepEqual(
      [status, body.errors.map(({ code, target }) => [code, target])],
      [
        400,
        [
          ['IdentityUnknown', '/acceptedWithoutAccount/1'],
          ['IdentityUnknown', '/acceptedWithoutAccount/3'],
        ],
      ],
    )
    const { value, version } = (await api.deps.links.find(TENANT, id)) ?? {}
    if (value === undefined || version === undefined) throw new Error('The link is gone')
    assert.deepEqual(value.acceptedWithoutAccount, [])
    // An identity that was deleted since.
    await api.deps.links.replace({ ...value, acceptedWithoutAccount: [UNKNOWN_ID] }, version)
    assert.equal((await accept(one, UNKNOWN_ID)).status, 200)
    assert.deepEqual((await api.link(id)).acceptedWithoutAccount, [one, UNKNOWN_ID].sort())
  })

  it('honours If-Match, which a sync in between does not affect', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const id = await api.create(collectionId, await api.newGroup())
    const { headers } = await api.call('GET', `/group-links/${id}`)
    await api.drain()
    const etag = headers.etag ?? ''
    const first = await api.call('PATCH', `/group-links/${id}`, { state: 'Disabled' }, { 'if-match': etag })
    assert.equal(first.status, 200)
    assert.notEqual(first.headers.etag, etag)
    const stale = { 'if-match': etag }
    assert.deepEqual(codes(await api.call('PATCH', `/group-links/${id}`, { state: 'Enabled' }, stale)), [
      412,
      'PreconditionFailed',
    ])
    assert.deepEqual(codes(await api.call('DELETE', `/group-links/${id}`, undefined, stale)), [
      412,
      'PreconditionFailed',
    ])
    const current = { 'if-match': `"other", ${first.headers.etag}` }
    assert.equal((await api.call('DELETE', `/group-links/${id}`, undefined, current)).status, 200)
  })

  it('stays behind when it is changed while a job waits for its retry', async () => {
    const id = await api.create(api.collections.make(users(0, 3)), await api.newGroup())
    await api.drain()
    const { value, version } = (await api.deps.links.find(TENANT, id)) ?? assert.fail()
    await api.deps.links.replace({ ...value, isBehind: true }, version)
    const { status, body } = await api.call('PATCH', `/group-links/${id}`, { state: 'Enabled' })
    assert.deepEqual([status, (body.data as { syncState: string }).syncState], [200, 'Pending'])
  })

  it('deletes a link, keeps its group and its jobs, and allows a new link of the group', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const groupId = await api.newGroup()
    const id = await api.create(collectionId, groupId)
    await api.drain()
    await api.call('POST', `/group-links/${collectionId}/sync`)
    const deleted = await api.call('DELETE', `/group-links/${id}`)
    assert.deepEqual([deleted.status, deleted.body.data], [200, null])
    assert.deepEqual(codes(await api.call('GET', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await api.call('DELETE', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await api.call('POST', `/group-links/${collectionId}/sync`)), [404, 'LinkNotFound'])
    const jobs = (await api.call('GET', `/sync-jobs?collectionId=${collectionId}`)).body.data as { error: string }[]
    assert.deepEqual(
      jobs.map(({ error }) => error),
      ['The group link was deleted.', null],
    )
    assert.equal((await api.membersOf(groupId)).size, 3)
    assert.ok(await api.create(collectionId, groupId))
  })

  it('returns no link or job of another tenant', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const id = await api.create(collectionId, await api.newGroup())
    const [job] = await api.jobsOf(collectionId)
    const stranger = api.as('stranger')
    assert.deepEqual(codes(await stranger('GET', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('PATCH', `/group-links/${id}`, { state: 'Disabled' })), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('DELETE', `/group-links/${id}`)), [404, 'LinkNotFound'])
    assert.deepEqual(codes(await stranger('GET', `/sync-jobs/${job?.id}`)), [404, 'SyncJobNotFound'])
    assert.deepEqual((await stranger('GET', `/group-links?collectionId=${collectionId}`)).body.data, [])
    assert.equal((await api.call('GET', `/sync-jobs/${job?.id}`)).status, 200)
  })

  it('allows readers to read and preview, and only writers to change', async () => {
    const id = UNKNOWN_ID
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
      assert.equal((await api.as('nobody')(method, path)).status, 403, `nobody: ${method} ${path}`)
      assert.equal((await api.as('reader')(method, path)).status === 403, !forReaders, `reader: ${method} ${path}`)
      assert.notEqual((await api.call(method, path)).status, 403, `writer: ${method} ${path}`)
    }
  })
})
