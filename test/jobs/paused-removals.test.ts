import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { listLinks, readLinkDto, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { type AccountFixture, gone, identity, openAccountFixture } from '../support/jobs/account-fixture.ts'
import { NO_GUESTS } from '../support/jobs/guests.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture()
})
after(() => fixture.close())

let nextUser = 0
const newAccount = () => {
  nextUser += 1
  return user(nextUser - 1)
}

/** A criteria collection of people of one name, linked to a group. */
async function linkedPeople(...people: readonly { externalId: string; account?: string }[]) {
  const source = await fixture.newSource()
  const email = `${randomUUID()}@example.org`
  const person = (externalId: string, account?: string) =>
    identity(externalId, { email, displayName: externalId, ...(account && { directoryObjectId: account }) })
  await fixture.write(source, ...people.map(({ externalId, account }) => person(externalId, account)))
  const collectionId = await fixture.criteria('Identity', 'identityEmail', email)
  const groupId = await fixture.linkedGroup(collectionId)
  const process = fixture.coldProcess()
  const [found] = await process.sync.links.ofCollection(TENANT, collectionId)
  const linkId = found?.value.id ?? ''
  /** What follows is done by this process. */
  const writeThrough = async (
    following: ReturnType<typeof fixture.coldProcess>,
    ...writes: Parameters<typeof fixture.write>[1][]
  ) => {
    await fixture.write(source, ...writes)
    await fixture.followed(following)
  }
  const setAccepted = (...identityIds: string[]) => {
    const target = { tenantId: TENANT, linkId, ifMatch: undefined, actorId: user(3) }
    return updateLink(target, { acceptedWithoutAccount: identityIds, requestedBy: user(3) }, process.sync)
  }
  return {
    linkId,
    collectionId,
    groupId,
    idOf: (externalId: string) => fixture.coreIdOf(source, 'identity', externalId),
    shown: async () => readLinkDto(await fixture.link(linkId), process.sync),
    write: (...writes: Parameters<typeof fixture.write>[1][]) => writeThrough(fixture.coldProcess(), ...writes),
    writeThrough,
    person,
    setAccepted,
    async accept(...identityIds: string[]) {
      await setAccepted(...identityIds)
      await fixture.drain(process.sync)
    },
    audit: async () => {
      const { auditTrail } = process.sync
      return (await auditTrail.page(TENANT, collectionId, undefined, 10)).items
    },
    members: () => fixture.membersOf(groupId),
  }
}

describe('a link with a member without an account', () => {
  it('says from its first sync that nobody is removed, and why, and after the account is there that it is in sync', async () => {
    const [ada, bob] = [newAccount(), newAccount()]
    const linked = await linkedPeople({ externalId: 'ada', account: ada }, { externalId: 'eve' })
    const paused = await linked.shown()
    assert.equal(paused.syncState, 'RemovalsPaused')
    assert.deepEqual(paused.pausedBy, {
      reason: 'MembersWithoutAccount',
      count: 1,
      members: [{ identityId: await linked.idOf('eve'), displayName: 'eve', directoryObjectId: null }],
    })
    await linked.write(linked.person('eve', bob))
    const { syncState, pausedBy } = await linked.shown()
    assert.deepEqual([syncState, pausedBy], ['InSync', null])
    assert.deepEqual(await linked.members(), new Set([ada, bob]))
  })

  it('says so within seconds when the member comes later, and names the members', async () => {
    const [ada, bob] = [newAccount(), newAccount()]
    const linked = await linkedPeople({ externalId: 'ada', account: ada }, { externalId: 'bob', account: bob })
    assert.equal((await linked.shown()).syncState, 'InSync')
    await linked.write(linked.person('eve'), gone('identity', 'bob'))
    const { syncState, pausedBy } = await linked.shown()
    assert.deepEqual([syncState, pausedBy?.count], ['RemovalsPaused', 1])
    assert.deepEqual(pausedBy?.members, [
      { identityId: await linked.idOf('eve'), displayName: 'eve', directoryObjectId: null },
    ])
    assert.deepEqual(await linked.members(), new Set([ada, bob]))
  })

  it('is found by syncState and needsAttention, and counted by the sweep', async () => {
    const linked = await linkedPeople({ externalId: 'ada', account: newAccount() }, { externalId: 'eve' })
    const fine = await linkedPeople({ externalId: 'ada', account: newAccount() })
    const { sync } = fixture.coldProcess()
    const ids = async (filter: Parameters<typeof listLinks>[1]) =>
      new Set((await listLinks(TENANT, filter, undefined, 100, sync)).items.map(({ id }) => id))
    for (const [filter, hasPaused, hasFine] of [
      [{ syncState: 'RemovalsPaused' }, true, false],
      [{ syncState: 'InSync' }, false, true],
      [{ needsAttention: true }, true, false],
      [{ needsAttention: false }, false, true],
      [{ needsAttention: true, collectionId: linked.collectionId }, true, false],
      [{ needsAttention: true, collectionId: fine.collectionId }, false, false],
    ] as const) {
      const found = await ids(filter)
      assert.deepEqual([found.has(linked.linkId), found.has(fine.linkId)], [hasPaused, hasFine], JSON.stringify(filter))
    }
    let pausedCount = 0
    const metrics = {
      record: (name: string, value: number) => {
        if (name === 'links.paused') pausedCount += value
      },
    }
    const paused = (await ids({ syncState: 'RemovalsPaused' })).size
    await sweepTenant(TENANT, { ...sync, metrics })
    assert.equal(pausedCount, paused)
    await fixture.drain(sync)
  })
})

