import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { CONTAINERS } from '../../shared/cosmos/containers.ts'
import { findCircleOfLink } from '../../shared/domain/collections/circular-references.ts'
import type { MemberDto } from '../../shared/domain/collections/list-members.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
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

const CRITERIA = '/collections-criteria/beta'
const NAME = 'identityDisplayName'

const leaf = (id: string, operator: string, value?: unknown, field = id) => ({ id, field, operator, value })
const all = (...conditions: object[]) => ({ groupOperator: 'AND', conditions })
const named = (...names: string[]) => all(leaf(NAME, 'In', names))
const memberOf = (id: string) => equals('memberOfCollection', id)

const planned = (fixture: JoinableFixture, id: string, body: object, token = fixture.writer, headers = {}) =>
  fixture.call<ChangePlan>(token, 'POST', `${CRITERIA}/${id}/plan`, { objectType: 'Identity', ...body }, headers)

const saved = (fixture: JoinableFixture, id: string, body: object, planId: string, token = fixture.writer) =>
  fixture.call(token, 'PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', ...body }, { 'if-plan': planId })

const addLink = async (fixture: JoinableFixture, collectionId: string, more: object = {}) => {
  const [id, directoryGroupId] = [randomUUID(), randomUUID()]
  const link = newLink(
    { id, tenantId: fixture.tenantId, collectionId, directoryGroupId, directoryGroupDisplayName: 'Staff' },
    fixture.nowMs(),
  )
  await fixture.deps.linkStore.add({ ...link, hasAdded: true, userCount: 50, ...more })
  return { linkId: id, directoryGroupId }
}

/** People by name; a collection of the first name. */
async function people(fixture: JoinableFixture, ...names: string[]) {
  const persons = []
  for (const displayName of names) persons.push(await fixture.person(['User'], { displayName }))
  return { persons, id: await fixture.criteria('Identity', named(names[0] ?? '')) }
}

