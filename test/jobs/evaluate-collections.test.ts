import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosLinkStore } from '../../shared/cosmos/links/link-store.ts'
import { HEAD_ID } from '../../shared/cosmos/members/membership-plan.ts'
import type { MembershipStore } from '../../shared/domain/collections/membership-store.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import { collectionLinks } from '../../shared/domain/group-links/linked-collections.ts'
import type { Message } from '../../shared/kernel/messages.ts'
import {
  all,
  CRITERIA,
  criteriaTenant,
  leaf,
  memberOf,
  named,
  startCriteriaService,
  startsWith,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

/** The version of the members of each collection of all tenants. */
async function memberVersions(): Promise<ReadonlyMap<string, string>> {
  const query = {
    query: 'SELECT c.membersOf, c._etag FROM c WHERE c.id = @head',
    parameters: [{ name: '@head', value: HEAD_ID }],
  }
  const heads = service.database('members').items.query<{ membersOf: string; _etag: string }>(query)
  return new Map((await heads.fetchAll()).resources.map(({ membersOf, _etag }) => [membersOf, _etag]))
}

/** The number of collections whose members were written meanwhile. */
async function writtenIn(work: () => Promise<unknown>): Promise<number> {
  const versionsBefore = await memberVersions()
  await work()
  const versions = await memberVersions()
  return [...versions].filter(([membersOf, version]) => versionsBefore.get(membersOf) !== version).length
}

describe('evaluation of criteria collections', () => {
  it('follows objects that are added, changed, moved and deleted', async () => {
    const tenant = criteriaTenant(service)
    const [school, hospital] = [
      await tenant.put('orgUnit', { displayName: 'School' }),
      await tenant.put('orgUnit', { displayName: 'Hospital' }),
    ]
    const id = await tenant.create(all(leaf('orgUnitDisplayName', 'Equals', 'School')))
    const ann = await tenant.person('Ann')
    const membersNow = async () => {
      await tenant.evaluate()
      return tenant.members(id)
    }
    assert.deepEqual(await membersNow(), [])
    const position = await tenant.position(ann, school)
    assert.deepEqual(await membersNow(), [ann])
    await tenant.put('relationship', { identity: { objectId: ann }, orgUnit: { objectId: hospital } }, position)
    assert.deepEqual(await membersNow(), [])
    await tenant.put('orgUnit', { displayName: 'School' }, hospital)
    assert.deepEqual(await membersNow(), [ann])
    await tenant.put('identity', {}, ann, true)
    assert.deepEqual(await membersNow(), [])
    await tenant.person('Ann again', {}, ann)
    assert.deepEqual(await membersNow(), [ann])
    await tenant.put('relationship', {}, position, true)
    assert.deepEqual(await membersNow(), [])
  })

  it("reads an identity's directory groups and licenses as they are stored, positions by their holder's", async () => {
    const tenant = criteriaTenant(service)
    const [group, license] = [randomUUID(), randomUUID()]
    const inGroup = all(leaf('directMemberOfDirectoryGroups', 'Contains', group.toUpperCase()))
    const licensed = all(leaf('assignedLicenses', 'Contains', license))
    const ids = [
      await tenant.create(inGroup),
      await tenant.create(licensed),
      await tenant.create(licensed, { objectType: 'Relationship' }),
      await tenant.create(all(leaf('assignedLicenses', 'IsNull'))),
    ]
    const ann = await tenant.person('Ann', { directMemberOfDirectoryGroups: [randomUUID(), group] })
    const bo = await tenant.person('Bo', { assignedLicenses: [license] })
    const position = await tenant.position(bo, undefined)
    const membersNow = async () => {
      await tenant.evaluate()
      return Promise.all(ids.map((id) => tenant.members(id)))
    }
    assert.deepEqual(await membersNow(), [[ann], [bo], [position], [ann]])
    await tenant.person('Bo', { directMemberOfDirectoryGroups: [group], assignedLicenses: [] }, bo)
    assert.deepEqual(await membersNow(), [[ann, bo].sort(), [], [], [ann]])
  })

  it('follows a changed definition, and writes nothing when the definition is unchanged', async () => {
    const tenant = criteriaTenant(service)
    const [ann, bo] = [await tenant.person('Ann'), await tenant.person('Bo')]
    const id = await tenant.create(named('Ann'))
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(id), [ann])
    const put = (condition: object) => tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition })
    await put(named('Bo'))
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(id), [bo])
    await put(named('Bo'))
    assert.equal(await writtenIn(tenant.evaluate), 0)
  })

  it('evaluates chains of collections in the order of their references, for any length and any types', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Anders')
    const bo = await tenant.person('Bo')
    const ids = [await tenant.create(startsWith('An'), { name: 'z' })]
    const position = await tenant.position(bo, undefined)
    for (let length = 1; length < 12; length += 1) {
      const objectType = length === 6 ? 'Relationship' : 'Identity'
      ids.push(await tenant.create(memberOf(ids.at(-1) ?? ''), { name: `${99 - length}`, objectType }))
    }
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(ids[5] ?? ''), [ann])
    assert.deepEqual(await tenant.members(ids[11] ?? ''), [])
    await tenant.person('Anton', {}, bo)
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(ids[5] ?? ''), [ann, bo].sort())
    assert.deepEqual(await tenant.members(ids[6] ?? ''), [position])
    assert.deepEqual(await tenant.members(ids[11] ?? ''), [bo])
  })

  it('writes only the collections whose members have changed', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann', { email: 'ann@example.org' })
    for (let index = 0; index < 10; index += 1) {
      await tenant.create(named(`Person ${index}`))
      await tenant.create(all(leaf('identityEmail', 'EndsWith', `${index}.example.org`)))
    }
    assert.equal(await writtenIn(tenant.evaluate), 20)
    assert.equal(await writtenIn(tenant.evaluate), 0)
    await tenant.person('Person 3', { email: 'ann@example.org' }, ann)
    assert.equal(await writtenIn(tenant.evaluate), 1)
    await tenant.person('Person 4', { email: 'ann@4.example.org' }, ann)
    assert.equal(await writtenIn(tenant.evaluate), 3)
    await tenant.person('Person 4', { email: 'ann@4.example.org', mobile: '+47' }, ann)
    assert.equal(await writtenIn(tenant.evaluate), 0)
  })

  it('evaluates conditions that depend on the day at midnight, and no others', async () => {
    const tenant = criteriaTenant(service)
    const ann = await tenant.person('Ann')
    const position = (endDate: string) => tenant.position(ann, undefined, { endDate })
    const [first, second] = [await position('2030-03-01'), await position('2030-03-02')]
    const ended = await tenant.create(all(leaf('relationshipEndDate', 'LessThan', 'Today()')), {
      objectType: 'Relationship',
    })
    await tenant.create(named('Ann'))
    service.clock.nowMs = Date.parse('2030-03-01T23:59:59Z')
    await tenant.evaluate()
    assert.deepEqual(await tenant.members(ended), [])
    for (const [now, expected] of [
      ['2030-03-02T00:00:00Z', [first]],
      ['2030-03-03T00:00:00Z', [first, second].sort()],
    ] as const) {
      service.clock.nowMs = Date.parse(now)
      assert.equal(await writtenIn(tenant.evaluate), 1)
      assert.deepEqual(await tenant.members(ended), expected)
      assert.equal((await tenant.results(ended)).evaluatedAt, new Date(now).toISOString().replace('Z', '+00:00'))
      assert.equal(await writtenIn(tenant.evaluate), 0)
    }
  })

  it('enqueues a message for a linked collection if and only if its members change', async () => {
    const tenant = criteriaTenant(service)
    await tenant.person('Ann')
    const [linked, other] = [await tenant.create(named('Ann')), await tenant.create(named('Ann'))]
    service.links.set(linked, ['a link'])
    const ringsIn = async (work: () => Promise<unknown>) => {
      const before = service.process.sentMessages.length
      await work()
      return service.process.sentMessages.slice(before).filter(({ queue }) => queue === 'membership-changes')
    }
    const enqueue = { queue: 'membership-changes', message: { tenantId: tenant.tenantId, collectionId: linked } }
    assert.deepEqual(await ringsIn(tenant.evaluate), [enqueue])
    assert.deepEqual(await ringsIn(tenant.evaluate), [])
    assert.equal((await tenant.members(other)).length, 1)
    service.links.delete(linked)
  })
})