describe('a member that a link accepts without an account', () => {
  it('keeps no other member from being removed, and the audit says who accepted it', async () => {
    const [ada, bob] = [newAccount(), newAccount()]
    const linked = await linkedPeople(
      { externalId: 'ada', account: ada },
      { externalId: 'bob', account: bob },
      { externalId: 'eve' },
    )
    await linked.write(gone('identity', 'bob'))
    assert.deepEqual(await linked.members(), new Set([ada, bob]))
    const eve = await linked.idOf('eve')
    await linked.accept(eve)
    assert.deepEqual(await linked.members(), new Set([ada]))
    const { syncState, pausedBy, acceptedWithoutAccount } = await linked.shown()
    assert.deepEqual([syncState, pausedBy, acceptedWithoutAccount], ['InSync', null, [eve]])
    const [entry] = await linked.audit()
    assert.deepEqual(
      [entry?.action, entry?.actorId, entry?.before, entry?.after],
      ['LinkUpdated', user(3), { acceptedWithoutAccount: [] }, { acceptedWithoutAccount: [eve] }],
    )
    // A later removal is written as an incremental sync, in spite of the accepted member.
    await linked.write(gone('identity', 'ada'))
    assert.deepEqual(await linked.members(), new Set())
    assert.deepEqual((await linked.shown()).acceptedWithoutAccount, [eve])
  })

  /** Ada, Bob, and Eve, without an account by default; a process that withdraws the acceptance of Eve when it has read this once. */
  async function withdrawnDuring(read: 'currentVersion' | 'findAccounts', eve: { readonly account?: string } = {}) {
    const [ada, bob] = [newAccount(), newAccount()]
    const linked = await linkedPeople(
      { externalId: 'ada', account: ada },
      { externalId: 'bob', account: bob },
      { externalId: 'eve', ...eve },
    )
    const running = fixture.coldProcess()
    const { collections } = running.sync
    const readNow = collections[read] as (...args: unknown[]) => Promise<unknown>
    let isWithdrawn = false
    const withdrawing = async (...args: unknown[]) => {
      const found = await readNow(...args)
      if (!isWithdrawn) await linked.setAccepted()
      isWithdrawn = true
      return found
    }
    Object.assign(collections, { [read]: withdrawing })
    const requireStopped = async () => {
      assert.ok(isWithdrawn)
      assert.deepEqual(await linked.members(), new Set([ada, bob]))
      const { syncState, acceptedWithoutAccount } = await linked.shown()
      assert.deepEqual([syncState, acceptedWithoutAccount], ['RemovalsPaused', []])
    }
    return { linked, running, requireStopped }
  }

  for (const [claim, eve] of [
    ['without an account', {}],
    ['with an account that the directory does not know', { account: randomUUID() }],
  ] as const) {
    it(`stops the removals of a job that runs when it is accepted no longer, ${claim}`, async () => {
      const { linked, running, requireStopped } = await withdrawnDuring('findAccounts', eve)
      await linked.write(gone('identity', 'bob'))
      await linked.setAccepted(await linked.idOf('eve'))
      await fixture.drain(running.sync)
      await requireStopped()
    })
  }

  it('stops the removal of a change that is written when it is accepted no longer', async () => {
    const { linked, running, requireStopped } = await withdrawnDuring('currentVersion')
    await linked.accept(await linked.idOf('eve'))
    await linked.writeThrough(running, gone('identity', 'bob'))
    await requireStopped()
  })

  it('does not hide another one', async () => {
    const linked = await linkedPeople({ externalId: 'ada' }, { externalId: 'eve' })
    await linked.accept(await linked.idOf('eve'))
    const { syncState, pausedBy } = await linked.shown()
    assert.deepEqual([syncState, pausedBy?.count], ['RemovalsPaused', 1])
    assert.equal(pausedBy?.members[0]?.displayName, 'ada')
  })

  it('leaves the list when it gets an account', async () => {
    const [ada, eve] = [newAccount(), newAccount()]
    const linked = await linkedPeople({ externalId: 'ada', account: ada }, { externalId: 'eve' })
    await linked.accept(await linked.idOf('eve'))
    await linked.write(linked.person('eve', eve))
    assert.deepEqual((await linked.shown()).acceptedWithoutAccount, [])
    assert.deepEqual(await linked.members(), new Set([ada, eve]))
  })

  it('leaves the list when it is no member any more', async () => {
    const linked = await linkedPeople({ externalId: 'ada', account: newAccount() }, { externalId: 'eve' })
    await linked.accept(await linked.idOf('eve'))
    await linked.write(gone('identity', 'eve'))
    const { acceptedWithoutAccount, syncState } = await linked.shown()
    assert.deepEqual([acceptedWithoutAccount, syncState], [[], 'InSync'])
  })

  it('may have an account that the directory does not know', async () => {
    const [ada, bob, unknown] = [newAccount(), newAccount(), randomUUID()]
    const linked = await linkedPeople(
      { externalId: 'ada', account: ada },
      { externalId: 'bob', account: bob },
      { externalId: 'eve', account: unknown },
    )
    assert.deepEqual((await linked.shown()).pausedBy, {
      reason: 'AccountsUnknown',
      count: 1,
      members: [{ identityId: await linked.idOf('eve'), displayName: 'eve', directoryObjectId: unknown }],
    })
    await linked.write(gone('identity', 'bob'))
    assert.deepEqual(await linked.members(), new Set([ada, bob]))
    const eve = await linked.idOf('eve')
    await linked.accept(eve)
    assert.deepEqual(await linked.members(), new Set([ada]))
    const { syncState, pausedBy, acceptedWithoutAccount } = await linked.shown()
    assert.deepEqual([syncState, pausedBy, acceptedWithoutAccount], ['InSync', null, [eve]])
    await linked.write(gone('identity', 'ada'))
    assert.deepEqual(await linked.members(), new Set())
  })

  it('may have an account that the group refuses', async () => {
    const [ada, bob, guest] = [newAccount(), newAccount(), newAccount()]
    fixture.server.setFaults([{ ...NO_GUESTS, body: guest }])
    const linked = await linkedPeople(
      { externalId: 'ada', account: ada },
      { externalId: 'bob', account: bob },
      { externalId: 'eve', account: guest },
    )
    const eve = await linked.idOf('eve')
    assert.deepEqual((await linked.shown()).pausedBy, {
      reason: 'AccountsUnknown',
      count: 1,
      members: [{ identityId: eve, displayName: 'eve', directoryObjectId: guest }],
    })
    await linked.write(gone('identity', 'bob'))
    assert.deepEqual(await linked.members(), new Set([ada, bob]))
    await linked.accept(eve)
    assert.deepEqual(await linked.members(), new Set([ada]))
    const { syncState, pausedBy, acceptedWithoutAccount } = await linked.shown()
    assert.deepEqual([syncState, pausedBy, acceptedWithoutAccount], ['InSync', null, [eve]])
    await linked.write(gone('identity', 'ada'))
    assert.deepEqual(await linked.members(), new Set())
    fixture.server.setFaults([])
    await linked.accept()
    assert.deepEqual(await linked.members(), new Set([guest]))
    assert.deepEqual((await linked.shown()).acceptedWithoutAccount, [])
  })

  it('is subject to the removal guard: what it no longer keeps in the group is held beyond the limit', async () => {
    const accounts = Array.from({ length: 4 }, newAccount)
    const people = accounts.map((account, index) => ({ externalId: `p${index}`, account }))
    const linked = await linkedPeople(...people, { externalId: 'eve' })
    await linked.write(...people.map(({ externalId }) => gone('identity', externalId)))
    const { settings } = fixture.coldProcess().sync
    const { value, version } = await settings.find(TENANT)
    const guarded = { ...value, removalGuard: { enabled: true, percent: 20, minimum: 1 } }
    await settings.replace(TENANT, guarded, version, undefined)
    try {
      await linked.accept(await linked.idOf('eve'))
      const { syncState, heldRemovals } = await linked.shown()
      assert.deepEqual([syncState, heldRemovals?.count], ['RemovalsHeld', 4])
      assert.deepEqual(await linked.members(), new Set(accounts))
    } finally {
      const now = await settings.find(TENANT)
      await settings.replace(TENANT, value, now.version, undefined)
    }
  })
})
