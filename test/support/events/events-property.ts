import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Service } from '../../../functions/app/service.ts'
import { enqueueEventSweeps } from '../../../shared/domain/events/sweep-events.ts'
import type { MembershipRequest } from '../../../shared/domain/membership-requests/membership-request.ts'
import { dispatcher } from '../../../shared/http/dispatch.ts'
import { approvedBy, joinableFixture, OPEN, type Person } from '../api/joinable-fixture.ts'
import { directDatabase } from '../contract/direct-database.ts'
import { type LocalAccount, startDirectAccount } from '../contract/local-database.ts'
import { isTrouble, Life } from '../jobs/mortal-process.ts'
import type { Received } from './described-events.ts'
import { receiver, SUBSCRIPTIONS } from './event-fixture.ts'

const PERSON_COUNT = 3
const INITIALS = ['A', 'B'] as const

type Action =
  | { readonly do: 'submit'; readonly person: number; readonly isGated: boolean }
  | { readonly do: 'act'; readonly person: number; readonly verb: 'approve' | 'reject' | 'cancel' | 'leave' }
  | { readonly do: 'name'; readonly person: number; readonly initial: string }
  | { readonly do: 'update'; readonly name: string }
  | { readonly do: 'evaluate' }
  | { readonly do: 'deliver'; readonly pick: number; readonly end: 'completed' | 'lost' | 'doubled' }
  | { readonly do: 'wait'; readonly seconds: number }

const person = fc.nat(PERSON_COUNT - 1)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: fc.constant('submit' as const), person, isGated: fc.boolean() }),
  fc.record({
    do: fc.constant('act' as const),
    person,
    verb: fc.constantFrom('approve' as const, 'reject' as const, 'cancel' as const, 'leave' as const),
  }),
  fc.record({ do: fc.constant('name' as const), person, initial: fc.constantFrom(...INITIALS) }),
  fc.record({ do: fc.constant('update' as const), name: fc.constantFrom('Choir', 'Band') }),
  fc.record({ do: fc.constant('evaluate' as const) }),
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      pick: fc.nat(5),
      end: fc.constantFrom('completed' as const, 'completed' as const, 'lost' as const, 'doubled' as const),
    }),
  },
  fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 6, 100, 400) }),
)

/** An action, and after how many calls to the database the process is killed, if at all. */
const step = fc.record({ action, killAfterCount: fc.option(fc.nat(25)), statuses: fc.array(fc.constantFrom(204, 500)) })