describe('evaluation that fails', () => {
  for (let failing = 1; failing <= 4; failing += 1) {
    it(`is repaired by the next one after a failure at write ${failing}`, async () => {
      let writeCount = 0
      const { memberships } = service.process
      const failingOnce: MembershipStore = {
        ...memberships,
        async replace(...change) {
          writeCount += 1
          if (writeCount === failing + 4) throw new Error('The database is away')
          return memberships.replace(...change)
        },
      }
      const { evaluator } = service.newProcess({ memberships: failingOnce })
      const tenant = criteriaTenant(service)
      const ann = await tenant.person('Ann')
      const chain = [await tenant.create(startsWith('A'))]
      for (let length = 1; length < 4; length += 1) chain.push(await tenant.create(memberOf(chain.at(-1) ?? '')))
      await evaluator.evaluate(tenant.tenantId)
      const anders = await tenant.person('Anders')
      await assert.rejects(evaluator.evaluate(tenant.tenantId), /The database is away/)
      await evaluator.evaluate(tenant.tenantId)
      for (const id of chain) assert.deepEqual(await tenant.members(id), [ann, anders].sort())
    })
  }
})

describe('a message for a linked collection that cannot be enqueued', () => {
  for (const [claim, isSameProcess] of [
    ['is enqueued by the next evaluation, although the members have changed already', true],
    ['is enqueued by the first evaluation of another process, which did not see the change', false],
  ] as const) {
    it(claim, async () => {
      const tenant = criteriaTenant(service)
      const { tenantId } = tenant
      const sentMessages: unknown[] = []
      let failuresLeft = 0
      const enqueue = async ({ message }: Message) => {
        failuresLeft -= 1
        if (failuresLeft >= 0) throw new Error('The queue is away')
        sentMessages.push(message)
      }
      const store = cosmosLinkStore(service.database('links'))
      const parts = { messageQueue: { enqueue }, links: collectionLinks(store, () => service.clock.nowMs) }
      const { evaluator } = service.newProcess(parts)
      const ids = [await tenant.create(startsWith('A')), await tenant.create(startsWith('A'))]
      await evaluator.evaluate(tenantId)
      for (const collectionId of ids) {
        const head = await service.process.memberships.head(tenantId, collectionId)
        const group = { directoryGroupId: randomUUID(), directoryGroupDisplayName: null }
        const link = newLink({ id: randomUUID(), tenantId, collectionId, ...group }, service.clock.nowMs)
        await store.add({ ...link, appliedMembershipVersion: head?.value.membershipVersion ?? 0 })
      }
      await tenant.person('Ann')
      failuresLeft = 2
      await assert.rejects(evaluator.evaluate(tenantId), /The queue is away/)
      await assert.rejects(evaluator.evaluate(tenantId), /The queue is away/)
      assert.deepEqual(sentMessages, [])
      const next = isSameProcess ? evaluator : service.newProcess(parts).evaluator
      await next.evaluate(tenantId)
      const expected = ids.map((collectionId) => ({ tenantId, collectionId }))
      assert.deepEqual(new Set(sentMessages), new Set(expected))
      assert.equal(sentMessages.length, 2)
      await next.evaluate(tenantId)
      assert.equal(sentMessages.length, 2)
    })
  }

  it('does not hide the failure of an evaluation before it', async () => {
    const tenant = criteriaTenant(service)
    const linked = await tenant.create(startsWith('A'))
    const failing = await tenant.create(memberOf(linked))
    await tenant.person('Ann')
    service.links.set(linked, ['a link'])
    const { memberships } = service.process
    const replace: MembershipStore['replace'] = async (tenantId, id, ...rest) => {
      if (id === failing) throw new Error('The database is away')
      return memberships.replace(tenantId, id, ...rest)
    }
    let enqueuedCount = 0
    const enqueue = async () => {
      enqueuedCount += 1
      throw new Error('The queue is away')
    }
    const { evaluator } = service.newProcess({ memberships: { ...memberships, replace }, messageQueue: { enqueue } })
    await assert.rejects(evaluator.evaluate(tenant.tenantId), /The database is away/)
    assert.equal(enqueuedCount, 1)
    service.links.delete(linked)
  })
})

