import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { HeldRemovalsDto } from '../../shared/domain/group-links/removal-plan.ts'
import { codes, type LinkApi, openLinkApi, type Reply, TIMESTAMP, UNKNOWN_ID } from '../support/api/link-api.ts'
import { SERVICE_PRINCIPAL, TENANT, user, users } from '../support/jobs/link-directory.ts'
import { notifyOfMembershipChange, setLinkSettings } from '../support/jobs/link-fixture.ts'

const DEFAULTS = {
  linkableGroups: 'Any',
  removalGuard: { enabled: true, percent: 20, minimum: 10, fourEyes: false },
  timeZone: 'UTC',
  operators: [] as string[],
  language: 'en',
}

type Settings = typeof DEFAULTS & { updatedAt: string | null; updatedBy: string | null }
type Link = { heldRemovals: HeldRemovalsDto | null; createdBy: string }
type Plan = { planId: string; accounts: { directoryObjectId: string; identityId: string | null }[] }

const settingsIn = ({ body }: Reply) => body.data as Settings

describe('The settings of group links', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi({ isGuarded: true })
  })
  after(() => api.close())

  it('have defaults before the first change', async () => {
    const { status, body, headers } = await api.as('reader')('GET', '/settings')
    assert.deepEqual([status, body.data], [200, { ...DEFAULTS, updatedAt: null, updatedBy: null }])
    assert.match(headers.etag ?? '', /^"[^"]+"$/)
  })

  it('are changed by administrators only, and keep what is left out', async () => {
    const change = { linkableGroups: null, removalGuard: { percent: 35 }, updatedBy: 'ignored' }
    assert.deepEqual(codes(await api.call('PATCH', '/settings', change)), [403, 'UsersOnly'])
    const { updatedAt, ...changed } = settingsIn(await api.as('administrator')('PATCH', '/settings', change))
    assert.deepEqual(changed, {
      ...DEFAULTS,
      removalGuard: { ...DEFAULTS.removalGuard, percent: 35 },
      updatedBy: user(0),
    })
    assert.match(updatedAt ?? '', TIMESTAMP)
    assert.deepEqual(settingsIn(await api.as('reader')('GET', '/settings')), { ...changed, updatedAt })
    assert.deepEqual(settingsIn(await api.as('stranger')('GET', '/settings')).removalGuard, DEFAULTS.removalGuard)
  })

  it('are refused out of range, and with an old version', async () => {
    const patch = api.as('administrator')
    for (const removalGuard of [
      { percent: 0 },
      { percent: 101 },
      { minimum: -1 },
      { minimum: 10_001 },
      { percent: 1.5 },
    ]) {
      assert.equal((await patch('PATCH', '/settings', { removalGuard })).status, 400, JSON.stringify(removalGuard))
    }
    assert.equal((await patch('PATCH', '/settings', { linkableGroups: 'Some' })).status, 400)
    const addresses = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@b.example`)
    for (const operators of [addresses(11), ['A <a@b.example>'], ['a@b'], ['a@b.example\r\nBcc: c@d.example']]) {
      assert.equal((await patch('PATCH', '/settings', { operators })).status, 400, operators.join())
    }
    assert.equal((await patch('PATCH', '/settings', { language: 'de' })).status, 400)
    assert.equal((await patch('PATCH', '/settings', { operators: addresses(10), language: 'no' })).status, 200)
    const { headers } = await patch('GET', '/settings')
    const body = { removalGuard: { minimum: 0 } }
    const condition = { 'if-match': headers.etag ?? '' }
    assert.equal((await patch('PATCH', '/settings', body, condition)).status, 200)
    assert.deepEqual(codes(await patch('PATCH', '/settings', body, condition)), [412, 'PreconditionFailed'])
  })

  it('keep every one of many concurrent changes', async () => {
    const patch = api.as('administrator')
    await Promise.all([
      patch('PATCH', '/settings', { removalGuard: { percent: 11 } }),
      patch('PATCH', '/settings', { removalGuard: { minimum: 12 } }),
      patch('PATCH', '/settings', { removalGuard: { enabled: false } }),
    ])
    const { removalGuard } = settingsIn(await patch('GET', '/settings'))
    assert.deepEqual(removalGuard, { enabled: false, percent: 11, minimum: 12, fourEyes: false })
  })
})

describe('With linkableGroups Owned', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi()
    await api.as('administrator')('PATCH', '/settings', { linkableGroups: 'Owned' })
  })
  after(() => api.close())

  const ownersOf = (groupId: string) => `/groups/${groupId}/owners`
  const own = async (groupId: string) => {
    const owner = { '@odata.id': `${api.server.url}/v1.0/directoryObjects/${SERVICE_PRINCIPAL}` }
    await api.asTester({ method: 'POST', path: `${ownersOf(groupId)}/$ref`, body: owner })
  }

  it('a group that the service does not own is refused at creation and preview, with the service principal', async () => {
    const [collectionId, groupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
    for (const [path, body] of [
      ['/group-links', { collectionId, directoryGroupId: groupId }],
      ['/group-links/preview', { collectionId, groupId }],
    ] as const) {
      const reply = await api.call('POST', path, body)
      assert.deepEqual(codes(reply), [403, 'GroupNotOwned'])
      assert.ok(reply.body.error?.includes(SERVICE_PRINCIPAL), reply.body.error)
    }
  })

  it('a group that it owns is linked and synced, with one directory call more', async () => {
    const [collectionId, groupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
    await own(groupId)
    await api.create(collectionId, groupId)
    await api.drain()
    api.server.clearRequests()
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
    assert.equal((await api.jobsOf(collectionId))[0]?.status, 'Succeeded')
    assert.deepEqual(
      api.server.requests().map(({ method, path }) => [method, path.split('/').at(-1)]),
      [
        ['GET', groupId],
        ['GET', 'owners'],
        ['GET', 'members'],
      ],
    )
  })

  for (const [claim, accounts] of [
    ['an addition', users(0, 5)],
    ['a removal', users(0, 2)],
  ] as const) {
    it(`jobs fail at once and changes are not written after the ownership has ended: ${claim}`, async () => {
      const [collectionId, groupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
      await own(groupId)
      await api.create(collectionId, groupId)
      await api.drain()
      await api.asTester({ method: 'DELETE', path: `${ownersOf(groupId)}/${SERVICE_PRINCIPAL}/$ref` })
      api.collections.change(collectionId, accounts)
      await notifyOfMembershipChange(api, collectionId)
      await api.drain()
      const [job] = await api.jobsOf(collectionId)
      assert.deepEqual([job?.type, job?.status, job?.attempts], ['ScheduledSweep', 'Failed', 1])
      assert.ok(job?.error?.includes(SERVICE_PRINCIPAL), String(job?.error))
      assert.deepEqual(await api.membersOf(groupId), new Set(users(0, 3)))
    })
  }
})

describe('Held removals', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi({ isGuarded: true })
  })
  after(() => api.close())
  beforeEach(() => {
    api.sentMessages.length = 0
  })

  /** A link whose group keeps 30 members, 20 of them held. */
  async function held() {
    const [collectionId, groupId] = [api.collections.make(users(0, 30)), await api.newGroup()]
    const id = await api.create(collectionId, groupId)
    await api.drain()
    api.collections.exchange(collectionId, users(0, 10))
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
    const link = (await api.call('GET', `/group-links/${id}`)).body.data as Link
    const planId = link.heldRemovals?.planId ?? ''
    return { id, collectionId, groupId, link, planId, plan: `/group-links/${id}/removal-plan` }
  }

  const approve = (plan: string, planId: string) => api.as('administrator')('POST', `${plan}/${planId}/approve`, {})
  const heldBy = async (id: string) => ((await api.call('GET', `/group-links/${id}`)).body.data as Link).heldRemovals

  it('are decided on by people only, before anything else is looked at', async () => {
    const { id, plan, planId } = await held()
    for (const decision of ['approve', 'reject']) {
      for (const path of [`${plan}/${planId}`, `${plan}/${UNKNOWN_ID}`, '/group-links/x/removal-plan/x']) {
        const reply = await api.as('writer')('POST', `${path}/${decision}`, { notes: 1 })
        assert.deepEqual(codes(reply), [403, 'UsersOnly'])
      }
    }
    assert.equal((await heldBy(id))?.planId, planId)
  })

  it('are marked when a person rejects them, until the plan changes, and can still be approved', async () => {
    const { id, collectionId, groupId, plan, planId, link } = await held()
    const reject = (named: string) => api.as('administrator')('POST', `${plan}/${named}/reject`, { notes: 'No.' })
    assert.deepEqual(codes(await reject(UNKNOWN_ID)), [409, 'PlanChanged'])
    const { status, body } = await reject(planId)
    const rejected = body.data as { rejectedAt: string }
    assert.match(rejected.rejectedAt, TIMESTAMP)
    const expected = { ...link.heldRemovals, rejectedBy: user(0), rejectedAt: rejected.rejectedAt }
    assert.deepEqual([status, rejected], [200, expected])
    const [audited] = (await api.deps.auditTrail.page(TENANT, collectionId, undefined, 1)).items
    assert.deepEqual([audited?.action, audited?.linkId, audited?.actorId], ['RemovalsRejected', id, user(0)])
    assert.deepEqual(audited?.after, { planId, count: 20, notes: 'No.' })
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
    assert.deepEqual(await heldBy(id), expected)
    assert.equal((await api.membersOf(groupId)).size, 30)
    api.collections.exchange(collectionId, users(0, 11))
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
    const changed = await heldBy(id)
    assert.deepEqual([changed?.count, changed?.rejectedBy, changed?.rejectedAt], [19, null, null])
    await reject(changed?.planId ?? '')
    assert.equal((await approve(plan, changed?.planId ?? '')).status, 202)
    assert.deepEqual(codes(await api.as('stranger')('GET', plan)), [404, 'LinkNotFound'])
  })

  it('are approved by somebody other than who caused them, where the settings require it', async () => {
    const newest = { kind: 'Direct', actorId: user(0), atMs: 0 } as const
    const causes = { newest, actorIds: [user(0), user(1)], explainsAll: true, definedBy: null }
    const { removalCauses } = api.collections
    api.collections.removalCauses = async () => causes
    const { id, collectionId, plan, planId } = await held()
    api.collections.removalCauses = removalCauses
    const at = '1970-01-01T00:00:00.000+00:00'
    assert.deepEqual((await heldBy(id))?.cause, { kind: 'Direct', actorId: user(0), collectionId, at })
    await setLinkSettings(api.deps, { removalGuard: { fourEyes: true } })
    assert.deepEqual(codes(await approve(plan, planId)), [403, 'SameActor'])
    assert.equal((await api.as('administrator')('POST', `${plan}/${planId}/reject`, {})).status, 200)
    await setLinkSettings(api.deps, { removalGuard: { fourEyes: false } })
    assert.equal((await approve(plan, planId)).status, 202)
  })

  it('are not offered any longer once the members have changed so that nothing is due', async () => {
    const { id, collectionId, plan } = await held()
    api.collections.change(collectionId, users(0, 30))
    await notifyOfMembershipChange(api, collectionId)
    const startMs = api.clock.nowMs()
    await api.drain()
    assert.ok(api.clock.nowMs() - startMs < 10_000)
    assert.equal(await heldBy(id), null)
    assert.deepEqual(codes(await api.call('GET', plan)), [404, 'PlanNotFound'])
  })

  it('are shown with the link, and their accounts in pages', async () => {
    const { id, link, plan, planId } = await held()
    const listed = (await api.call('GET', '/group-links?held=true')).body.data as { id: string }[]
    assert.ok(listed.some((one) => one.id === id))
    const others = (await api.call('GET', '/group-links?held=false')).body.data as { id: string }[]
    assert.ok(others.every((other) => other.id !== id))
    const figures = { reason: 'TooMany', count: 20, limit: 10, removedInWindow: 0, groupSize: 30 }
    const undecided = { cause: null, rejectedBy: null, rejectedAt: null }
    assert.deepEqual(link.heldRemovals, { planId, ...figures, createdAt: link.heldRemovals?.createdAt, ...undecided })
    const all: string[] = []
    let query = '?pageSize=8'
    for (let pageCount = 0; pageCount < 3; pageCount += 1) {
      const { status, body } = await api.as('reader')('GET', `${plan}${query}`)
      const { accounts, ...rest } = body.data as Plan
      assert.deepEqual([status, rest], [200, { ...link.heldRemovals }])
      all.push(...accounts.map(({ directoryObjectId }) => directoryObjectId))
      const { nextCursor } = body as unknown as { nextCursor?: string }
      assert.equal(nextCursor === undefined, pageCount === 2)
      query = `?nextCursor=${nextCursor}`
    }
    assert.deepEqual(all, users(10, 20))
  })

  it('have cursors that are valid for one link only', async () => {
    const [first, second] = [await held(), await held()]
    const { nextCursor } = (await api.call('GET', `${first.plan}?pageSize=8`)).body as unknown as { nextCursor: string }
    assert.equal((await api.call('GET', `${first.plan}?nextCursor=${nextCursor}`)).status, 200)
    assert.deepEqual(codes(await api.call('GET', `${second.plan}?nextCursor=${nextCursor}`)), [400, 'InvalidCursor'])
  })

  it('have the identities that hold the accounts, with their names', async () => {
    const { plan } = await held()
    const identity = { id: user(700), tenantId: '11111111-0000-4000-8000-000000000001', objectType: 'identity' }
    const attributes = { directoryObjectId: user(12), displayName: 'Kari' }
    await api.container('coreObjects').items.create({ ...identity, deleted: false, attributes })
    const { accounts } = (await api.call('GET', `${plan}?pageSize=3`)).body.data as Plan
    assert.deepEqual(accounts, [
      { directoryObjectId: user(10), identityId: null, displayName: null },
      { directoryObjectId: user(11), identityId: null, displayName: null },
      { directoryObjectId: user(12), identityId: user(700), displayName: 'Kari' },
    ])
  })

  it('are carried out by an approval, whose job names plan and approver', async () => {
    const { id, plan, planId, groupId, collectionId } = await held()
    const notes = 'The ward has closed.'
    const reply = await api.as('administrator')('POST', `${plan}/${planId}/approve`, { notes })
    assert.equal(reply.status, 202)
    const { jobId } = reply.body.data as { jobId: string }
    const again = await api.as('administrator')('POST', `${plan}/${planId}/approve`, {})
    assert.deepEqual(again.body.data, { jobId })
    const [approval, created, ...others] = (await api.deps.auditTrail.page(TENANT, collectionId, undefined, 10)).items
    assert.deepEqual([approval?.action, approval?.linkId, approval?.actorId], ['RemovalsApproved', id, user(0)])
    assert.deepEqual(approval?.after, { planId, count: 20, notes, jobId })
    const { resource: stored } = await api.container('jobs').item(jobId, TENANT).read()
    assert.deepEqual([stored.approvedPlanId, JSON.stringify(stored).includes(notes)], [planId, false])
    assert.deepEqual([created?.action, others], ['LinkCreated', []])
    await api.drain()
    const job = (await api.call('GET', `/sync-jobs/${jobId}`)).body.data as Record<string, unknown>
    const { type, status, removed, held: heldCount, approvedPlanId, approvedBy, requestedBy } = job
    assert.deepEqual([type, status, removed, heldCount], ['ManualSync', 'Succeeded', 20, 0])
    assert.deepEqual([approvedPlanId, approvedBy, requestedBy], [planId, user(0), user(0)])
    assert.deepEqual(await api.membersOf(groupId), new Set(users(0, 10)))
    assert.equal(((await api.call('GET', `/group-links/${id}`)).body.data as Link).heldRemovals, null)
    assert.deepEqual(codes(await approve(plan, planId)), [404, 'PlanNotFound'])
  })

  it('are carried out by another job when they are approved again while the first one runs', async () => {
    const { plan, planId } = await held()
    const approved = async () => ((await approve(plan, planId)).body.data as { jobId: string }).jobId
    const running = await approved()
    const { value, version } = (await api.deps.jobs.find(TENANT, running)) ?? assert.fail('The job is gone')
    await api.deps.jobs.replace({ ...value, status: 'Running' }, version)
    assert.notEqual(await approved(), running)
  })

  it('are carried out by a job of their own while another one waits', async () => {
    const { plan, planId, collectionId } = await held()
    const { jobId } = (await api.call('POST', `/group-links/${collectionId}/sync`)).body.data as { jobId: string }
    const approval = ((await approve(plan, planId)).body.data as { jobId: string }).jobId
    assert.notEqual(approval, jobId)
    assert.equal((await api.deps.jobs.find(TENANT, approval))?.value.approvedPlanId, planId)
  })

  it('are not carried out for another plan, or on a disabled link', async () => {
    const { id, plan, planId } = await held()
    assert.deepEqual(codes(await approve(plan, UNKNOWN_ID)), [409, 'PlanChanged'])
    assert.deepEqual(codes(await api.as('stranger')('GET', plan)), [404, 'LinkNotFound'])
    await api.call('PATCH', `/group-links/${id}`, { state: 'Disabled' })
    assert.deepEqual(codes(await approve(plan, planId)), [409, 'LinkDisabled'])
  })

  it('are not found for a link that holds none', async () => {
    const id = await api.create(api.collections.make(users(0, 3)), await api.newGroup())
    assert.deepEqual(codes(await api.call('GET', `/group-links/${id}/removal-plan`)), [404, 'PlanNotFound'])
  })
})

describe('The audit', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi({ isGuarded: true })
  })
  after(() => api.close())

  it('has what was done to the links of a collection', async () => {
    const [collectionId, directoryGroupId] = [api.collections.make(users(0, 3)), await api.newGroup()]
    const linkId = await api.create(collectionId, directoryGroupId)
    await api.drain()
    for (const state of ['Disabled', 'Disabled', 'Enabled']) {
      await api.call('PATCH', `/group-links/${linkId}`, { state })
    }
    await api.call('DELETE', `/group-links/${linkId}`)
    const { items } = await api.deps.auditTrail.page(TENANT, collectionId, undefined, 10)
    const fields = { collectionId, directoryGroupId, state: 'Enabled' }
    assert.deepEqual(
      items.map(({ action, before, after }) => ({ action, before, after })),
      [
        { action: 'LinkDeleted', before: fields, after: {} },
        { action: 'LinkUpdated', before: { state: 'Disabled' }, after: { state: 'Enabled' } },
        { action: 'LinkUpdated', before: { state: 'Enabled' }, after: { state: 'Disabled' } },
        { action: 'LinkCreated', before: {}, after: fields },
      ],
    )
    assert.deepEqual(new Set(items.map((item) => `${item.linkId} ${item.actorId}`)), new Set([`${linkId} ${user(0)}`]))
  })

  it('has the changes of the settings', async () => {
    const patch = api.as('administrator')
    await patch('PATCH', '/settings', { linkableGroups: 'Owned' })
    await patch('PATCH', '/settings', { linkableGroups: 'Owned' })
    await patch('PATCH', '/settings', { linkableGroups: 'Any', removalGuard: { percent: 35 } })
    const { body, status } = await api.as('reader')('GET', '/settings/audit')
    const guard = DEFAULTS.removalGuard
    const entries = body.data as { at: string; actorId: string; linkId: null }[]
    assert.deepEqual(
      [status, entries.map(({ at: _at, actorId: _actorId, linkId: _linkId, ...rest }) => rest)],
      [
        200,
        [
          {
            action: 'SettingsUpdated',
            version: null,
            before: { linkableGroups: 'Owned', removalGuard: guard },
            after: { linkableGroups: 'Any', removalGuard: { ...guard, percent: 35 } },
          },
          {
            action: 'SettingsUpdated',
            version: null,
            before: { linkableGroups: 'Any' },
            after: { linkableGroups: 'Owned' },
          },
        ],
      ],
    )
    assert.deepEqual(new Set(entries.map(({ actorId }) => actorId)), new Set([user(0)]))
    assert.deepEqual((await api.as('stranger')('GET', '/settings/audit')).body.data, [])
  })
})

describe('Links and jobs', () => {
  let api: LinkApi
  before(async () => {
    api = await openLinkApi()
  })
  after(() => api.close())

  it('name who created or requested them', async () => {
    const collectionId = api.collections.make(users(0, 3))
    const id = await api.create(collectionId, await api.newGroup())
    await api.call('POST', `/group-links/${collectionId}/sync`)
    await api.drain()
    api.collections.change(collectionId, users(0, 4))
    api.collections.forgetHistory(collectionId)
    await notifyOfMembershipChange(api, collectionId)
    await api.drain()
    assert.equal(((await api.call('GET', `/group-links/${id}`)).body.data as Link).createdBy, user(0))
    const jobs = (await api.call('GET', `/sync-jobs?collectionId=${collectionId}`)).body.data as Record<
      string,
      unknown
    >[]
    assert.deepEqual(
      new Set(jobs.map(({ type, requestedBy }) => `${type} ${requestedBy}`)),
      new Set([`LinkCreated ${user(0)}`, `ManualSync ${user(0)}`, 'ScheduledSweep null']),
    )
  })
})
