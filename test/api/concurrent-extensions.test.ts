import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { extendMembership } from '../../shared/domain/membership-requests/extend-membership.ts'
import type { JoinDependencies } from '../../shared/domain/membership-requests/request-dependencies.ts'
import { approvedBy, faults, joinableFixture, OPEN } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { tenantId, call, admin, person, joinable, submit, act, read, requests } = fixture
after(() => assert.deepEqual(faults, []))

const ENDS_AT = '2031-01-01T00:00:00.000+00:00'

describe('An extension', () => {
  it('is refused under the ETag of an earlier version', async () => {
    const [who, collectionId] = [await person(), await joinable(OPEN)]
    const { data: request } = await submit(who, collectionId, { endsAt: '2030-07-01' })
    const { etag = '' } = (await read(who.token, request)).headers
    const extend = (endsAt: string) =>
      call(who.token, 'POST', `${requests}/${collectionId}/${request.id}/extend`, { endsAt }, { 'if-match': etag })
    assert.equal((await extend('2030-08-01')).status, 200)
    assert.deepEqual((await extend(ENDS_AT)).codes, ['PreconditionFailed'])
  })

  it('passes the gates of a policy that is saved while it is asked for', async () => {
    const [who, approver] = [await person(), await person()]
    const collectionId = await joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
    const { data: request } = await submit(who, collectionId, { endsAt: '2030-07-01' })
    await act(approver.token, request, 'approve')
    const path = `/collections-joinable/beta/${collectionId}`
    const save: JoinDependencies['requests']['save'] = async (changes) => {
      await call(admin, 'PUT', path, { objectType: 'Identity', joinPolicy: OPEN })
      return fixture.deps.requests.save(changes)
    }
    const { value } = await extendMembership(
      { tenantId, collectionId, requestId: request.id },
      { endsAt: ENDS_AT },
      { actor: { id: who.identityId, identityId: who.identityId }, isWriter: false },
      undefined,
      { ...fixture.deps, requests: { ...fixture.deps.requests, save } },
    )
    assert.deepEqual([value.endsAt, value.extension], [ENDS_AT, null])
  })
})