describe('the plan of an update', () => {
  it('counts what the collection and all that refer to it gain and lose, and leaves out the others', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola', 'Ola')
    for (const person of persons) await fixture.position(person)
    const positions = await fixture.criteria('Relationship', memberOf(id))
    const others = await fixture.criteria('Identity', { groupOperator: 'NOT', conditions: [memberOf(positions)] })
    await fixture.criteria('Identity', all(memberOf(id), named('Per')))
    await fixture.criteria('Identity', named('Ola'))
    const { status, data } = await planned(fixture, id, { name: 'People', condition: named('Ola') })
    assert.equal(status, 200)
    assert.deepEqual(data.collections, [
      { collectionId: id, name: 'People', added: 2, removed: 1 },
      { collectionId: positions, name: 'Staff', added: 2, removed: 1 },
      { collectionId: others, name: 'Staff', added: 1, removed: 2 },
    ])
    assert.deepEqual([data.links, data.requests], [[], { becomeEligible: 0, loseEligibility: 0 }])
    assert.equal(data.expiresAt, '2030-06-01T09:00:00.000+00:00')
  })

  it('has the collection alone when nothing changes', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari')
    const { data } = await planned(fixture, id, { description: 'The same' })
    assert.deepEqual(data.collections, [{ collectionId: id, name: 'Staff', added: 0, removed: 0 }])
  })

  it('counts the accounts that each group gains and loses, each once, and tells what the guard would hold', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, ...Array<string>(12).fill('Kari'), 'Ola')
    const positions = await fixture.criteria('Relationship', memberOf(id))
    for (const person of persons.slice(0, 2)) {
      await fixture.position(person)
      await fixture.position(person, { title: 'Cook' })
    }
    const [held, enabled] = [await addLink(fixture, id), await addLink(fixture, positions)]
    await addLink(fixture, id, { state: 'Disabled' })
    const { data } = await planned(fixture, id, { condition: named('Ola') })
    assert.deepEqual(data.links, [
      { ...held, toAdd: 1, toRemove: 12, pausedRemovals: 0, pausedBy: null, wouldHold: true },
      { ...enabled, toAdd: 0, toRemove: 2, pausedRemovals: 0, pausedBy: null, wouldHold: false },
    ])
    const holds = data.warnings.filter(({ code }) => code === 'WouldHold')
    assert.deepEqual(
      holds.map(({ message, target }) => [message.includes(held.linkId), target]),
      [[true, '']],
    )
  })

  it('counts removals of the last 24 hours and those held now, whose accounts are still in the group', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola')
    const planId = randomUUID()
    const account = persons[1]?.account ?? ''
    await fixture.deps.removalPlans.save({ tenantId: fixture.tenantId, planId }, [account])
    const createdAt = '2030-06-01T08:00:00.000+00:00'
    const counts = { count: 1, limit: 10, removedInWindow: 10, groupSize: 50 }
    const heldRemovals = { planId, reason: 'TooMany', ...counts, createdAt, storedAtMs: fixture.nowMs() }
    const entries = [{ atMs: fixture.nowMs() - 1000, count: 9, groupSize: 50 }]
    const { linkId } = await addLink(fixture, id, { heldRemovals, removalWindow: { entries, open: null } })
    const linksOf = async (condition: object) => (await planned(fixture, id, { condition })).data.links
    assert.deepEqual(await linksOf(named('Kari', 'Ola')), [])
    const [link] = await linksOf(named('Per'))
    assert.deepEqual([link?.linkId, link?.toAdd, link?.toRemove, link?.wouldHold], [linkId, 0, 1, true])
    const [swapped] = await linksOf(named('Ola'))
    assert.deepEqual([swapped?.toAdd, swapped?.toRemove, swapped?.wouldHold], [0, 1, false])
  })

  it('counts held removals that the guard lets go after the change, unless they are rejected', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola', 'Per')
    const [, ola, per] = persons
    const planId = randomUUID()
    const accounts = [ola?.account ?? '', per?.account ?? '']
    await fixture.deps.removalPlans.save({ tenantId: fixture.tenantId, planId }, accounts)
    const createdAt = '2030-06-01T08:00:00.000+00:00'
    const counts = { count: 2, limit: 10, removedInWindow: 9, groupSize: 50 }
    const heldRemovals = { planId, reason: 'TooMany', ...counts, createdAt, storedAtMs: fixture.nowMs() }
    const entries = [{ atMs: fixture.nowMs() - 1000, count: 9, groupSize: 50 }]
    const removalWindow = { entries, open: null }
    const freeing = await addLink(fixture, id, { heldRemovals, removalWindow })
    const rejected = { ...heldRemovals, rejectedAt: createdAt, rejectedBy: null }
    await addLink(fixture, id, { heldRemovals: rejected, removalWindow })
    const condition = named('Kari', 'Per')
    const { data } = await planned(fixture, id, { condition })
    assert.deepEqual(data.links, [
      { ...freeing, toAdd: 0, toRemove: 1, pausedRemovals: 0, pausedBy: null, wouldHold: false },
    ])
    const asked = { objectType: 'Identity', condition, linkId: freeing.linkId, change: 'removed' }
    const { data: gone } = await fixture.call<MemberDto[]>(
      fixture.writer,
      'POST',
      `${CRITERIA}/${id}/plan/members`,
      asked,
    )
    assert.deepEqual(
      gone.map(({ objectId }) => objectId),
      [ola?.identityId],
    )
    const found = await fixture.deps.linkStore.find(fixture.tenantId, freeing.linkId)
    if (found === undefined) throw new Error('The link is gone')
    await fixture.deps.linkStore.replace({ ...found.value, heldRemovals: null }, found.version)
    assert.deepEqual((await saved(fixture, id, { condition }, data.planId)).codes, ['PlanChanged'])
  })

  it('warns of a link whose deferred removals become due, whatever their number', async () => {
    const fixture = await joinableFixture()
    const eve = await fixture.put('identity', { displayName: 'Eve' })
    await fixture.person(['User'], { displayName: 'Kari' })
    const id = await fixture.criteria('Identity', named('Kari', 'Eve'))
    const withoutAccount = { count: 1, identityIds: [eve] }
    const deferring = await addLink(fixture, id, { removalsDeferred: true, skippedCount: 1, withoutAccount })
    await addLink(fixture, id, { skippedCount: 1, withoutAccount })
    const { data } = await planned(fixture, id, { condition: named('Kari') })
    assert.deepEqual(data.links, [
      { ...deferring, toAdd: 0, toRemove: 0, pausedRemovals: 0, pausedBy: null, wouldHold: false },
    ])
    const resumed = data.warnings.filter(({ code }) => code === 'RemovalsResumed')
    assert.deepEqual(
      resumed.map(({ message, target }) => [message.includes(deferring.linkId), target]),
      [[true, '']],
    )
    const { data: paused } = await planned(fixture, id, { condition: named('Eve') })
    assert.ok(paused.warnings.every(({ code }) => code !== 'RemovalsResumed'))
  })

  it('promises no removal by a link whose removals are paused, and names the members without an account', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const eve = await fixture.put('identity', { displayName: 'Eve' })
    const [paused, accepting] = [
      await addLink(fixture, id),
      await addLink(fixture, id, { acceptedWithoutAccount: [eve] }),
    ]
    const { data } = await planned(fixture, id, { condition: named('Ola', 'Eve') })
    const linkOf = (plan: ChangePlan, { linkId }: { linkId: string }) =>
      plan.links.find((link) => link.linkId === linkId)
    const expected = { toAdd: 1, toRemove: 0, pausedRemovals: 1, wouldHold: false }
    const members = [{ identityId: eve, displayName: 'Eve', directoryObjectId: null }]
    const pausedBy = { reason: 'MembersWithoutAccount', count: 1, members }
    assert.deepEqual(linkOf(data, paused), { ...paused, ...expected, pausedBy })
    const removing = { toRemove: 1, pausedRemovals: 0, pausedBy: null }
    assert.deepEqual(linkOf(data, accepting), { ...accepting, ...expected, ...removing })
    const warnings = data.warnings.filter(({ code }) => code === 'RemovalsPaused')
    const [{ message = '', target = undefined } = {}] = warnings
    assert.deepEqual([warnings.length, target], [1, ''])
    for (const text of [paused.linkId, `Eve (${eve})`, '1 accounts would stay'])
      assert.ok(message.includes(text), message)
    // A link that only keeps accounts is listed too.
    const { data: alone } = await planned(fixture, id, { condition: named('Eve') })
    assert.deepEqual(linkOf(alone, paused), { ...paused, ...expected, pausedBy, toAdd: 0 })
    assert.equal(linkOf(alone, accepting)?.toRemove, 1)
  })

  it('counts no vacancy as a member without an account, but a position of a person who is not known yet', async () => {
    const fixture = await joinableFixture()
    const [kari, ola] = [await fixture.person(), await fixture.person()]
    await fixture.position(kari, { title: 'Nurse' })
    await fixture.position(ola, { title: 'Chief' })
    await fixture.put('relationship', { title: 'Chief' })
    const id = await fixture.criteria('Relationship', all(leaf('relationshipTitle', 'In', ['Nurse', 'Chief'])))
    await addLink(fixture, id)
    const body = { objectType: 'Relationship', condition: equals('relationshipTitle', 'Chief') }
    const { data: open } = await planned(fixture, id, body)
    const [{ toRemove, pausedRemovals, pausedBy } = {} as ChangePlan['links'][number]] = open.links
    assert.deepEqual({ toRemove, pausedRemovals, pausedBy }, { toRemove: 1, pausedRemovals: 0, pausedBy: null })
    await fixture.put('relationship', { title: 'Chief', identity: { objectId: randomUUID() } })
    const { data: unknown } = await planned(fixture, id, body)
    const members = [{ identityId: null, displayName: null, directoryObjectId: null }]
    assert.deepEqual(unknown.links[0]?.pausedBy, { reason: 'MembersWithoutAccount', count: 1, members })
    assert.deepEqual([unknown.links[0]?.toRemove, unknown.links[0]?.pausedRemovals], [0, 1])
  })

  it('counts an account that the last job could not add as missing, for as long as its holder stays', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola')
    const unresolved = [persons[1]?.account ?? '']
    await addLink(fixture, id, { unresolved })
    const linksOf = async (...names: string[]) =>
      (await planned(fixture, id, { condition: named(...names) })).data.links.map((link) => link.pausedRemovals)
    assert.deepEqual(await linksOf('Ola'), [1])
    assert.deepEqual(await linksOf('Per'), [0])
  })

  it('is saved as planned only while the members without an account stay the same kind', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const eve = await fixture.put('identity', { displayName: 'Eve' })
    await addLink(fixture, id)
    const body = { condition: named('Ola', 'Eve') }
    const { data } = await planned(fixture, id, body)
    await fixture.put('identity', { displayName: 'Eve', directoryObjectId: randomUUID() }, eve)
    assert.deepEqual((await saved(fixture, id, body, data.planId)).codes, ['PlanChanged'])
  })

  it('has the people behind each number, in pages', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Kari', 'Ola', 'Per')
    const eve = await fixture.put('identity', { displayName: 'Eve' })
    const positions = await fixture.criteria('Relationship', memberOf(id))
    const job = await fixture.position(persons[2] as (typeof persons)[0], { title: 'Cook' })
    const link = await addLink(fixture, id)
    const body = { objectType: 'Identity', condition: named('Ola', 'Per', 'Eve') }
    const behind = async (asked: object, size = 100) => {
      const all: MemberDto[] = []
      let cursor: string | undefined = ''
      while (cursor !== undefined) {
        const query: string = `pageSize=${size}${cursor && `&nextCursor=${cursor}`}`
        const path = `${CRITERIA}/${id}/plan/members?${query}`
        const page: ApiAnswer<MemberDto[]> = await fixture.call(fixture.writer, 'POST', path, { ...body, ...asked })
        assert.equal(page.status, 200)
        assert.ok(page.data.length <= size)
        all.push(...page.data)
        cursor = page.nextCursor
      }
      return all
    }
    const { data } = await planned(fixture, id, { condition: body.condition })
    const [own, other] = data.collections
    const ids = (members: readonly MemberDto[]) => members.map(({ objectId }) => objectId)
    for (const size of [1, 2, 100]) {
      const added = await behind({ collectionId: id, change: 'added' }, size)
      assert.deepEqual(ids(added), [eve, persons[2]?.identityId, persons[3]?.identityId])
      assert.deepEqual(
        added.map(({ displayName, hasAccount }) => [displayName, hasAccount]),
        [
          ['Eve', false],
          ['Ola', true],
          ['Per', true],
        ],
      )
    }
    assert.deepEqual([own?.added, own?.removed, other?.added], [3, 2, 1])
    assert.equal((await behind({ collectionId: id, change: 'removed' })).length, 2)
    const gained = await behind({ collectionId: positions, change: 'added' })
    assert.deepEqual(
      gained.map(({ objectId, relationshipId, title }) => [objectId, relationshipId, title]),
      [[job, job, 'Cook']],
    )
    const accounts = await behind({ linkId: link.linkId, change: 'added' })
    assert.deepEqual(ids(accounts), [persons[2]?.identityId, persons[3]?.identityId])
    assert.deepEqual(
      ids(await behind({ linkId: link.linkId, change: 'removed' })).toSorted(),
      [persons[0]?.identityId, persons[1]?.identityId].toSorted(),
    )
    const asked = (more: object) =>
      fixture.call(fixture.writer, 'POST', `${CRITERIA}/${id}/plan/members`, { ...body, ...more })
    assert.deepEqual((await asked({ change: 'added' })).codes, ['MissingMember'])
    assert.deepEqual((await asked({ change: 'added', collectionId: id, linkId: link.linkId })).codes, ['InvalidMember'])
    assert.deepEqual((await asked({ change: 'added', linkId: randomUUID() })).codes, ['LinkNotFound'])
    assert.equal((await asked({ collectionId: id })).status, 400)
  })

  it('counts people who gain and waiting requests that lose eligibility', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola', 'Ola')
    const [kari, ola] = persons
    assert.ok(kari && ola)
    const approved = approvedBy({ type: 'Identity', approvers: [ola.identityId] })
    const choir = await fixture.joinable({ ...approved, joinableBy: { collectionIds: [id] } })
    const club = await fixture.joinable({ ...OPEN, joinableBy: { collectionIds: [id] } })
    await fixture.submit(kari, choir)
    await fixture.submit(kari, club)
    const requestsOf = async (condition: object) => (await planned(fixture, id, { condition })).data.requests
    assert.deepEqual(await requestsOf(named('Ola')), { becomeEligible: 2, loseEligibility: 1 })
    assert.deepEqual(await requestsOf(named('Kari', 'Ola')), { becomeEligible: 2, loseEligibility: 0 })
    // A person who stays eligible by another collection neither gains nor loses.
    const other = await fixture.criteria('Identity', named('Kari', 'Ola'))
    const joinPolicy = { ...approved, joinableBy: { collectionIds: [id, other] } }
    for (const path of [choir, club]) {
      await fixture.call(fixture.admin, 'PUT', `/collections-joinable/beta/${path}`, {
        objectType: 'Identity',
        joinPolicy,
      })
    }
    assert.deepEqual(await requestsOf(named('Ola')), { becomeEligible: 0, loseEligibility: 0 })
  })

  it('writes nothing', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    await addLink(fixture, id)
    await planned(fixture, id, {})
    const documents = async () =>
      Promise.all(CONTAINERS.map(async (one) => (await fixture.container(one.id).items.readAll().fetchAll()).resources))
    const before = await documents()
    await planned(fixture, id, { condition: named('Ola') })
    assert.ok(before.flat().length > 5)
    assert.deepEqual(await documents(), before)
  })

  it('of a collection whose stored condition is invalid compares with the members that it keeps', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola', 'Ola')
    const referring = await fixture.criteria('Identity', memberOf(id))
    await fixture.evaluator.evaluate(fixture.tenantId)
    const found = await fixture.deps.collections.find(fixture.tenantId, id, 'criteria')
    assert.ok(found)
    await fixture.deps.collections.replace({ ...found.value, definition: {} }, found.version, undefined)
    const { data } = await planned(fixture, id, { condition: named('Ola') })
    assert.deepEqual(
      data.collections.map(({ collectionId, added, removed }) => [collectionId, added, removed]),
      [
        [id, 2, 1],
        [referring, 2, 1],
      ],
    )
    assert.equal(faults.splice(0).length, 1)
  })
})