/** Runs of changes, kills, lost and doubled messages: the events are what the records tell, each with one id. */
export async function checkEvents({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  const course = fc.array(step, { minLength: 6, maxLength: 18, size: 'max' })
  await fc.assert(
    fc.asyncProperty(course, (steps) => runOf(steps)),
    { numRuns: runs, seed, endOnFailure: true },
  )
}

type Steps = readonly { action: Action; killAfterCount: number | null; statuses: readonly number[] }[]

async function runOf(steps: Steps): Promise<void> {
  let life = new Life()
  let account: LocalAccount | undefined
  const fixture = await joinableFixture(dispatcher, undefined, async (nowMs) => {
    account = await startDirectAccount(nowMs)
    return { ...account, container: directDatabase(account.cosmos, (call) => life.make(call)) }
  })
  const { sent, tenantId } = fixture
  let statuses: number[] = []
  const hook = await receiver(() => statuses.shift() ?? 204)
  let service: Service = fixture.service
  const send = async (token: string, method: string, path: string, body: object = {}) => {
    const answer = await fixture.requestsOf(service)(method, path, { authorization: token }, body)
    return JSON.parse(answer.body ?? 'null')
  }

  /** A killed process loses its memory; its message comes again after its lock. */
  async function mortally(work: () => Promise<unknown>, onKill: () => void = () => undefined): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isTrouble(error) && !life.hasEnded) throw error
    }
    if (!life.hasEnded) return
    onKill()
    life = new Life()
    service = fixture.newService()
  }

  await fixture.call(fixture.admin, 'POST', SUBSCRIPTIONS, { url: hook.url, types: ['*'] })
  const approver = await fixture.person()
  const people: Person[] = []
  for (let count = 0; count < PERSON_COUNT; count += 1)
    people.push(await fixture.person(['User'], { displayName: 'A' }))
  const open = await fixture.joinable(OPEN)
  const gated = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [approver.identityId] }))
  const criteria = await fixture.criteria('Identity', {
    groupOperator: 'AND',
    conditions: [{ id: 'identityDisplayName', field: 'identityDisplayName', operator: 'StartsWith', value: 'B' }],
  })
  const collectionIds = [open, gated, criteria]

  async function perform(action: Action, deliver: (pick: number, end: string) => Promise<void>): Promise<void> {
    switch (action.do) {
      case 'submit': {
        const who = people[action.person]
        await send(who?.token ?? '', 'POST', `${fixture.requests}/${action.isGated ? gated : open}/submit`)
        return
      }
      case 'act': {
        const who = people[action.person]
        const live = (await service.requests.requests.liveOf(tenantId, who?.identityId ?? ''))[0]?.value
        if (live === undefined) return
        const token = action.verb === 'approve' || action.verb === 'reject' ? approver.token : who?.token
        await send(token ?? '', 'POST', `${fixture.requests}/${live.collectionId}/${live.id}/${action.verb}`)
        return
      }
      case 'name':
        await fixture.put('identity', nameOf(people[action.person], action.initial), people[action.person]?.identityId)
        return
      case 'update':
        await send(fixture.admin, 'PUT', `/collections-joinable/beta/${open}`, {
          objectType: 'Identity',
          name: action.name,
        })
        return
      case 'evaluate':
        return service.evaluator.evaluate(tenantId)
      case 'deliver':
        return deliver(action.pick, action.end)
      case 'wait':
        return fixture.pass(action.seconds)
    }
  }

  async function deliver(pick: number, end: string): Promise<void> {
    const due = sent.filter(({ dueMs }) => dueMs <= fixture.nowMs())
    const message = due[pick % Math.max(1, due.length)]
    if (message === undefined) return
    sent.splice(sent.indexOf(message), 1)
    if (end === 'lost') return
    const comesAgain = () => void sent.push({ ...message, dueMs: fixture.nowMs() + 60_000 })
    if (end === 'doubled') comesAgain()
    await mortally(() => service.messages[message.message.queue].handle(message.message.message), comesAgain)
  }

  for (const { action, killAfterCount, statuses: answers } of steps) {
    statuses = [...answers]
    if (killAfterCount !== null) life.endAfter(killAfterCount)
    await mortally(() => perform(action, deliver))
    life.meetNoMoreFaults()
  }
  statuses = []
  await settle()
  await assertTold()
  hook.close()
  // Thousands of runs in one process would not fit into its memory.
  await account?.cosmos.close()

  /** The sweep finds what is left, and every retry comes. */
  async function settle(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      fixture.pass(700)
      await service.evaluator.evaluate(tenantId)
      await enqueueEventSweeps(service.events)
      for (let count = 0; sent.length > 0; count += 1) {
        assert.ok(count < 1000, 'Messages do not end')
        const next = sent.toSorted((left, right) => left.dueMs - right.dueMs)[0]
        if (next === undefined) break
        sent.splice(sent.indexOf(next), 1)
        fixture.pass(Math.max(0, next.dueMs - fixture.nowMs()) / 1000)
        await service.messages[next.message.queue].handle(next.message.message)
      }
    }
  }

  async function assertTold(): Promise<void> {
    const byId = new Map<string, string>()
    for (const event of hook.events()) {
      const text = JSON.stringify(event)
      assert.equal(byId.get(event.id) ?? text, text, 'An event changed between deliveries')
      byId.set(event.id, text)
    }
    const events = [...byId.values()].map((text) => JSON.parse(text) as Received)
    const told = (beginning: string, keyOf: (event: Received) => string) =>
      events.flatMap((event) => (event.type.startsWith(beginning) ? [keyOf(event)] : [])).sort()
    const members = told('member.', ({ type, data }) =>
      [data.collectionId, data.membershipVersion, data.objectId, type === 'member.added' ? 'Added' : 'Removed'].join(),
    )
    assert.deepEqual(members, (await historyOf()).sort())
    const requests = told('request.', ({ type, data, time }) => [data.requestId, type, data.actorId, time].join())
    assert.deepEqual(requests, (await lifecycles()).sort())
    const collections = told('collection.', ({ type, data, time }) => [data.collectionId, type, time].join())
    assert.deepEqual(collections, (await audits()).sort())
    assertOrdered(hook.events())
  }

  async function historyOf(): Promise<string[]> {
    const found: string[] = []
    for (const collectionId of collectionIds) {
      const history = service.requests.history[collectionId === criteria ? 'criteria' : 'joinable']
      for await (const page of history.since(tenantId, collectionId, 0)) {
        for (const { membershipVersion, objectId, change } of page) {
          found.push([collectionId, membershipVersion, objectId, change].join())
        }
      }
    }
    return found
  }

  async function lifecycles(): Promise<string[]> {
    const { resources } = await fixture
      .container('requests')
      .items.query<MembershipRequest>("SELECT * FROM c WHERE c.type = 'request'", { partitionKey: tenantId })
      .fetchNext()
    const types = { Requested: 'submitted', PendingApproval: 'waiting' } as Record<string, string>
    return resources.flatMap(({ id, lifecycle }) =>
      lifecycle.map(({ status, actorId, at }) =>
        [id, `request.${types[status] ?? status.toLowerCase()}`, actorId, at].join(),
      ),
    )
  }

  async function audits(): Promise<string[]> {
    const found: string[] = []
    for (const collectionId of collectionIds) {
      const { items } = await service.requests.auditTrail.page(tenantId, collectionId, undefined, 100)
      for (const { action, at } of items) found.push([collectionId, `collection.${action.toLowerCase()}`, at].join())
    }
    return found
  }
}

function nameOf(person: Person | undefined, initial: string) {
  return { displayName: initial, directoryObjectId: person?.account ?? '' }
}

/** Without a failed attempt before, the first deliveries of a subject are in the order of what happened. */
function assertOrdered(events: readonly Received[]): void {
  const seen = new Set<string>()
  const first = events.filter(({ id }) => !seen.has(id) && seen.add(id))
  for (const ofSubject of Map.groupBy(first, ({ subject }) => subject).values()) {
    const times = ofSubject.map(({ time }) => time)
    assert.deepEqual(times, times.toSorted(), `Out of order: ${ofSubject.map(({ type }) => type).join()}`)
  }
}
