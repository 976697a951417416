import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newLink } from '../../../shared/domain/group-links/group-link.ts'
import {
  changeLeasedLink,
  getLink,
  ignoreDeletedLink,
  LeaseLost,
  linkLeaseDecision,
  renewLease,
} from '../../../shared/domain/group-links/link-lease.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { memoryStores } from '../../support/jobs/memory-links.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const [LINK, COLLECTION, GROUP, TENANT, JOB, OTHER] = ['link', 'collection', 'group', 'tenant', 'job', 'other']

const link = newLink(
  { id: LINK, tenantId: TENANT, collectionId: COLLECTION, directoryGroupId: GROUP, directoryGroupDisplayName: null },
  NOW_MS,
)
const TIMES = { leaseMs: 60_000, clockDifferenceMs: 120_000 }

describe('ignoreDeletedLink', () => {
  it('ignores that a link was deleted, and no other refusal or fault', () => {
    assert.equal(ignoreDeletedLink(new Refusal('LinkNotFound')), undefined)
    for (const error of [new Refusal('StaleVersion'), Object.assign(new Error('Fault'), { code: 'LinkNotFound' })]) {
      assert.throws(() => ignoreDeletedLink(error), error)
    }
  })
})

describe('linkLeaseDecision', () => {
  const live = { owner: OTHER, expiresAtMs: NOW_MS + 1, token: 7 }
  it('acquires a free lease with the next token', () => {
    assert.deepEqual(linkLeaseDecision({ lease: null, lastToken: 7 }, { owner: JOB, ...TIMES }, NOW_MS), {
      outcome: 'acquire',
      lease: { owner: JOB, expiresAtMs: NOW_MS + 60_000, token: 8 },
    })
  })
  it('lets a job continue under its own lease only when it has yielded', () => {
    const own = { lease: { ...live, owner: JOB }, lastToken: 7 }
    assert.equal(linkLeaseDecision(own, { owner: JOB, ...TIMES }, NOW_MS).outcome, 'held')
    assert.equal(linkLeaseDecision(own, { owner: JOB, resumes: true, ...TIMES }, NOW_MS).outcome, 'acquire')
    assert.equal(
      linkLeaseDecision({ ...own, lease: live }, { owner: JOB, resumes: true, ...TIMES }, NOW_MS).outcome,
      'held',
    )
  })
})

describe('The owner of a lease', () => {
  const lease = { owner: JOB, expiresAtMs: NOW_MS + 60_000, token: 7 }
  const leased = { tenantId: TENANT, linkId: LINK, lease }
  const rename = (of: typeof link) => ({ ...of, directoryGroupDisplayName: 'renamed' })
  async function linkWith(token: number | undefined, nowMs = NOW_MS) {
    const { links } = memoryStores()
    await links.add({ ...link, lease: token === undefined ? null : { ...lease, token } })
    const stored = async () => (await getLink(TENANT, LINK, links)).value
    return { deps: { links, leaseMs: 60_000, nowMs: () => nowMs }, links, stored }
  }

  it('changes the link', async () => {
    const { deps, stored } = await linkWith(7)
    await changeLeasedLink(leased, rename, deps)
    assert.equal((await stored()).directoryGroupDisplayName, 'renamed')
  })

  it('changes the link as it is now when the version that it knows is outdated', async () => {
    const { deps, links, stored } = await linkWith(7)
    const known = await getLink(TENANT, LINK, links)
    const { value: current } = await links.replace({ ...known.value, changesPending: true }, known.version)
    const changed = await changeLeasedLink(leased, rename, deps, known)
    assert.deepEqual(changed.value, rename(current))
    assert.deepEqual(await stored(), rename(current))
  })

  for (const [claim, token] of [
    ['another worker has acquired it', 8],
    ['it was released', undefined],
  ] as const) {
    it(`neither changes the link nor renews the lease when ${claim}`, async () => {
      const { deps, stored } = await linkWith(token, NOW_MS + 59_000)
      const before = await stored()
      await assert.rejects(changeLeasedLink(leased, rename, deps), LeaseLost)
      await assert.rejects(renewLease(leased, deps), LeaseLost)
      assert.deepEqual(await stored(), before)
    })
  }

  it('keeps it while enough of it is left, and renews it later', async () => {
    const early = await linkWith(7, NOW_MS + 20_000)
    assert.deepEqual((await renewLease(leased, early.deps)).lease, lease)
    assert.deepEqual((await early.stored()).lease, lease)
    const late = await linkWith(7, NOW_MS + 20_001)
    const renewed = { ...lease, expiresAtMs: NOW_MS + 80_001 }
    const answer = await renewLease(leased, late.deps)
    assert.deepEqual([answer.lease, answer.link.lease], [renewed, renewed])
    assert.deepEqual((await late.stored()).lease, renewed)
  })

  it('learns that the link was deleted', async () => {
    const { deps, links } = await linkWith(7)
    const { value, version } = await getLink(TENANT, LINK, links)
    await links.remove(value, version)
    for (const attempt of [
      getLink(TENANT, LINK, links),
      changeLeasedLink(leased, rename, deps),
      renewLease(leased, deps),
    ])
      await assert.rejects(attempt, { code: 'LinkNotFound' })
  })
})