describe('the warnings of a plan', () => {
  const warningsOf = ({ data: { warnings } }: { data: ChangePlan }) =>
    warnings.map(({ code, target }) => `${code} ${target}`)

  it('are MatchesNobody and MatchesEverybody, for the whole condition', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const empty = all(leaf('identityEmail', 'StartsWith', 'x'))
    assert.deepEqual(warningsOf(await planned(fixture, id, { condition: empty })), ['MatchesNobody '])
    const everybody = all(leaf(NAME, 'NotEquals', 'Per'))
    assert.deepEqual(warningsOf(await planned(fixture, id, { condition: everybody })), ['MatchesEverybody '])
    assert.deepEqual(warningsOf(await planned(fixture, id, { condition: named('Ola') })), [])
  })

  it('are ValueNotInData for each value of Equals and In that no object has now', async () => {
    const fixture = await joinableFixture()
    const { persons, id } = await people(fixture, 'Kari', 'Ola')
    await fixture.remove('identity', persons[1]?.identityId ?? '')
    await fixture.put('orgUnit', { displayName: 'Ward' })
    const position = await fixture.put('relationship', { startDate: '2024-02-01' })
    const condition = {
      groupOperator: 'OR',
      conditions: [
        leaf(NAME, 'In', ['Kari', 'Ola', 'Per']),
        all(
          leaf('orgUnitDisplayName', 'Equals', 'Gate'),
          leaf('orgUnitDisplayName', 'In', ['WARD', 'ward'], 'ToUpper(orgUnitDisplayName)'),
        ),
        leaf('relationshipStartDate', 'In', ['2024-02-01T00:00:00Z', '2024-02-02']),
        leaf('relationshipId', 'In', [position, randomUUID()]),
        leaf(NAME, 'NotEquals', 'Nobody'),
        leaf('relationshipEndDate', 'Equals', 'Today()'),
        leaf('identityDirectoryOnPremisesSyncEnabled', 'Equals', true),
      ],
    }
    assert.deepEqual(
      warningsOf(await planned(fixture, id, { condition })).filter((warning) => warning.startsWith('Value')),
      [
        'ValueNotInData /conditions/0/value/1',
        'ValueNotInData /conditions/0/value/2',
        'ValueNotInData /conditions/1/conditions/0/value',
        'ValueNotInData /conditions/1/conditions/1/value/1',
        'ValueNotInData /conditions/2/value/1',
        'ValueNotInData /conditions/3/value/1',
        'ValueNotInData /conditions/6/value',
      ],
    )
  })

  it('say nothing about values of sensitive attributes to callers who may not read them', async () => {
    const fixture = await joinableFixture()
    await fixture.person(['User'], { displayName: 'Kari' })
    const both = fixture.caller('user', ['collection_criteria_definition-administrator', 'Administrator'])
    const condition = equals('identityNin', '4711')
    const body = { objectType: 'Identity', name: 'By number', condition }
    const { data: id } = await fixture.call<string>(both, 'POST', CRITERIA, body)
    assert.deepEqual(warningsOf(await planned(fixture, id, {}, both)), [
      'MatchesNobody ',
      'ValueNotInData /conditions/0/value',
    ])
    const asRead = equals('identityNin', 'hidden')
    assert.deepEqual(warningsOf(await planned(fixture, id, { condition: asRead })), ['MatchesNobody '])
    assert.deepEqual((await planned(fixture, id, { condition })).codes, ['FieldNotInSchema'])
    assert.deepEqual((await planned(fixture, id, { condition: equals('identityNin', '4712') })).codes, [
      'FieldNotInSchema',
    ])
  })

  it('are SameAs for each other collection of the type that has the same members after the change', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola', 'Per')
    const same = await fixture.criteria('Identity', {
      groupOperator: 'NOT',
      conditions: [leaf(NAME, 'In', ['Kari', 'Per'])],
    })
    const referring = await fixture.criteria('Identity', memberOf(id))
    await fixture.criteria('Identity', named('Ola', 'Per'))
    await fixture.criteria('Relationship', named('Ola'))
    const { data } = await planned(fixture, id, { condition: named('Ola') })
    assert.deepEqual(warningsOf({ data }).sort(), [`SameAs ${referring}`, `SameAs ${same}`].sort())
    assert.deepEqual(warningsOf(await planned(fixture, id, { condition: named('Kari') })), [`SameAs ${referring}`])
  })
})

