import { randomUUID } from 'node:crypto'
import type { RefusalCode } from '../../../../shared/kernel/refusal-register.ts'
import { approvedBy, type JoinableFixture, OPEN } from '../joinable-fixture.ts'
import type { Provocation } from './provocation.ts'

/** Refusals of membership requests. */
export function requestProvocations(fixture: JoinableFixture) {
  const { call, admin, requests, submit, act, joinable, person, position } = fixture
  const submitAs = async (body: object, policy: object = OPEN) => submit(await person(), await joinable(policy), body)
  /** A request for the subject's one position, that waits for an approver. */
  const waiting = async () => {
    const [subject, approver] = [await person(), await person()]
    await position(subject)
    const collectionId = await joinable(
      approvedBy({ type: 'Identity', approvers: [approver.identityId, subject.identityId] }),
    )
    const { data: request } = await submit(subject, collectionId)
    return { subject, approver, collectionId, request }
  }
  const onBehalf = async (body: object) =>
    call((await person()).token, 'POST', `${requests}/${await joinable(OPEN)}/submit-on-behalf`, body)
  return {
    IdentityNotFound: () => call(admin, 'GET', `${requests}/eligible/${randomUUID()}`),
    async RelationshipUnknown() {
      const { approver, request } = await waiting()
      return act(approver.token, request, 'approve', { relationshipId: randomUUID() })
    },
    async RelationshipEnded() {
      const who = await person()
      return submit(who, await joinable(OPEN), { relationshipId: await position(who, { endDate: '2020-01-01' }) })
    },
    async RelationshipRequired() {
      const who = await person()
      await position(who)
      await position(who)
      return submit(who, await joinable(OPEN, { objectType: 'Relationship' }))
    },
    async RelationshipNotYours() {
      return submitAs({ relationshipId: await position(await person()) })
    },
    async RelationshipNotOfRequest() {
      const { approver, request } = await waiting()
      return act(approver.token, request, 'approve', { relationshipId: await position(approver) })
    },
    InvalidEnd: () => submitAs({ endsAt: '2030-02-31' }),
    EndTooLate: () => submitAs({ endsAt: '2031-01-01' }, { ...OPEN, maxDays: 30 }),
    async EndNotLater() {
      const who = await person()
      const { data: request } = await submit(who, await joinable(OPEN), { endsAt: '2030-12-01' })
      return act(who.token, request, 'extend', { endsAt: '2030-11-01' })
    },
    async LifecycleTooLarge() {
      const who = await person()
      const { data: request } = await submit(who, await joinable(OPEN), { endsAt: '2030-12-01' })
      const first = Date.parse('2030-12-02T00:00:00Z')
      for (let count = 0; count < 43; count += 1) {
        const endsAt = new Date(first + count * 86_400_000).toISOString()
        await act(who.token, request, 'extend', { endsAt, notes: '終'.repeat(2048) })
      }
      return act(who.token, request, 'extend', { endsAt: '2031-12-01' })
    },
    async InvalidPeriod() {
      const body = { deputyId: (await person()).identityId, from: '2030-06-01', until: '2031-06-01' }
      return call((await person()).token, 'PUT', `${requests}/deputy`, body)
    },
    async DeputyIsSelf() {
      const { token, identityId } = await person()
      return call(token, 'PUT', `${requests}/deputy`, { deputyId: identityId, until: '2030-07-01' })
    },
    async NotesRequired() {
      const approver = await person()
      const policy = approvedBy({ type: 'Identity', approvers: [approver.identityId] })
      const { data: request } = await submit(await person(), await joinable({ ...policy, rejectionNeedsReason: true }))
      return act(approver.token, request, 'reject', {})
    },
    RequesterRequired: () => onBehalf({}),
    async NotManager() {
      return onBehalf({ requesterId: (await person()).identityId })
    },
    async RequestNotFound() {
      return call(admin, 'GET', `${requests}/${await joinable(OPEN)}/${randomUUID()}`)
    },
    async RequestAlreadyOpen() {
      const { subject, collectionId } = await waiting()
      return submit(subject, collectionId)
    },
    async AlreadyMember() {
      const [who, collectionId] = [await person(), await joinable(OPEN)]
      await submit(who, collectionId)
      return submit(who, collectionId)
    },
    async InvalidRequestState() {
      const { approver, request } = await waiting()
      await act(approver.token, request, 'reject')
      return act(approver.token, request, 'approve')
    },
    async NotEligible() {
      return submitAs({}, { ...OPEN, joinableBy: { collectionIds: [await joinable(OPEN)] } })
    },
    async NoApprover() {
      const who = await person()
      return submit(who, await joinable(approvedBy({ type: 'Identity', approvers: [who.identityId] })))
    },
    async NotRequester() {
      const { approver, request } = await waiting()
      return act(approver.token, request, 'cancel')
    },
    async NotCurrentApprover() {
      const { request } = await waiting()
      const onlooker = await person(['collection_criteria_definition-administrator'])
      return act(onlooker.token, request, 'approve')
    },
    async SelfApproval() {
      const { subject, request } = await waiting()
      return act(subject.token, request, 'approve')
    },
  } satisfies Partial<Record<RefusalCode, Provocation>>
}