describe('the cache of evaluation', () => {
  it('drops tenants whose rows were evicted, and evaluates them correctly when these are loaded again', async () => {
    const headsRead: string[] = []
    const { memberships } = service.process
    const watched: MembershipStore = {
      ...memberships,
      heads: (tenantId, ids) => {
        headsRead.push(...ids)
        return memberships.heads(tenantId, ids)
      },
    }
    const { evaluator } = service.newProcess({ memberships: watched }, { rowsMemoryMB: 0.2 })
    const tenants = [criteriaTenant(service), criteriaTenant(service)]
    const ids = new Map<(typeof tenants)[number], string>()
    for (const tenant of tenants) {
      await tenant.person('Ann')
      await tenant.person('Bo')
      ids.set(tenant, await tenant.create(startsWith('A')))
    }
    for (let round = 0; round < 3; round += 1) {
      for (const tenant of tenants) {
        const id = ids.get(tenant) ?? ''
        await tenant.person(`A ${round}`)
        headsRead.length = 0
        await evaluator.evaluate(tenant.tenantId)
        assert.deepEqual(headsRead, [id])
        await evaluator.evaluate(tenant.tenantId)
        assert.deepEqual(headsRead, [id])
        assert.equal((await tenant.members(id)).length, round + 2)
      }
    }
  })
})