describe('equivalentTo of a plan', () => {
  const any = (...conditions: object[]) => ({ groupOperator: 'OR', conditions })
  const none = (...conditions: object[]) => ({ groupOperator: 'NOT', conditions })
  const equivalents = async (fixture: JoinableFixture, id: string, condition: object) =>
    (await planned(fixture, id, { condition })).data.equivalentTo.map(({ collectionId }) => collectionId).sort()

  it('names the collections whose condition means the same, whatever the data', async () => {
    const fixture = await joinableFixture()
    const kari = leaf(NAME, 'Equals', 'Kari')
    const staff = leaf('identityEmployeeNumber', 'StartsWith', '1')
    const { id } = await people(fixture, 'Kari')
    const deMorgan = await fixture.criteria('Identity', none(any(none(kari), none(staff))))
    const commuted = await fixture.criteria('Identity', all(staff, kari))
    const listed = await fixture.criteria('Identity', all(staff, leaf(NAME, 'In', ['Kari', 'Kari'])))
    await fixture.criteria('Identity', any(staff, kari))
    await fixture.criteria('Identity', all(staff, leaf(NAME, 'Equals', 'kari')))
    await fixture.criteria('Identity', all(kari))
    await fixture.criteria('Relationship', all(staff, kari))
    assert.deepEqual(await equivalents(fixture, id, all(kari, staff)), [deMorgan, commuted, listed].sort())
  })

  it('names complements of ranges, but not conditions that only have the same members today', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const above = await fixture.criteria('Identity', all(leaf(NAME, 'GreaterThan', 'M')))
    await fixture.criteria('Identity', none(leaf(NAME, 'LessThanOrEqual', 'M')))
    await fixture.criteria('Identity', named('Ola'))
    const notUpTo = none(leaf(NAME, 'LessThanOrEqual', 'M'), leaf(NAME, 'IsNull'))
    assert.deepEqual(await equivalents(fixture, id, notUpTo), [above])
    const { data } = await planned(fixture, id, { condition: notUpTo })
    assert.equal(data.warnings.filter(({ code }) => code === 'SameAs').length, 3)
  })

  it('compares large conditions by the parts in which they differ', async () => {
    const fixture = await joinableFixture()
    const many = Array.from({ length: 40 }, (_, index) => leaf(NAME, 'Contains', `name ${index}`))
    const up = leaf(NAME, 'GreaterThan', 'K')
    const { id } = await people(fixture, 'Kari')
    const same = await fixture.criteria('Identity', any(...many.toReversed(), none(none(up))))
    await fixture.criteria('Identity', any(...many.slice(1), up))
    await fixture.criteria('Identity', { groupOperator: 'XOR', conditions: [...many, up] })
    const split = any(leaf(NAME, 'GreaterThan', 'L'), all(leaf(NAME, 'LessThanOrEqual', 'L'), up))
    assert.deepEqual(await equivalents(fixture, id, any(...many, split)), [same])
  })

  it('says nothing to callers who may not read a sensitive attribute of the condition', async () => {
    const fixture = await joinableFixture()
    const both = fixture.caller('user', ['collection_criteria_definition-administrator', 'Administrator'])
    const body = { objectType: 'Identity', name: 'By number', condition: equals('identityNin', '4711') }
    const { data: id } = await fixture.call<string>(both, 'POST', CRITERIA, body)
    const { data: other } = await fixture.call<string>(both, 'POST', CRITERIA, body)
    const idsIn = ({ equivalentTo }: ChangePlan) => equivalentTo.map(({ collectionId }) => collectionId)
    assert.deepEqual(idsIn((await planned(fixture, id, {}, both)).data), [other])
    assert.deepEqual(idsIn((await planned(fixture, id, {})).data), [])
  })
})

