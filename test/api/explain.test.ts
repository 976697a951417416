import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import type { ExplainedGroup, ExplainedLeaf } from '../../shared/domain/criteria/explain.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { Explanation } from '../../shared/domain/insight/explanation.ts'
import {
  type ApiAnswer,
  approvedBy,
  equals,
  faults,
  type JoinableFixture,
  joinableFixture,
  OPEN,
} from '../support/api/joinable-fixture.ts'

after(() => assert.deepEqual(faults, []))

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const group = (groupOperator: string, ...conditions: object[]) => ({ groupOperator, conditions })

const explain = (fixture: JoinableFixture, collectionId: string, objectId: string, token: string = fixture.admin) =>
  fixture.call<Explanation>(token, 'GET', `/collections/beta/${collectionId}/explain?objectId=${objectId}`)

const leavesOf = (node: ExplainedGroup | ExplainedLeaf): ExplainedLeaf[] =>
  'conditions' in node ? node.conditions.flatMap(leavesOf) : [node]

/** What is said of each leaf of the first row. */
const leaves = ({ rows: [row] }: Explanation) =>
  row === undefined ? [] : leavesOf(row.condition).map(({ id, holds, actual, decides }) => [id, holds, actual, decides])

describe('the explanation of a criteria collection', () => {
  it('has the stored condition with the result, the value and the weight of each leaf', async () => {
    const fixture = await joinableFixture()
    const ward = await fixture.put('orgUnit', { displayName: 'Ward', deputies: [] })
    const holder = await fixture.person(['User'], { displayName: 'Kari', directoryOnPremisesSyncEnabled: true })
    const position = await fixture.position(holder, { orgUnit: { objectId: ward }, startDate: '2024-02-01' })
    const condition = group(
      'AND',
      leaf('relationshipTitle', 'Equals', 'NUR', 'Substring(ToUpper(relationshipTitle),0,3)'),
      group(
        'OR',
        leaf('identityDisplayName', 'Equals', 'Ola'),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', 'true'),
        leaf('relationshipEndDate', 'IsNull'),
      ),
      leaf('relationshipStartDate', 'LessThan', 'Today()', 'AddDays(relationshipStartDate,30)'),
      leaf('relationshipOrgUnit', 'Equals', ward),
    )
    const id = await fixture.criteria('Relationship', condition)
    await fixture.evaluator.evaluate(fixture.tenantId)
    const { status, data } = await explain(fixture, id, position)
    assert.equal(status, 200)
    const { rows, ...rest } = data
    assert.deepEqual(rest, {
      collectionId: id,
      objectId: position,
      verdict: 'Member',
      isMember: true,
      satisfies: true,
      evaluatedAt: '2030-06-01T08:00:00.000+00:00',
      rowCount: 1,
      request: null,
      since: '2030-06-01T08:00:00.000+00:00',
      cause: 'DefinitionChanged',
      until: null,
      links: [],
    })
    const [row] = rows
    const { identityId, relationshipId, orgUnitId, holds } = row ?? {}
    assert.deepEqual(
      [rows.length, identityId, relationshipId, orgUnitId, holds],
      [1, holder.identityId, position, ward, true],
    )
    assert.deepEqual(leaves(data), [
      ['relationshipTitle', true, 'NUR', true],
      ['identityDisplayName', false, 'Kari', false],
      ['identityDirectoryOnPremisesSyncEnabled', true, true, false],
      ['relationshipEndDate', true, null, false],
      ['relationshipStartDate', true, '2024-03-02T00:00:00.000+00:00', true],
      ['relationshipOrgUnit', true, ward, true],
    ])
    assert.deepEqual(
      row?.condition.conditions.map((condition) => condition.holds),
      [true, true, true, true],
    )
  })

  it('has pages of at most 20 rows, and no page exceeds 2 MB', async () => {
    const fixture = await joinableFixture()
    const ward = await fixture.put('orgUnit', { displayName: 'Ward', deputies: [] })
    const holder = await fixture.person(['User'], { displayName: 'Kari' })
    for (let count = 0; count < 45; count += 1) await fixture.position(holder, { orgUnit: { objectId: ward } })
    const values = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(330)}`)
    const long = group('OR', ...values.map((value) => leaf('identityDisplayName', 'Equals', value)))
    const id = await fixture.criteria('Relationship', long)
    const sizes: [number, number][] = []
    let path: string | undefined = `/collections/beta/${id}/explain?objectId=${ward}`
    const found = new Set<string | null | undefined>()
    while (path !== undefined) {
      const { status, data, nextCursor }: ApiAnswer<Explanation> = await fixture.call(fixture.admin, 'GET', path)
      assert.deepEqual([status, data.rowCount], [200, 45])
      for (const { relationshipId } of data.rows) found.add(relationshipId)
      sizes.push([data.rows.length, Buffer.byteLength(JSON.stringify(data))])
      path = nextCursor && `/collections/beta/${id}/explain?objectId=${ward}&nextCursor=${nextCursor}`
    }
    assert.equal(found.size, 45)
    assert.ok(
      sizes.every(([rowCount, bytes]) => rowCount <= 20 && bytes <= 2 * 1024 * 1024),
      String(sizes),
    )
    const other = `/collections/beta/${id}/explain?objectId=${holder.identityId}&pageSize=21`
    assert.equal((await fixture.call(fixture.admin, 'GET', other)).status, 400)
  })

  it('shows the first entries of long lists and the first characters of long texts: no row alone exceeds 2 MB', async () => {
    const fixture = await joinableFixture()
    const person = await fixture.person(['User'], { displayName: 'Kari' })
    const deputies = Array.from({ length: 150 }, () => ({ objectId: person.identityId }))
    const others = await Promise.all(deputies.map(() => fixture.put('identity', { displayName: 'Ola' })))
    const unit = await fixture.put('orgUnit', {
      displayName: 'å'.repeat(256),
      'custom/motto': 'å'.repeat(2000),
      deputies: others.map((objectId) => ({ objectId })),
    })
    const motto = (index: number) =>
      leaf('orgUnitCustom/motto', index % 2 === 0 ? 'NotContains' : 'Contains', `${index}`)
    const leaves = Array.from({ length: 499 }, (_, index) => motto(index))
    const id = await fixture.criteria(
      'OrgUnit',
      group('OR', leaf('orgUnitDeputies', 'Contains', others[7] ?? ''), ...leaves),
    )
    const { status, data } = await explain(fixture, id, unit)
    assert.equal(status, 200)
    const [first, second] = data.rows[0]?.condition.conditions ?? []
    assert.deepEqual((first as { actual?: unknown }).actual, [...others].sort().slice(0, 100))
    assert.equal((second as { actual?: unknown }).actual, `${'å'.repeat(500)}…`)
    assert.ok(Buffer.byteLength(JSON.stringify(data)) < 2 * 1024 * 1024)
  })

  it('tells soon from now: the stored members are compared with what the condition says', async () => {
    const fixture = await joinableFixture()
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const { identityId } = await fixture.person(['User'], { displayName: 'Kari' })
    const verdict = async () => (await explain(fixture, id, identityId)).data.verdict
    assert.equal(await verdict(), 'JoinsSoon')
    assert.equal((await explain(fixture, id, identityId)).data.evaluatedAt, null)
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal(await verdict(), 'Member')
    await fixture.put('identity', { displayName: 'Ola' }, identityId)
    assert.equal(await verdict(), 'LeavesSoon')
    await fixture.evaluator.evaluate(fixture.tenantId)
    assert.equal(await verdict(), 'NotMember')
  })

  it('covers all rows of an object: each position of an identity, each of an org unit, or the object alone', async () => {
    const fixture = await joinableFixture()
    const [ward, empty] = [await fixture.put('orgUnit', { displayName: 'Ward' }), await fixture.put('orgUnit', {})]
    const [two, none] = [await fixture.person(), await fixture.person()]
    const nurse = await fixture.position(two, { title: 'Nurse', orgUnit: { objectId: ward } })
    const cook = await fixture.position(two, { title: 'Cook', orgUnit: { objectId: ward } })
    const ids = new Map<string, string>()
    for (const type of ['Identity', 'Relationship', 'OrgUnit']) {
      ids.set(type, await fixture.criteria(type, equals('relationshipTitle', 'Nurse')))
    }
    await fixture.evaluator.evaluate(fixture.tenantId)
    const summary = async (type: string, objectId: string) => {
      const { verdict, rows } = (await explain(fixture, ids.get(type) ?? '', objectId)).data
      return [verdict, rows.map(({ relationshipId, holds }) => [relationshipId, holds]).sort()]
    }
    const both = [
      [nurse, true],
      [cook, false],
    ].sort()
    assert.deepEqual(await summary('Identity', two.identityId), ['Member', both])
    assert.deepEqual(await summary('Relationship', two.identityId), ['Member', both])
    assert.deepEqual(await summary('Relationship', cook), ['NotMember', [[cook, false]]])
    assert.deepEqual(await summary('OrgUnit', ward), ['Member', both])
    assert.deepEqual(await summary('OrgUnit', empty), ['NotMember', [[null, false]]])
    assert.deepEqual(await summary('Identity', none.identityId), ['NotMember', [[null, false]]])
    assert.deepEqual(await summary('Relationship', none.identityId), ['NotMember', []])
  })

  it('names the collections of a leaf that the row is a member of, of both kinds', async () => {
    const fixture = await joinableFixture()
    const person = await fixture.person(['User'], { displayName: 'Kari' })
    const staff = await fixture.criteria('Identity', equals('identityDisplayName', 'Kari'))
    const others = await fixture.criteria('Identity', equals('identityDisplayName', 'Ola'))
    const choir = await fixture.joinable(OPEN)
    await fixture.submit(person, choir)
    const id = await fixture.criteria(
      'Identity',
      group('AND', leaf('memberOfCollection', 'In', [staff, others, choir])),
    )
    assert.deepEqual(leaves((await explain(fixture, id, person.identityId)).data), [
      ['memberOfCollection', true, [staff, choir], true],
    ])
    const stranger = await fixture.person()
    assert.deepEqual(leaves((await explain(fixture, id, stranger.identityId)).data), [
      ['memberOfCollection', false, [], true],
    ])
  })

  it('hides sensitive values from callers who may not read all core objects, except their own', async () => {
    const fixture = await joinableFixture()
    const person = await fixture.person(['User'], { displayName: 'Kari', nin: '4711' })
    const nameless = await fixture.person()
    const roles = ['collection_criteria_definition-administrator', 'Administrator'] as const
    const both = fixture.caller('user', roles)
    const body = { objectType: 'Identity', name: 'By number', condition: equals('identityNin', '4711') }
    const { data: id } = await fixture.call<string>(both, 'POST', '/collections-criteria/beta', body)
    const shown = async (token: string, objectId = person.identityId) =>
      leaves((await explain(fixture, id, objectId, token)).data).map(([, holds, actual]) => [holds, actual])
    assert.deepEqual(await shown(both), [[true, '4711']])
    assert.deepEqual(await shown(fixture.admin), [[true, 'hidden']])
    assert.deepEqual(await shown(fixture.admin, nameless.identityId), [[false, null]])
    assert.deepEqual(await shown(person.token), [[true, '4711']])
  })
})

describe('who may ask for an explanation', () => {
  it('is every reader of collections about any object, and a user about own ones', async () => {
    const fixture = await joinableFixture()
    const [me, other] = [await fixture.person(), await fixture.person()]
    const ward = await fixture.put('orgUnit', {})
    const own = await fixture.position(me, { orgUnit: { objectId: ward } })
    const foreign = await fixture.position(other)
    const id = await fixture.criteria('Identity', equals('identityDisplayName', 'Somebody'))
    const asked = async (token: string, objectId: string) => {
      const { status, codes } = await explain(fixture, id, objectId, token)
      return status === 200 ? 200 : codes[0]
    }
    for (const objectId of [me.identityId, own]) assert.equal(await asked(me.token, objectId), 200)
    for (const objectId of [other.identityId, foreign, ward, randomUUID()]) {
      assert.equal(await asked(me.token, objectId), 'ObjectNotFound')
    }
    for (const objectId of [me.identityId, foreign, ward]) assert.equal(await asked(fixture.writer, objectId), 200)
    assert.equal(await asked(fixture.admin, randomUUID()), 'ObjectNotFound')
    assert.equal(await asked(fixture.caller('user', ['User']), me.identityId), 'CallerHasNoIdentity')
    assert.equal(await asked((await fixture.person(['Administrator'])).token, me.identityId), 'RoleRequired')
    assert.deepEqual((await explain(fixture, randomUUID(), me.identityId)).codes, ['CollectionNotFound'])
    await fixture.remove('identity', other.identityId)
    assert.equal(await asked(fixture.admin, other.identityId), 'ObjectNotFound')
  })
})

describe('the explanation of a joinable collection', () => {
  it('has the request that makes the object a member, or else the one that waits', async () => {
    const fixture = await joinableFixture()
    const [me, approver] = [await fixture.person(), await fixture.person()]
    const position = await fixture.position(me)
    const id = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }), {
      objectType: 'Relationship',
    })
    const found = async (objectId: string) => {
      const { verdict, isMember, satisfies, rows, request } = (await explain(fixture, id, objectId)).data
      return [verdict, isMember, satisfies, rows.length, request?.status]
    }
    assert.deepEqual(await found(me.identityId), ['NotMember', false, null, 0, undefined])
    const { data: request } = await fixture.submit(me, id)
    assert.deepEqual(await found(me.identityId), ['NotMember', false, null, 0, 'PendingApproval'])
    await fixture.act(approver.token, request, 'approve')
    for (const objectId of [me.identityId, position]) {
      assert.deepEqual(await found(objectId), ['Member', true, null, 0, 'Joined'])
    }
    const other = await fixture.position(me, { title: 'Cook' })
    assert.deepEqual(await found(other), ['NotMember', false, null, 0, undefined])
    await fixture.act(me.token, request, 'leave')
    assert.deepEqual(await found(me.identityId), ['NotMember', false, null, 0, undefined])
  })

  it('has the current number of approvers of the request, as the request itself', async () => {
    const fixture = await joinableFixture()
    const [me, approver, other] = [await fixture.person(), await fixture.person(), await fixture.person()]
    const approvers = [approver.identityId, other.identityId]
    const id = await fixture.joinable({ ...approvedBy({ type: 'Identity', approvers }), maxDays: 100 })
    const { data: submitted } = await fixture.submit(me, id)
    const counts = async () => {
      const { request } = (await explain(fixture, id, me.identityId)).data
      const { data: read } = await fixture.read(me.token, submitted)
      return [request, read].map((shown) => (shown?.currentGate ?? shown?.extension?.currentGate)?.approverCount)
    }
    assert.deepEqual(await counts(), [2, 2])
    await fixture.act(approver.token, submitted, 'approve')
    const path = `${fixture.requests}/${id}/${submitted.id}/extend`
    fixture.pass(24 * 60 * 60)
    assert.equal((await fixture.call(me.token, 'POST', path, { endsAt: '2030-09-10' })).status, 200)
    assert.deepEqual(await counts(), [2, 2])
    await fixture.remove('identity', other.identityId)
    assert.deepEqual(await counts(), [1, 1])
    await fixture.remove('identity', approver.identityId)
    assert.deepEqual(await counts(), [0, 0])
  })

  it('tells when the membership began to each position of the person, when the position of the membership is deleted', async () => {
    const fixture = await joinableFixture()
    const me = await fixture.person()
    const position = await fixture.position(me)
    const id = await fixture.joinable(OPEN)
    await fixture.submit(me, id)
    const other = await fixture.position(me, { title: 'Cook' })
    fixture.pass(60)
    await fixture.remove('relationship', position)
    await fixture.evaluator.evaluate(fixture.tenantId)
    for (const objectId of [me.identityId, other]) {
      const { verdict, since, cause } = (await explain(fixture, id, objectId)).data
      assert.deepEqual([verdict, since, cause], ['Member', '2030-06-01T08:00:00.000+00:00', 'Request'])
    }
  })
})

describe('the links of an explanation', () => {
  it('tell where the account stands in each group', async () => {
    const fixture = await joinableFixture()
    const [member, added, stranger] = [await fixture.person(), await fixture.person(), await fixture.person()]
    const nobody = await fixture.put('identity', { displayName: 'No account' })
    const collectionId = await fixture.joinable(OPEN)
    const join = (id: string) =>
      fixture.call(fixture.admin, 'POST', `/collections-joinable/beta/${collectionId}/results/members`, {
        coreIdentityIds: [id],
      })
    await join(member.identityId)
    await join(nobody)
    const links = fixture.deps.linkStore
    const link = async (changes: object) => {
      const [id, directoryGroupId] = [randomUUID(), randomUUID()]
      const made = newLink(
        { id, tenantId: fixture.tenantId, collectionId, directoryGroupId, directoryGroupDisplayName: null },
        fixture.nowMs(),
      )
      await links.add({ ...made, ...changes })
      return id
    }
    const names = new Map<string, string>([
      [await link({ appliedMembershipVersion: 2 }), 'applied'],
      [await link({}), 'new'],
      [await link({ appliedMembershipVersion: 2, state: 'Disabled' }), 'disabled'],
    ])
    const groupOf = async (name: string) => {
      const all = await links.ofCollection(fixture.tenantId, collectionId)
      return all.find(({ value }) => names.get(value.id) === name)?.value.directoryGroupId ?? ''
    }
    fixture.directoryGroups.set(member.account, new Set([await groupOf('applied')]))
    fixture.directoryGroups.set(added.account, new Set())
    fixture.directoryGroups.set(stranger.account, new Set())
    await join(added.identityId)
    const states = async (objectId: string) => {
      const { data } = await explain(fixture, collectionId, objectId)
      return Object.fromEntries(data.links.map(({ linkId, state }) => [names.get(linkId) ?? linkId, state]))
    }
    assert.deepEqual(await states(member.identityId), { applied: 'Written', new: 'Pending', disabled: 'LinkDisabled' })
    assert.deepEqual(await states(added.identityId), { applied: 'Pending', new: 'Pending', disabled: 'LinkDisabled' })
    assert.deepEqual(await states(nobody), { applied: 'NoAccount', new: 'NoAccount', disabled: 'NoAccount' })
    const outside = { applied: 'NotInGroup', new: 'NotInGroup', disabled: 'LinkDisabled' }
    assert.deepEqual(await states(stranger.identityId), outside)
    fixture.directoryGroups.set(stranger.account, new Set([await groupOf('new')]))
    assert.deepEqual(await states(stranger.identityId), { ...outside, new: 'InGroupByOthers' })
    fixture.directoryGroups.delete(added.account)
    const unknown = { applied: 'NoAccount', new: 'NoAccount', disabled: 'LinkDisabled' }
    assert.deepEqual(await states(added.identityId), unknown)
    const body = { coreIdentityIds: [member.identityId] }
    await fixture.call(fixture.admin, 'DELETE', `/collections-joinable/beta/${collectionId}/results/members`, body)
    assert.equal((await states(member.identityId)).applied, 'InGroupRemovalPending')
    assert.equal((await states(member.identityId)).new, 'NotInGroup')
    const planId = randomUUID()
    await fixture.deps.removalPlans.save({ tenantId: fixture.tenantId, planId }, [member.account])
    const createdAt = '2030-06-01T08:00:00.000+00:00'
    const counts = { count: 1, limit: 0, removedInWindow: 0, groupSize: 2 }
    const heldRemovals = { planId, reason: 'TooMany', ...counts, createdAt, storedAtMs: fixture.nowMs() }
    names.set(await link({ appliedMembershipVersion: 2, heldRemovals }), 'held')
    fixture.directoryGroups.set(member.account, new Set([await groupOf('held')]))
    assert.equal((await states(member.identityId)).held, 'Held')
    assert.equal((await states(stranger.identityId)).held, 'NotInGroup')
    const { links: accounts } = (await explain(fixture, collectionId, member.identityId)).data
    assert.ok(accounts.every(({ directoryObjectId }) => directoryObjectId === member.account))
  })
})
