import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { faults, joinableFixture } from '../support/api/joinable-fixture.ts'

const fixture = await joinableFixture()
const { admin, call, requests, joinable, person, position } = fixture
after(() => assert.deepEqual(faults, []))

/**
 * The statuses that may follow each status in a lifecycle. A direct add bypasses the gates, also for a request that
 * waits at one.
 */
const FOLLOWERS: Record<string, readonly string[]> = {
  Requested: ['PendingApproval', 'Joined', 'Cancelled'],
  PendingApproval: ['Approved', 'Rejected', 'Cancelled', 'Joined'],
  Approved: ['PendingApproval', 'Joined'],
  Joined: ['Left'],
  Rejected: [],
  Cancelled: [],
  Left: [],
}

const KINDS = ['submit', 'submit-on-behalf', 'approve', 'reject', 'cancel', 'leave', 'add', 'remove'] as const
const steps = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), by: fc.nat(3), whom: fc.nat(3), which: fc.nat(20) }),
  { minLength: 5, maxLength: 25 },
)

type Kept = {
  id: string
  status: string
  requesterId: string
  relationshipId: string | null
  lifecycle: { status: string }[]
}

describe('any series of actions by any callers', () => {
  it('follows the table of transitions, keeps all lifecycle entries, and has the joined as members', async () => {
    const people = [await person(), await person(), await person(), await person()]
    const [manager, approver] = people
    for (const person of people) await position(person, { manager: { objectId: manager?.identityId ?? '' } })
    await fc.assert(
      fc.asyncProperty(steps, async (series) => {
        const collectionId = await joinable({
          approvalRequired: true,
          approvalGates: [
            { order: 1, type: 'Identity', approvers: [approver?.identityId] },
            { order: 2, type: 'Manager', approvers: [] },
          ],
        })
        const kept = async (): Promise<Kept[]> => (await call<Kept[]>(admin, 'GET', `${requests}/${collectionId}`)).data
        let before: Kept[] = []
        for (const { kind, by, whom, which } of series) {
          const token = people[by]?.token ?? ''
          const identityId = people[whom]?.identityId
          const named = before[which % Math.max(before.length, 1)]?.id ?? collectionId
          const members = `/collections-joinable/beta/${collectionId}/results/members`
          if (kind === 'submit') await call(token, 'POST', `${requests}/${collectionId}/submit`, {})
          else if (kind === 'submit-on-behalf') {
            await call(token, 'POST', `${requests}/${collectionId}/${kind}`, { requesterId: identityId })
          } else if (kind === 'add') await call(admin, 'POST', members, { coreIdentityIds: [identityId] })
          else if (kind === 'remove') await call(admin, 'DELETE', members, { coreIdentityIds: [identityId] })
          else await call(token, 'POST', `${requests}/${collectionId}/${named}/${kind}`, {})

          const now = await kept()
          for (const { id, lifecycle } of before) {
            const grown = now.find((request) => request.id === id)?.lifecycle
            assert.deepEqual(grown?.slice(0, lifecycle.length), lifecycle)
          }
          for (const { status, lifecycle } of now) {
            assert.equal(lifecycle.at(-1)?.status, status)
            for (const [index, entry] of lifecycle.slice(1).entries()) {
              assert.ok(FOLLOWERS[lifecycle[index]?.status ?? '']?.includes(entry.status), JSON.stringify(lifecycle))
            }
          }
          const joined = now.filter(({ status }) => status === 'Joined')
          const results = await fixture.results(collectionId)
          assert.deepEqual(
            new Set(results.map((result) => JSON.stringify(result))),
            new Set(
              joined.map(({ requesterId: objectId, relationshipId }) => JSON.stringify({ objectId, relationshipId })),
            ),
          )
          assert.equal(new Set(joined.map(({ requesterId }) => requesterId)).size, joined.length)
          before = now
        }
      }),
      { numRuns: 15 },
    )
  })
})