describe('the plan of a new collection', () => {
  it('counts its members and has no id', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola', 'Ola')
    const body = { objectType: 'Identity', name: 'New', condition: all(named('Ola', 'Kari'), memberOf(id)) }
    const { status, data } = await fixture.call<ChangePlan>(fixture.writer, 'POST', `${CRITERIA}/plan`, body)
    assert.equal(status, 200)
    assert.deepEqual(data.collections, [{ collectionId: null, name: 'New', added: 1, removed: 0 }])
    assert.deepEqual(
      data.warnings.map(({ code, target }) => [code, target]),
      [['SameAs', id]],
    )
    const { data: listed } = await fixture.call<unknown[]>(fixture.writer, 'GET', CRITERIA)
    assert.equal(listed.length, 1)
    assert.deepEqual((await saved(fixture, id, {}, data.planId)).codes, ['PlanExpired'])
  })
})

describe('what follows from a condition alone', () => {
  it('is told beside the data of a creation and an update, and within a plan and a preview', async () => {
    const fixture = await joinableFixture()
    const both = all(leaf(NAME, 'Equals', 'Kari'), all(leaf(NAME, 'StartsWith', 'O'), leaf(NAME, 'Equals', 'Kari')))
    const body = { objectType: 'Identity', name: 'x', condition: both }
    const never = [{ code: 'NeverHolds', target: '/conditions/1' }]
    const told = ({ warnings }: { warnings?: object }) =>
      (warnings as { code: string; target: string }[]).map(({ code, target }) => ({ code, target }))
    const made = await fixture.call<string>(fixture.writer, 'POST', CRITERIA, body)
    assert.deepEqual([made.status, told(made)], [201, never])
    const put = await fixture.call(fixture.writer, 'PUT', `${CRITERIA}/${made.data}`, {
      objectType: 'Identity',
      name: 'y',
    })
    assert.deepEqual([put.status, told(put)], [200, never])
    const plan = await planned(fixture, made.data, { condition: both })
    assert.deepEqual(told(plan.data).slice(0, 1), never)
    const preview = await fixture.call<{ warnings: object }>(fixture.writer, 'POST', `${CRITERIA}/preview`, {
      preview: body,
    })
    assert.deepEqual(told(preview.data), never)
    const sound = await fixture.call(fixture.writer, 'POST', CRITERIA, { ...body, condition: named('Kari') })
    assert.deepEqual(told(sound), [])
  })
})

