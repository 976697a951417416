import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codes, linkApiOfTests, TIMESTAMP, UNKNOWN_ID } from '../support/api/link-api.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'

const api = await linkApiOfTests()

describe('Creating and previewing group links', () => {
  it('creates a link, and returns exactly the fields of the API description', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const directoryGroupId = await api.newGroup({ displayName: 'Rådhuset' })
    const created = await api.call('POST', '/group-links', {
      collectionId: collectionId.toUpperCase(),
      directoryGroupId: directoryGroupId.toUpperCase(),
      id: 'ignored',
    })
    assert.equal(created.status, 201)
    const id = created.body.data as string
    assert.equal(created.headers.location, `/group-link/beta/group-links/${id}`)
    const { status, body, headers } = await api.as('reader')('GET', `/group-links/${id}`)
    assert.equal(status, 200)
    assert.match(headers.etag ?? '', /^"[^"]+"$/)
    const { createdAt, ...link } = body.data as Record<string, unknown>
    assert.match(String(createdAt), TIMESTAMP)
    assert.deepEqual(link, {
      id,
      collectionId,
      directoryGroupId,
      directoryTenantId: TENANT,
      createdBy: user(0),
      state: 'Enabled',
      lastSyncedAt: null,
      lastSyncOutcome: null,
      directoryGroupDisplayName: 'Rådhuset',
      heldRemovals: null,
      acceptedWithoutAccount: [],
      syncState: 'Pending',
      pausedBy: null,
    })
    await api.drain()
    const { data } = (await api.as('reader')('GET', `/sync-jobs?collectionId=${collectionId}`)).body as {
      data: object[]
    }
    assert.deepEqual(Object.keys(data[0] ?? {}).sort(), [
      'added',
      'approvedBy',
      'approvedPlanId',
      'attempts',
      'cause',
      'collectionId',
      'completedAt',
      'createdAt',
      'directoryGroupId',
      'error',
      'held',
      'id',
      'removed',
      'requestedBy',
      'requestedByName',
      'skipped',
      'startedAt',
      'status',
      'type',
      'unresolved',
    ])
    const synced = (await api.call('GET', `/group-links/by-collection/${collectionId}`)).body.data as Record<
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
    ['GroupManagementIsRestricted', { isManagementRestricted: true }],
  ]
  for (const [code, properties] of UNLINKABLE) {
    it(`refuses a group at creation and preview: ${code} for ${JSON.stringify(properties)}`, async () => {
      const collectionId = api.collections.make(users(0, 3))
      const groupId = await api.newGroup()
      const asked = await api.withProperties(groupId, properties, async () => ({
        creation: await api.call('POST', '/group-links', { collectionId, directoryGroupId: groupId }),
        preview: await api.call('POST', '/group-links/preview', { collectionId, groupId }),
      }))
      assert.deepEqual(codes(asked.creation), [403, code])
      assert.deepEqual(codes(asked.preview), [403, code])
      assert.equal(asked.creation.body.errors[0]?.target, '/directoryGroupId')
      assert.equal(asked.preview.body.errors[0]?.target, '/groupId')
    })
  }

  it('accepts a unified group, and a group that is no longer synced from on-premises', async () => {
    const collectionId = api.collections.make(users(0, 3))
    for (const properties of [
      { groupTypes: ['Unified'], mailEnabled: true, securityEnabled: false },
      { onPremisesSyncEnabled: false },
    ]) {
      const directoryGroupId = await api.newGroup()
      const made = await api.withProperties(directoryGroupId, properties, () =>
        api.call('POST', '/group-links', { collectionId, directoryGroupId }),
      )
      assert.equal(made.status, 201)
    }
  })

  it('reports all errors of an invalid body before other checks', async () => {
    const { errors } = (await api.call('POST', '/group-links', { collectionId: '', directoryGroupId: '' })).body
    assert.deepEqual(
      errors.map(({ code, target }) => [code, target]),
      [
        ['InvalidId', '/collectionId'],
        ['InvalidId', '/directoryGroupId'],
      ],
    )
    assert.deepEqual(codes(await api.call('POST', '/group-links', {})), [400, 'MissingMember', 'MissingMember'])
    assert.deepEqual(codes(await api.call('POST', '/group-links')), [400, 'BodyRequired'])
  })

  it('checks in this order: collection, object type, existing link, group', async () => {
    const groupId = await api.newGroup()
    const missing = { collectionId: UNKNOWN_ID, directoryGroupId: UNKNOWN_ID }
    const unknown = await api.call('POST', '/group-links', missing)
    assert.deepEqual(codes(unknown), [400, 'CollectionUnknown'])
    assert.equal(unknown.body.errors[0]?.target, '/collectionId')
    const orgUnits = api.collections.make([], 'OrgUnit')
    const notLinkable = await api.call('POST', '/group-links', { collectionId: orgUnits, directoryGroupId: UNKNOWN_ID })
    assert.deepEqual(codes(notLinkable), [400, 'ObjectTypeNotLinkable'])
    const collectionId = api.collections.make(users(0, 3))
    const noGroup = await api.call('POST', '/group-links', { collectionId, directoryGroupId: UNKNOWN_ID })
    assert.deepEqual(codes(noGroup), [403, 'GroupNotFound'])
    assert.match(noGroup.body.error ?? '', new RegExp(UNKNOWN_ID))
    await api.create(collectionId, groupId)
    const again = await api.call('POST', '/group-links', { collectionId, directoryGroupId: groupId })
    assert.deepEqual(codes(again), [409, 'GroupAlreadyLinked'])
  })

  it('refuses a link whose collection depends on the members of the group', async () => {
    const [collectionId, directoryGroupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
    api.collections.circle = [collectionId, collectionId]
    const answer = await api.call('POST', '/group-links', { collectionId, directoryGroupId })
    api.collections.circle = undefined
    assert.deepEqual(codes(answer), [409, 'CircularReference'])
    assert.equal(answer.body.errors[0]?.target, '/directoryGroupId')
    assert.equal((await api.call('POST', '/group-links', { collectionId, directoryGroupId })).status, 201)
  })

  it('keeps no link whose collection has come to depend on the members of the group meanwhile', async () => {
    const [collectionId, directoryGroupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
    const { add } = api.deps.links
    api.deps.links.add = async (...args) => {
      api.collections.circle = [collectionId, collectionId]
      return add(...args)
    }
    const answer = await api.call('POST', '/group-links', { collectionId, directoryGroupId })
    Object.assign(api.deps.links, { add })
    api.collections.circle = undefined
    assert.deepEqual(codes(answer), [409, 'CircularReference'])
    assert.equal(await api.deps.links.ofGroup(TENANT, directoryGroupId), undefined)
  })

  it('creates no link for a collection that is deleted concurrently', async () => {
    const directoryGroupId = await api.newGroup()
    const collectionId = api.collections.make(users(0, 3))
    const verified = api.collections.find
    api.collections.find = async (...args) => {
      const found = await verified(...args)
      api.collections.remove(collectionId)
      return found
    }
    const late = await api.call('POST', '/group-links', { collectionId, directoryGroupId })
    api.collections.find = verified
    assert.deepEqual(codes(late), [400, 'CollectionUnknown'])
    assert.equal(late.body.errors[0]?.target, '/collectionId')
    assert.deepEqual((await api.call('GET', `/group-links?collectionId=${collectionId}`)).body.data, [])
    await api.create(api.collections.make(users(0, 3)), directoryGroupId)
  })

  it('accepts one of several concurrent creates for a group', async () => {
    const directoryGroupId = await api.newGroup()
    const replies = await Promise.all(
      [1, 2, 3, 4].map(() =>
        api.call('POST', '/group-links', { collectionId: api.collections.make(users(0, 3)), directoryGroupId }),
      ),
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 409, 409, 409])
    const linkId = replies.find(({ status }) => status === 201)?.body.data
    const { collectionId } = (await api.call('GET', `/group-links/${linkId}`)).body.data as { collectionId: string }
    const message = `The directory group ${directoryGroupId} is already linked to collection ${collectionId} by link ${linkId}.`
    for (const { body } of replies.filter(({ status }) => status === 409)) {
      assert.deepEqual(body.errors, [{ code: 'GroupAlreadyLinked', message, target: '/directoryGroupId' }])
    }
  })

  for (const [claim, fault, remedy] of [
    ['fails', { status: 500 }, 'The directory failed or is throttling requests: retry later.'],
    [
      'refuses',
      { status: 403 },
      'The directory refused the service: consent or a permission is missing in this tenant, and a retry does not help.',
    ],
    ['closes the connection', { drop: true }, 'The directory failed or is throttling requests: retry later.'],
  ] as const) {
    it(`returns 502 with the remedy when the directory ${claim}, at creation and preview`, async () => {
      const collectionId = api.collections.make(users(0, 3))
      const groupId = await api.newGroup()
      api.server.setFaults([{ ...fault, method: 'GET' }])
      const creation = await api.call('POST', '/group-links', { collectionId, directoryGroupId: groupId })
      assert.deepEqual(codes(creation), [502, 'GroupNotVerified'])
      assert.equal(
        (creation.body.errors[0] as { message?: string } | undefined)?.message,
        `The directory group ${groupId} could not be verified. ${remedy}`,
      )
      assert.deepEqual(codes(await api.call('POST', '/group-links/preview', { collectionId, groupId })), [
        502,
        'GroupNotVerified',
      ])
    })
  }

  it('returns 502 when the collection cannot be read', async () => {
    api.collections.failing = true
    const body = { collectionId: UNKNOWN_ID, directoryGroupId: UNKNOWN_ID }
    assert.deepEqual(codes(await api.call('POST', '/group-links', body)), [502, 'CollectionNotVerified'])
  })

  it('previews what a sync would write, and writes nothing', async () => {
    const collectionId = api.collections.make(users(0, 3))
    api.collections.change(collectionId, users(0, 3), 2)
    const nested = await api.newGroup()
    const groupId = await api.newGroup({}, [...users(2, 3), nested])
    api.server.clearRequests()
    const { status, body } = await api.as('reader')('POST', '/group-links/preview', { collectionId, groupId })
    assert.equal(status, 200)
    assert.deepEqual(body.data, {
      membersToAdd: [user(0), user(1)],
      membersToRemove: [user(3), user(4)],
      membersWithoutEntraAccount: 2,
      groupMemberCount: 3,
    })
    assert.ok(api.server.requests().every(({ method }) => method === 'GET'))
    assert.deepEqual((await api.call('GET', `/group-links?collectionId=${collectionId}`)).body.data, [])
  })
})
