import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { DeputyDto } from '../../shared/domain/membership-requests/manage-deputy.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'
import { approvedBy, faults, joinableFixture, type Person } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { call, admin, person, position, joinable, submit, act, read, requests } = fixture
after(() => assert.deepEqual(faults, []))

const DAY_S = 24 * 60 * 60

const date = (afterDays: number): string => new Date(fixture.nowMs() + afterDays * DAY_S * 1000).toISOString()

const setDeputy = (of: Person, deputy: Person, from = date(-1), until = date(30)) =>
  call<DeputyDto>(of.token, 'PUT', `${requests}/deputy`, { deputyId: deputy.identityId, from, until })

const inboxOf = async ({ token }: Person) =>
  (await call<{ id: string }[]>(token, 'GET', `${requests}/inbox`)).data.map(({ id }) => id)

const reviewOf = async ({ token }: Person) =>
  (await call<{ id: string }[]>(token, 'GET', `${requests}/pending-approval-review`)).data.map(({ id }) => id)

const identity = (...people: Person[]) => ({ type: 'Identity', approvers: people.map(({ identityId }) => identityId) })

describe('a deputy', () => {
  it('decides for the person represented, and the lifecycle names both', async () => {
    const [approver, deputy, subject] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy(identity(approver)))
    const { data: request } = await submit(subject, collectionId)
    assert.deepEqual((await act(deputy.token, request, 'approve')).codes, ['RequestNotFound'])
    await setDeputy(approver, deputy)
    assert.deepEqual(await inboxOf(deputy), [request.id])
    assert.deepEqual(await reviewOf(deputy), [collectionId])
    const { data } = await act(deputy.token, request, 'approve')
    const approved = data.lifecycle.find(({ status }) => status === 'Approved')
    assert.deepEqual([approved?.actorId, approved?.onBehalfOf], [deputy.identityId, approver.identityId])
    assert.equal(data.status, 'Joined')
  })

  it('decides as themselves where they may', async () => {
    const [approver, deputy, subject] = [await person(), await person(), await person()]
    await setDeputy(approver, deputy)
    const { data: request } = await submit(subject, await joinable(approvedBy(identity(approver, deputy))))
    const { data } = await act(deputy.token, request, 'reject')
    assert.equal(data.lifecycle.at(-1)?.onBehalfOf, undefined)
  })

  it('decides for a manager', async () => {
    const [manager, deputy, subject] = [await person(), await person(), await person()]
    await position(subject, { manager: { objectId: manager.identityId } })
    await setDeputy(manager, deputy)
    const { data: request } = await submit(subject, await joinable(approvedBy({ type: 'Manager' })))
    assert.deepEqual(await inboxOf(deputy), [request.id])
    assert.equal((await act(deputy.token, request, 'approve')).data.status, 'Joined')
  })

  it('decides neither own requests nor those of the person represented', async () => {
    const [approver, deputy] = [await person(), await person()]
    const collectionId = await joinable(approvedBy(identity(approver, await person())))
    await setDeputy(approver, deputy)
    const { data: own } = await submit(deputy, collectionId)
    const { data: ofApprover } = await submit(approver, collectionId)
    assert.deepEqual(await inboxOf(deputy), [])
    assert.deepEqual(await reviewOf(deputy), [])
    assert.deepEqual((await act(deputy.token, own, 'approve')).codes, ['SelfApproval'])
    assert.deepEqual((await act(deputy.token, ofApprover, 'approve')).codes, ['SelfApproval'])
  })

  it('who decides just after the person represented, or another approver, is told the state of the request', async () => {
    const [approver, deputy, other] = [await person(), await person(), await person()]
    const collectionId = await joinable(approvedBy(identity(approver, other)))
    await setDeputy(approver, deputy)
    for (const decider of [approver, other]) {
      const { data: request } = await submit(await person(), collectionId)
      await act(decider.token, request, 'approve')
      const { status, codes } = await act(deputy.token, request, 'approve')
      assert.deepEqual([status, codes], [409, ['InvalidRequestState']])
    }
  })

  it('opens the decided requests that their list of the collection has, and no others', async () => {
    const [approver, deputy, manager] = [await person(), await person(), await person()]
    await setDeputy(approver, deputy)
    await setDeputy(manager, deputy)
    const subject = await person()
    await position(subject, { manager: { objectId: manager.identityId } })
    const byName = await joinable(approvedBy(identity(approver, await person())))
    const byManager = await joinable(approvedBy({ type: 'Manager' }))
    for (const [who, collectionId, isReadable] of [
      [subject, byName, true],
      [subject, byManager, true],
      [approver, byName, false],
    ] as const) {
      const { data: request } = await submit(who, collectionId)
      await act(who.token, request, 'cancel')
      const { data: list } = await call<{ id: string }[]>(deputy.token, 'GET', `${requests}/${collectionId}`)
      assert.equal(
        list.some(({ id }) => id === request.id),
        isReadable,
      )
      assert.equal((await read(deputy.token, request)).status, isReadable ? 200 : 404)
    }
  })

  it('does not open a decided request after the end of the time', async () => {
    const [approver, deputy] = [await person(), await person()]
    await setDeputy(approver, deputy, date(-1), date(1))
    const { data: request } = await submit(await person(), await joinable(approvedBy(identity(approver))))
    await act(approver.token, request, 'reject')
    assert.equal((await read(deputy.token, request)).status, 200)
    fixture.pass(1.5 * DAY_S)
    assert.deepEqual((await act(deputy.token, request, 'approve')).codes, ['RequestNotFound'])
  })

  it('does not represent those whose deputy the person represented is', async () => {
    const [approver, deputy, second] = [await person(), await person(), await person()]
    await setDeputy(approver, deputy)
    await setDeputy(deputy, second)
    const { data: request } = await submit(await person(), await joinable(approvedBy(identity(approver))))
    assert.deepEqual(await inboxOf(second), [])
    assert.deepEqual((await act(second.token, request, 'approve')).codes, ['RequestNotFound'])
  })

  it('decides only from the beginning until the end of the time', async () => {
    const [approver, deputy] = [await person(), await person()]
    await setDeputy(approver, deputy, date(1), date(2))
    const { data: request } = await submit(await person(), await joinable(approvedBy(identity(approver))))
    assert.deepEqual(await inboxOf(deputy), [])
    fixture.pass(1.5 * DAY_S)
    assert.deepEqual(await inboxOf(deputy), [request.id])
    fixture.pass(DAY_S)
    assert.deepEqual(await inboxOf(deputy), [])
    assert.equal((await call(approver.token, 'GET', `${requests}/deputy`)).data, null)
  })

  it('is read, replaced and removed by the person, and by an administrator', async () => {
    const [approver, deputy, other] = [await person(), await person(), await person()]
    const path = `${requests}/deputy`
    const { status, data } = await call<DeputyDto | null>(approver.token, 'GET', path)
    assert.deepEqual([status, data], [200, null])
    assert.equal((await setDeputy(approver, deputy)).data.deputyId, deputy.identityId)
    const asAdmin = `${path}?identityId=${approver.identityId}`
    assert.deepEqual((await call(other.token, 'GET', asAdmin)).codes, ['RoleRequired'])
    const body = { deputyId: other.identityId, until: date(3) }
    assert.equal((await call<DeputyDto>(admin, 'PUT', asAdmin, body)).status, 200)
    assert.equal((await call<DeputyDto>(approver.token, 'GET', path)).data.deputyId, other.identityId)
    assert.equal((await call(admin, 'DELETE', asAdmin)).status, 200)
    assert.equal((await call(approver.token, 'GET', path)).data, null)
    assert.deepEqual((await call(admin, 'GET', path)).codes, ['CallerHasNoIdentity'])
  })

  it('is set for up to 180 days of the time zone of the tenant, whether clocks are put back or forward meanwhile', async () => {
    const settings = fixture.deps.linkSettings
    await settings.register(fixture.tenantId)
    const { value, version } = await settings.find(fixture.tenantId)
    await settings.replace(fixture.tenantId, { ...value, timeZone: 'Europe/Oslo' }, version, undefined)
    try {
      const [approver, deputy] = [await person(), await person()]
      for (const [from, until, ...expected] of [
        ['2030-07-01', '2030-12-28', 200],
        ['2030-07-01', '2030-12-29', 400, 'InvalidPeriod'],
        ['2031-01-01', '2031-06-30', 200],
        ['2031-01-01', '2031-07-01', 400, 'InvalidPeriod'],
        ['2031-01-01T00:00:00Z', '2031-06-30T00:00:00Z', 200],
      ] as const) {
        const { status, codes } = await setDeputy(approver, deputy, from, until)
        assert.deepEqual([status, ...codes], expected, `${from} ${until}`)
      }
    } finally {
      const changed = await settings.find(fixture.tenantId)
      await settings.replace(fixture.tenantId, value, changed.version, undefined)
    }
  })

  it('is set for a time that begins later than the database keeps a document that expires', async () => {
    const [approver, deputy] = [await person(), await person()]
    const period = { from: '2110-01-01T00:00:00.000+00:00', until: '2110-02-01T00:00:00.000+00:00' }
    assert.equal((await setDeputy(approver, deputy, period.from, period.until)).status, 200)
    const { from, until } = (await call<DeputyDto>(approver.token, 'GET', `${requests}/deputy`)).data
    assert.deepEqual({ from, until }, period)
  })

  it('follows people who are merged, and nobody becomes their own deputy', async () => {
    const [approver, deputy, kept, keptDeputy] = [await person(), await person(), await person(), await person()]
    await setDeputy(approver, deputy)
    const { data: request } = await submit(await person(), await joinable(approvedBy(identity(approver))))
    await fixture.remove('identity', approver.identityId, { ttl: 30 * DAY_S, mergedInto: kept.identityId })
    await fixture.remove('identity', deputy.identityId, { ttl: 30 * DAY_S, mergedInto: keptDeputy.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal((await call<DeputyDto>(kept.token, 'GET', `${requests}/deputy`)).data.deputyId, keptDeputy.identityId)
    assert.deepEqual(await inboxOf(keptDeputy), [request.id])
    await fixture.remove('identity', keptDeputy.identityId, { ttl: 30 * DAY_S, mergedInto: kept.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal((await call<DeputyDto | null>(kept.token, 'GET', `${requests}/deputy`)).data, null)
  })
})

describe('a fallback', () => {
  const withFallback = async (gate: object, ...people: Person[]) =>
    joinable(approvedBy({ ...gate, fallback: { afterDays: 3, ...identity(...people) } } as never))

  it('decides as well after its days', async () => {
    const [approver, fallback, subject] = [await person(), await person(), await person()]
    const collectionId = await withFallback(identity(approver), fallback)
    const { data: request } = await submit(subject, collectionId)
    fixture.pass(3 * DAY_S - 60)
    assert.deepEqual([await inboxOf(fallback), await reviewOf(fallback)], [[], []])
    assert.deepEqual((await act(fallback.token, request, 'approve')).codes, ['RequestNotFound'])
    fixture.pass(61)
    assert.deepEqual([await inboxOf(fallback), await reviewOf(fallback)], [[request.id], [collectionId]])
    assert.equal((await read(fallback.token, request)).data.currentGate?.approverCount, 2)
    assert.equal((await act(fallback.token, request, 'approve')).data.status, 'Joined')
  })

  it('decides at once at a gate that has nobody, for which submit then has an approver', async () => {
    const [fallback, subject] = [await person(), await person()]
    await position(subject)
    const { data: request, status } = await submit(subject, await withFallback({ type: 'Manager' }, fallback))
    assert.deepEqual([status, request.currentGate?.approverCount], [201, 1])
    assert.deepEqual(await inboxOf(fallback), [request.id])
    assert.equal((await act(fallback.token, request, 'approve')).data.status, 'Joined')
  })

  it('is named among the approvers as soon as it decides', async () => {
    const named = (displayName: string) => person(['User'], { displayName })
    const [approver, fallback, subject] = [await named('Approver'), await named('Fallback'), await named('Subject')]
    await position(subject)
    const shown = async (request: MembershipRequestDto) => {
      const { currentGate, approverNames } = (await read(subject.token, request)).data
      return [currentGate?.approverCount, approverNames]
    }
    const { data: unmanaged } = await submit(subject, await withFallback({ type: 'Manager' }, fallback, subject))
    assert.deepEqual(unmanaged.approverNames, ['Fallback'])
    assert.deepEqual(await shown(unmanaged), [1, ['Fallback']])
    const { data: waiting } = await submit(subject, await withFallback(identity(approver), fallback))
    const team = await joinable({ approvalRequired: false })
    await submit(fallback, team)
    const { data: ofTeam } = await submit(
      subject,
      await withFallback({ type: 'Collection', approvers: [team] }, approver),
    )
    assert.deepEqual(await shown(waiting), [1, ['Approver']])
    assert.deepEqual(await shown(ofTeam), [1, []])
    fixture.pass(3 * DAY_S + 1)
    assert.deepEqual(await shown(waiting), [2, ['Approver', 'Fallback']])
    assert.deepEqual(await shown(ofTeam), [2, []])
  })

  it('that is only the requester leaves the gate without an approver', async () => {
    const subject = await person()
    await position(subject)
    const { codes } = await submit(subject, await withFallback({ type: 'Manager' }, subject))
    assert.deepEqual(codes, ['NoApprover'])
  })

  it('can be collections, which are in use then', async () => {
    const members = await joinable({ approvalRequired: false })
    const fallback = { afterDays: 1, type: 'Collection', approvers: [members] }
    await joinable(approvedBy({ type: 'Manager', fallback } as never))
    assert.deepEqual((await call(admin, 'DELETE', `/collections-joinable/beta/${members}`)).codes, ['CollectionInUse'])
  })

  for (const [claim, fallback, code, target] of [
    ['a type that cannot be one', { afterDays: 1, type: 'Manager' }, 'UnknownGateType', 'type'],
    ['no approvers', { afterDays: 1, type: 'Identity', approvers: [] }, 'ApproversRequired', 'approvers'],
    ['no days', { afterDays: 0, type: 'Identity', approvers: [] }, 'InvalidValue', 'afterDays'],
  ] as const) {
    it(`is refused with ${claim}`, async () => {
      const joinPolicy = approvedBy({ type: 'Manager', fallback } as never)
      const body = { objectType: 'Identity', name: 'Choir', joinPolicy }
      const { codes, targets } = await call(admin, 'POST', '/collections-joinable/beta', body)
      assert.deepEqual([codes, targets], [[code], [`/joinPolicy/approvalGates/0/fallback/${target}`]])
    })
  }
})

describe('the manager of a later gate', () => {
  it('reads the request from the start', async () => {
    const [manager, approver, subject] = [await person(), await person(), await person()]
    await position(subject, { manager: { objectId: manager.identityId } })
    const collectionId = await joinable(approvedBy(identity(approver), { type: 'Manager' }))
    const { data: request } = await submit(subject, collectionId)
    assert.equal((await read(manager.token, request)).status, 200)
    const { data } = await call<{ id: string }[]>(manager.token, 'GET', `${requests}/${collectionId}`)
    assert.deepEqual(
      data.map(({ id }) => id),
      [request.id],
    )
    assert.deepEqual((await act(manager.token, request, 'approve')).codes, ['NotCurrentApprover'])
    assert.deepEqual((await read((await person()).token, request)).codes, ['RequestNotFound'])
  })
})