describe('a condition that reads the group it fills', () => {
  const inGroup = (id: string, operator = 'Contains') => all(leaf('directMemberOfDirectoryGroups', operator, id))
  const update = (fixture: JoinableFixture, id: string, condition: object) =>
    fixture.call(fixture.writer, 'PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition })

  it('is refused when it is saved, planned and previewed, also through other collections and groups', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari')
    const referring = await fixture.criteria('Identity', memberOf(id))
    const elsewhere = await fixture.criteria('Identity', named('Ola'))
    const [own, above, other] = [
      await addLink(fixture, id),
      await addLink(fixture, referring, { state: 'Disabled' }),
      await addLink(fixture, elsewhere),
    ]
    for (const condition of [
      inGroup(own.directoryGroupId.toUpperCase()),
      inGroup(own.directoryGroupId, 'NotContains'),
      inGroup(above.directoryGroupId),
    ]) {
      const put = await update(fixture, id, condition)
      assert.deepEqual([put.status, put.codes, put.targets], [400, ['CircularReference'], ['/condition']])
      assert.deepEqual((await planned(fixture, id, { condition })).codes, ['CircularReference'])
      const preview = { currentId: id, preview: { objectType: 'Identity', condition } }
      const previewed = await fixture.call(fixture.writer, 'POST', `${CRITERIA}/preview`, preview)
      assert.deepEqual([previewed.status, previewed.targets], [400, ['/preview/condition']])
    }
    assert.equal((await update(fixture, id, inGroup(other.directoryGroupId))).status, 200)
    assert.deepEqual((await update(fixture, elsewhere, inGroup(own.directoryGroupId))).codes, ['CircularReference'])
    assert.deepEqual((await update(fixture, elsewhere, memberOf(id))).codes, ['CircularReference'])
  })

  it('makes a circle with a new link, also through collections that are referred to', async () => {
    const fixture = await joinableFixture()
    const directoryGroupId = randomUUID()
    const reading = await fixture.criteria('Identity', inGroup(directoryGroupId))
    const referring = await fixture.criteria('Identity', memberOf(reading))
    const apart = await fixture.criteria('Identity', named('Kari'))
    const circle = (collectionId: string, groupId = directoryGroupId) =>
      findCircleOfLink({ tenantId: fixture.tenantId, collectionId, directoryGroupId: groupId }, fixture.deps)
    assert.deepEqual(await circle(reading), [reading, reading])
    assert.deepEqual(await circle(referring), [referring, reading, referring])
    assert.equal(await circle(apart), undefined)
    assert.equal(await circle(reading, randomUUID()), undefined)
  })

  it('can be sent back as it is stored', async () => {
    const fixture = await joinableFixture()
    const directoryGroupId = randomUUID()
    const id = await fixture.criteria('Identity', inGroup(directoryGroupId))
    await addLink(fixture, id, { directoryGroupId })
    assert.equal((await update(fixture, id, inGroup(directoryGroupId))).status, 200)
  })
})

describe('a plan refuses what saving would refuse', () => {
  it('with the same status, codes and targets', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari')
    const referring = await fixture.criteria('Identity', memberOf(id))
    const condition = named('Ola')
    const update = async (body: object, headers = {}, path = id) => {
      const sent = { objectType: 'Identity', ...body }
      const answers = [
        await fixture.call(fixture.writer, 'PUT', `${CRITERIA}/${path}`, sent, headers),
        await planned(fixture, path, body, fixture.writer, headers),
      ]
      const [put, plan] = answers.map(({ status, codes, targets }) => ({ status, codes, targets }))
      assert.deepEqual(plan, put)
      return plan?.codes
    }
    assert.deepEqual(await update({ condition: memberOf(referring) }), ['CircularReference'])
    assert.deepEqual(await update({ condition: memberOf(randomUUID()) }), ['CollectionUnknown'])
    assert.deepEqual(await update({ objectType: 'OrgUnit', condition }), ['ObjectTypeFixed'])
    assert.deepEqual(await update({ condition }, { 'if-match': '"other"' }), ['PreconditionFailed'])
    assert.deepEqual(await update({ condition }, {}, randomUUID()), ['CollectionNotFound'])
    const tags = { tags: ['a', 'A'] }
    const both = await update({ metadata: tags, condition: all(leaf('nothing', 'Equals', 'x')) })
    assert.deepEqual(both, ['DuplicateTag', 'FieldNotInSchema'])
    assert.deepEqual(await update({ name: '' }), ['InvalidLength'])
    for (const body of [
      { objectType: 'User', name: 'x', condition },
      { objectType: 'Identity', condition },
    ]) {
      const [made, plan] = [
        await fixture.call(fixture.writer, 'POST', CRITERIA, body),
        await fixture.call(fixture.writer, 'POST', `${CRITERIA}/plan`, body),
      ]
      assert.ok(made.status === 400)
      assert.deepEqual([plan.status, plan.codes, plan.targets], [made.status, made.codes, made.targets])
    }
    const reader = fixture.caller('application', ['collections-criteria.criteria.read.all'])
    assert.deepEqual((await planned(fixture, id, { condition }, reader)).codes, ['RoleRequired'])
  })
})

describe('an update with If-Plan', () => {
  it('is saved when nothing relevant has changed since, also by another instance', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const condition = named('Ola')
    const { planId } = (await planned(fixture, id, { condition })).data
    await fixture.person(['User'], { displayName: 'Per' })
    const headers = { 'if-plan': planId }
    const other = fixture.requestsOf(fixture.newService())
    const body = { objectType: 'Identity', name: 'Renamed', condition }
    const answer = await other('PUT', `${CRITERIA}/${id}`, { authorization: fixture.writer, ...headers }, body)
    assert.equal(answer.status, 200, answer.body)
    assert.deepEqual((await fixture.deps.collections.find(fixture.tenantId, id))?.value.definition, condition)
  })

  for (const [claim, change] of [
    ['a member', (fixture: JoinableFixture) => fixture.person(['User'], { displayName: 'Ola' })],
    [
      'as many other members',
      async (fixture: JoinableFixture, _id: string, ola: string) => {
        await fixture.remove('identity', ola)
        await fixture.person(['User'], { displayName: 'Ola' })
      },
    ],
    [
      'a collection that refers to it',
      (fixture: JoinableFixture, id: string) => fixture.criteria('Identity', memberOf(id)),
    ],
    ['a link', (fixture: JoinableFixture, id: string) => addLink(fixture, id)],
    [
      'an account',
      async (fixture: JoinableFixture, id: string, ola: string) => {
        await addLink(fixture, id)
        const { planId } = (await planned(fixture, id, { condition: named('Ola') })).data
        await fixture.put('identity', { displayName: 'Ola', directoryObjectId: randomUUID() }, ola)
        return planId
      },
    ],
    [
      'a removal of the last 24 hours',
      async (fixture: JoinableFixture, id: string) => {
        const { linkId } = await addLink(fixture, id)
        const { planId } = (await planned(fixture, id, { condition: named('Ola') })).data
        const found = await fixture.deps.linkStore.find(fixture.tenantId, linkId)
        const entries = [{ atMs: fixture.nowMs(), count: 40, groupSize: 50 }]
        if (found === undefined) throw new Error('The link is gone')
        const after = { ...found.value, removalWindow: { entries, open: null } }
        await fixture.deps.linkStore.replace(after, found.version)
        return planId
      },
    ],
    [
      'a waiting request',
      async (fixture: JoinableFixture, id: string, ola: string) => {
        const approved = approvedBy({ type: 'Identity', approvers: [ola] })
        const choir = await fixture.joinable({ ...approved, joinableBy: { collectionIds: [id] } })
        const { planId } = (await planned(fixture, id, { condition: named('Ola') })).data
        const kari = await fixture.person(['User'], { displayName: 'Kari' })
        await fixture.submit(kari, choir)
        return planId
      },
    ],
  ] as const) {
    it(`is refused as changed, and nothing is saved, when ${claim} was added or changed since`, async () => {
      const fixture = await joinableFixture()
      const { persons, id } = await people(fixture, 'Kari', 'Ola')
      const condition = named('Ola')
      const { planId } = (await planned(fixture, id, { condition })).data
      const later = await change(fixture, id, persons[1]?.identityId ?? '')
      const before = await fixture.deps.collections.find(fixture.tenantId, id)
      const { status, codes } = await saved(
        fixture,
        id,
        { name: 'New', condition },
        typeof later === 'string' && later.startsWith('p1_') ? later : planId,
      )
      assert.deepEqual([status, codes], [409, ['PlanChanged']])
      assert.deepEqual(await fixture.deps.collections.find(fixture.tenantId, id), before)
    })
  }

  it('is refused as changed with another condition, even one with the same members', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const { planId } = (await planned(fixture, id, { condition: named('Ola') })).data
    const condition = all(leaf(NAME, 'StartsWith', 'Ola'))
    assert.deepEqual((await saved(fixture, id, { condition }, planId)).codes, ['PlanChanged'])
    assert.equal((await saved(fixture, id, { condition: named('Ola') }, planId)).status, 200)
    // Saved once, the plan has no effect left.
    assert.deepEqual((await saved(fixture, id, { condition: named('Ola') }, planId)).codes, ['PlanChanged'])
  })

  it('is refused as expired after an hour, and for any id that is not one of a plan for this collection', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari', 'Ola')
    const twin = await fixture.criteria('Identity', named('Kari'))
    const condition = named('Ola')
    const { planId } = (await planned(fixture, id, { condition })).data
    const refused = async (path: string, name: string) => (await saved(fixture, path, { condition }, name)).codes
    assert.deepEqual(await refused(twin, planId), ['PlanExpired'])
    const altered = `${planId.slice(0, -2)}${planId.endsWith('AA') ? 'BB' : 'AA'}`
    for (const name of [altered, `${planId}A`, randomUUID(), 'p1_', 'x', '', ' ']) {
      assert.deepEqual(await refused(id, name), ['PlanExpired'])
    }
    fixture.pass(3599)
    assert.deepEqual(await refused(id, altered), ['PlanExpired'])
    fixture.pass(1)
    assert.deepEqual(await refused(id, planId), ['PlanExpired'])
  })

  it('refuses an invalid body, a missing collection and another version first', async () => {
    const fixture = await joinableFixture()
    const { id } = await people(fixture, 'Kari')
    assert.deepEqual((await saved(fixture, id, { condition: all() }, 'x')).codes, ['EmptyGroup'])
    assert.deepEqual((await saved(fixture, randomUUID(), {}, 'x')).codes, ['CollectionNotFound'])
    const headers = { 'if-plan': 'x', 'if-match': '"other"' }
    const body = { objectType: 'Identity' }
    assert.deepEqual((await fixture.call(fixture.writer, 'PUT', `${CRITERIA}/${id}`, body, headers)).codes, [
      'PreconditionFailed',
    ])
  })
})
