import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Service } from '../../../functions/app/service.ts'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { auditCoreObjects } from '../../../shared/domain/connectors/audit-core-objects.ts'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import { connectorObjectId } from '../../../shared/domain/connectors/connector-object.ts'
import { updateConnector } from '../../../shared/domain/connectors/manage-connectors.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../../shared/domain/connectors/write-objects.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import { updateLinkSettings } from '../../../shared/domain/group-links/link-settings.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { builtService } from '../api/built-service.ts'
import { directDatabase } from '../contract/direct-database.ts'
import { type LocalAccount, startDirectAccount } from '../contract/local-database.ts'
import { PeopleModel } from '../contract/people-model.ts'
import { nameOf, objectWrite } from '../contract/random-writes.ts'
import { contributionsOf, newSourceTenant, recordsOf, type SourceTenant } from '../contract/source-tenant.ts'
import { guardedGroup } from './guarded-group.ts'
import { type TestClock, testClock } from './link-directory.ts'
import { isTrouble, Life } from './mortal-process.ts'

/** A tenant of its own for each run. The file grows. */
const RUNS_PER_ACCOUNT_COUNT = 500
/** An evaluation lease of a killed process has expired after this time. */
const LEASE_EXPIRED_MS = 200_000
const MAX_ATTEMPTS = 10
const COLLECTION_TYPES = ['Identity', 'Relationship'] as const

/** What a process meets, this many calls after the beginning of a write or an evaluation. */
type Fault = { readonly atCall: number; readonly kind: 'killed' | 'unanswered' | 'followed' }
type WriteStep = {
  readonly kind: 'write'
  readonly connector: number
  readonly write: ObjectWrite
  readonly duringWrite: Fault | undefined
  readonly duringEvaluation: Fault | undefined
}
/** What decides who is who, without taking anybody's existence. */
type Settings = { readonly joinOn: string[]; readonly bindsAccounts: boolean }
type Step =
  | WriteStep
  | { readonly kind: 'settings'; readonly connector: number; readonly settings: Settings }
  | { readonly kind: 'join' | 'leave'; readonly connector: number; readonly name: string; readonly collection: number }

const fault = (kinds: readonly Fault['kind'][], atMost: number): fc.Arbitrary<Fault | undefined> =>
  fc.option(fc.record({ atCall: fc.nat({ max: atMost }), kind: fc.constantFrom(...kinds) }), {
    nil: undefined,
    freq: 2,
  })
const connector = fc.constantFrom(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      connector,
      write: objectWrite,
      duringWrite: fault(['killed', 'unanswered', 'followed', 'followed'], 36),
      duringEvaluation: fault(['killed', 'unanswered'], 20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('settings' as const),
      connector,
      settings: fc.record({
        joinOn: fc.constantFrom<string[]>(
          ['nin'],
          ['directoryObjectId'],
          ['directoryObjectId', 'nin'],
          ['nin', 'directoryObjectId'],
        ),
        bindsAccounts: fc.boolean(),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('join' as const, 'join' as const, 'leave' as const),
      connector,
      name: fc.constantFrom('1', '2', '3'),
      collection: fc.nat({ max: COLLECTION_TYPES.length - 1 }),
    }),
  },
)

/** What the connectors have sent, and who has joined each collection, before the first step. */
type Start = { readonly objects: readonly (readonly ObjectWrite[])[]; readonly members: readonly (readonly Named[])[] }
type Named = { readonly connector: number; readonly name: string }

const name = fc.constantFrom('1', '2', '3')
const named: fc.Arbitrary<Named> = fc.record({ connector, name })
const start: fc.Arbitrary<Start> = fc.record({
  objects: fc.tuple(...[0, 1].map(() => fc.uniqueArray(objectWrite, { minLength: 2, maxLength: 5, selector: nameOf }))),
  members: fc.tuple(...COLLECTION_TYPES.map(() => fc.array(named, { minLength: 1, maxLength: 4 }))),
})

/** Without the caches of tokens and callers, which take longer to make than a run takes. */
const NO_CALLERS = { authenticate: () => Promise.reject(new Error('There are no callers')), admit: () => undefined }

/** Who is a member: contributors of the identity, and the position. */
type Member = { readonly collection: number; readonly person: readonly string[]; readonly position: string | null }

/** A database with the messages and groups of all its tenants, and a process that meets no faults. */
class Servers {
  readonly account: LocalAccount
  readonly clock: TestClock
  readonly messages: { readonly message: Message; readonly dueMs: number }[] = []
  readonly groups = new Map<string, ReturnType<typeof guardedGroup>>()
  readonly healthy: Service

  private constructor(account: LocalAccount, clock: TestClock) {
    this.account = account
    this.clock = clock
    this.healthy = this.newService(new Life())
  }

  static async start(): Promise<Servers> {
    const clock = testClock(Date.parse('2030-01-01T00:00:00Z'))
    return new Servers(await startDirectAccount(clock.nowMs), clock)
  }

  newService(life: Life): Service {
    const { nowMs, sleep } = this.clock
    const container = directDatabase(this.account.cosmos, (call) => life.make(call))
    const messageQueue = {
      enqueue: async (message: Message, { delayMs = 0 }) =>
        life.make(async () => void this.messages.push({ message, dueMs: nowMs() + delayMs })),
    }
    const parts = { ...NO_CALLERS, nowMs, elapsedMs: nowMs, sleep, messageQueue, directory: this.#directory() }
    return builtService(container, parts, { clockDifferenceS: 0 })
  }

  #directory(): Directory {
    const of = (groupId: string): Directory => {
      const group = this.groups.get(groupId)
      assert.ok(group !== undefined)
      return group.directory
    }
    return {
      ...guardedGroup([], this.clock.nowMs).directory,
      listMembers: (tenantId, groupId, after) => of(groupId).listMembers(tenantId, groupId, after),
      addMembers: (tenantId, groupId, ...rest) => of(groupId).addMembers(tenantId, groupId, ...rest),
      removeMembers: (tenantId, groupId, ...rest) => of(groupId).removeMembers(tenantId, groupId, ...rest),
    }
  }
}

/** A tenant with two connectors and a joinable collection of each type. */
class MergingTenant {
  readonly #servers: Servers
  readonly #healthy: Service
  readonly #clock: TestClock
  readonly group
  #source: SourceTenant
  readonly #collections: string[] = []
  readonly #caller: Caller

  private constructor(servers: Servers, source: SourceTenant) {
    this.#servers = servers
    this.#healthy = servers.healthy
    this.#clock = servers.clock
    this.#source = source
    this.group = guardedGroup([], servers.clock.nowMs)
    const objectId = randomUUID()
    this.#caller = { kind: 'application', tenantId: source.tenantId, objectId, clientId: undefined, roles: new Set() }
  }

  static async open(servers: Servers, ids: readonly string[]) {
    const tenant = new MergingTenant(servers, await newSourceTenant(ids, servers.healthy.connectors))
    for (const objectType of COLLECTION_TYPES) {
      const body = { objectType, name: 'Choir', joinPolicy: { approvalRequired: false } }
      const { id } = await createJoinableCollection(body, tenant.#caller, servers.healthy.requests)
      tenant.#collections.push(id)
    }
    return tenant
  }

  /** Links the collection of identities to a group. */
  async link(): Promise<void> {
    const { tenantId } = this.#source
    const { links } = this.#healthy
    const groupId = randomUUID()
    this.#servers.groups.set(groupId, this.group)
    const change = { removalGuard: { enabled: false } }
    await updateLinkSettings({ tenantId, callerId: this.#caller.objectId, ifMatch: undefined, change }, links)
    await createLink(tenantId, { collectionId: this.#collections[0] ?? '', directoryGroupId: groupId }, links)
    await this.followed()
  }

  /** Does the work in a process that meets the fault, and again in others until it is done. */
  async #untilDone(met: Fault | undefined, work: (service: Service) => Promise<unknown>): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      assert.ok(attempt < MAX_ATTEMPTS, 'The work is never done')
      const life = new Life()
      const service = met === undefined || attempt > 0 ? this.#healthy : this.#servers.newService(life)
      if (met?.kind === 'killed') life.endAfter(met.atCall)
      if (met?.kind === 'unanswered') life.loseAnswerAfter(met.atCall)
      if (met?.kind === 'followed') life.interruptAfter(met.atCall, () => this.followed())
      try {
        await work(service)
        return
      } catch (error) {
        if (!hasTrouble(error)) throw error
      }
    }
  }

  async #write({ connector, write, duringWrite, duringEvaluation }: WriteStep): Promise<void> {
    const { tenantId, connectors } = this.#source
    await this.#untilDone(duringWrite, (service) =>
      writeObjects(tenantId, connectors[connector] as Connector, [write], service.connectors),
    )
    if (duringEvaluation !== undefined) {
      await this.#untilDone(duringEvaluation, (service) => service.evaluator.evaluate(tenantId))
      await this.#clock.sleep(LEASE_EXPIRED_MS)
    }
  }

  /** Evaluates and syncs, in a process that meets no faults, until nothing is left to do. */
  async followed(): Promise<void> {
    const { tenantId } = this.#source
    const { messages } = this.#servers
    // One evaluation serves all that were enqueued.
    for (const each of messages.filter(({ message }) => message.queue === 'evaluations')) {
      messages.splice(messages.indexOf(each), 1)
    }
    await this.#healthy.evaluator.evaluate(tenantId)
    for (let count = 0; messages.length > 0; count += 1) {
      assert.ok(count < 100, 'The messages never end')
      const [next] = messages.sort((one, other) => one.dueMs - other.dueMs).splice(0, 1)
      if (next === undefined) return
      const waitMs = next.dueMs - this.#clock.nowMs()
      if (waitMs > 0) await this.#clock.sleep(waitMs)
      const { queue, message } = next.message
      await this.#healthy.messages[queue].handle(message)
    }
  }

  /** Sends all objects of each connector in one batch, then adds the members. */
  async begin({ objects, members }: Start): Promise<void> {
    const { tenantId, connectors } = this.#source
    for (const [index, writes] of objects.entries()) {
      await writeObjects(tenantId, connectors[index] as Connector, writes, this.#healthy.connectors)
    }
    for (const [collection, some] of members.entries()) await this.#changeMembers('join', collection, some)
    await this.followed()
  }

  /** Adds the people to the collection or ends their memberships, those who exist. */
  async #changeMembers(kind: 'join' | 'leave', collection: number, people: readonly Named[]): Promise<void> {
    const { tenantId, connectors } = this.#source
    const ids = people.map((each) =>
      connectorObjectId(
        { connectorId: connectors[each.connector]?.id ?? '', objectType: 'identity', externalId: each.name },
        derivedId,
      ),
    )
    const found = (await contributionsOf(this.#source, this.#healthy.connectors)).filter(({ id }) => ids.includes(id))
    const change = kind === 'join' ? addMembersDirectly : removeMembersDirectly
    const actor = { id: this.#caller.objectId, identityId: undefined }
    const input = { coreIdentityIds: found.map(({ coreObjectId }) => coreObjectId).sort() }
    if (found.length === 0) return
    await change(tenantId, this.#collections[collection] ?? '', input, actor, this.#healthy.requests)
  }

  /** Evaluates in a new process, which checks all requests, as every process does once a day. */
  async checkedInFull(): Promise<State> {
    await this.#servers.newService(new Life()).evaluator.evaluate(this.#source.tenantId)
    return this.state()
  }

  /** Carries out the step. @param hasFaults False to leave its faults out. */
  async perform(each: Step, hasFaults: boolean): Promise<void> {
    if (each.kind === 'settings') await this.#change(each.connector, each.settings)
    else if (each.kind !== 'write') await this.#changeMembers(each.kind, each.collection, [each])
    else await this.#write(hasFaults ? each : { ...each, duringWrite: undefined, duringEvaluation: undefined })
    await this.followed()
  }

  /** Changes a connector, after which the audits that it enqueues join and split people. */
  async #change(connector: number, settings: Settings): Promise<void> {
    const { tenantId, connectors } = this.#source
    const id = connectors[connector]?.id ?? ''
    await updateConnector(id, settings, undefined, this.#caller, this.#healthy.connectors)
    assert.equal(tenantId, this.#caller.tenantId)
    await this.followed()
    this.#source = { tenantId, connectors: await this.#healthy.connectors.connectors.list(tenantId) }
  }

  /** The contributors of each person. */
  async people(): Promise<readonly string[]> {
    const contributions = await contributionsOf(this.#source, this.#healthy.connectors)
    const identities = contributions.filter(({ objectType }) => objectType === 'identity')
    const people = Map.groupBy(identities, ({ coreObjectId }) => coreObjectId)
    return inSets([...people.values()].map((person) => person.map(({ id }) => id)))
  }

  /** Compares all core objects with their contributions, which finds nothing to repair. */
  async audited(): Promise<void> {
    const { tenantId } = this.#source
    await auditCoreObjects({ tenantId, after: '0', beganAtMs: this.#clock.nowMs() }, this.#healthy.connectors)
  }

  records = () => recordsOf(this.#source, this.#healthy.connectors)

  async state(): Promise<State> {
    const { tenantId } = this.#source
    const contributions = await contributionsOf(this.#source, this.#healthy.connectors)
    const people = Map.groupBy(contributions, ({ coreObjectId }) => coreObjectId)
    const whoIs = (id: string) => (people.get(id) ?? []).map((each) => each.id).sort()
    const joined = await this.#healthy.collections.joined.of(tenantId, this.#collections)
    const members = this.#collections.flatMap((id, collection) =>
      (joined.get(id)?.memberships ?? []).map(({ identityId, relationshipId }): Member => {
        const [position = null] = relationshipId === null ? [] : whoIs(relationshipId)
        return { collection, person: whoIs(identityId), position }
      }),
    )
    const rows = await this.#healthy.connectors.coreObjects.mergedOfIds(tenantId, [...people.keys()])
    const accounts = rows.flatMap(({ value: { id, attributes } }): [string, readonly string[]][] => {
      const { directoryObjectId } = attributes
      return directoryObjectId === undefined ? [] : [[directoryObjectId as string, whoIs(id)]]
    })
    return { members, live: new Set(contributions.map(({ id }) => id)), accounts: new Map(accounts) }
  }
}

type State = {
  readonly members: readonly Member[]
  /** Contributors that exist. */
  readonly live: ReadonlySet<string>
  /** The contributors of the identity that holds an account. */
  readonly accounts: ReadonlyMap<string, readonly string[]>
}

function hasTrouble(error: unknown): boolean {
  if (isTrouble(error)) return true
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  return (cause !== undefined && hasTrouble(cause)) || (Array.isArray(errors) && errors.some(hasTrouble))
}

const inSets = (people: readonly (readonly string[])[]): string[] =>
  people.map((person) => person.toSorted().join()).sort()

const inOrder = (members: readonly Member[]): string[] => members.map((member) => JSON.stringify(member)).sort()
const sharesOne = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.includes(one))

const choirOf = ({ members }: State): readonly Member[] => members.filter(({ collection }) => collection === 0)

/** What every write keeps, whatever the faults. @param lost Accounts that were removed from the group. */
function assertKept(before: State, after: State, everMembers: ReadonlySet<string>, lost: readonly string[]): void {
  const [was, is] = [choirOf(before), choirOf(after)]
  for (const { person } of was) {
    const left = person.filter((contributor) => after.live.has(contributor))
    const isMember = left.length === 0 || is.some((member) => sharesOne(member.person, left))
    assert.ok(isMember, `A membership of ${person} was lost`)
  }
  for (const { person } of is) assert.ok(sharesOne(person, [...everMembers]), `A membership came to ${person}`)
  for (const account of lost) {
    const [held = [], holds = []] = [before.accounts.get(account), after.accounts.get(account)]
    const isKept = sharesOne(held, holds) && isMemberIn(was, held) && isMemberIn(is, holds)
    assert.ok(!isKept, `The account ${account} of ${held} was removed from the group`)
  }
}

/** Contributors that share a join key with others of their connector, at any time: they may be one person renamed. */
class Namesakes {
  readonly #idsByKey = new Map<string, Set<string>>()

  add(connectorId: string, write: ObjectWrite): void {
    if (write.objectType !== 'identity' || write.operation === 'delete') return
    const id = connectorObjectId({ connectorId, objectType: 'identity', externalId: write.externalId }, derivedId)
    const { nin, directoryObjectId } = write.data as { nin?: string; directoryObjectId?: string }
    for (const value of [nin, directoryObjectId]) {
      if (value === undefined) continue
      const key = `${connectorId} ${value}`
      this.#idsByKey.set(key, (this.#idsByKey.get(key) ?? new Set()).add(id))
    }
  }

  of(contributors: ReadonlySet<string>): string[] {
    return [...this.#idsByKey.values()].flatMap((ids) => (ids.isDisjointFrom(contributors) ? [] : [...ids]))
  }
}

const isMemberIn = (members: readonly Member[], person: readonly string[]): boolean =>
  members.some((member) => JSON.stringify(member.person) === JSON.stringify(person))

async function converges(servers: Servers, begin: Start, steps: readonly Step[]): Promise<void> {
  const ids = [randomUUID(), randomUUID()]
  const tenant = await MergingTenant.open(servers, ids)
  await tenant.begin(begin)
  await tenant.link()
  const model = new PeopleModel(ids.map(() => ({ joinOn: ['nin', 'directoryObjectId'] })))
  const namesakes = new Namesakes()
  for (const [index, writes] of begin.objects.entries()) {
    for (const write of writes) {
      namesakes.add(ids[index] ?? '', write)
      tellModel(model, index, ids[index] ?? '', write)
    }
  }
  let before = await tenant.state()
  const everMembers = new Set(choirOf(before).flatMap(({ person }) => person))
  for (const each of steps) {
    const lostCount = tenant.group.losses.length
    await tenant.perform(each, true)
    const after = await tenant.state()
    const lost = tenant.group.losses.slice(lostCount).map(({ account }) => account)
    if (each.kind === 'settings') model.change(each.connector, each.settings)
    if (each.kind === 'write') {
      tellModel(model, each.connector, ids[each.connector] ?? '', each.write)
      namesakes.add(ids[each.connector] ?? '', each.write)
      for (const id of namesakes.of(everMembers)) everMembers.add(id)
      assertKept(before, after, everMembers, lost)
    }
    for (const { person } of choirOf(after)) for (const contributor of person) everMembers.add(contributor)
    before = after
  }
  assert.deepEqual(await tenant.people(), inSets(model.people()), 'who is who')
  const records = await tenant.records()
  await tenant.audited()
  assert.deepEqual(await tenant.records(), records, 'the core objects')
  if (!steps.some(hasFault)) return
  const quiet = await MergingTenant.open(servers, ids)
  await quiet.begin(begin)
  for (const each of steps) await quiet.perform(each, false)
  const left = await quiet.state()
  const [is, expected] = [await tenant.checkedInFull(), await quiet.checkedInFull()]
  assert.deepEqual(inOrder(left.members), inOrder(expected.members), 'the members that no full pass has checked')
  assert.deepEqual(inOrder(is.members), inOrder(expected.members), 'the members')
}

const hasFault = (each: Step): boolean =>
  each.kind === 'write' && (each.duringWrite ?? each.duringEvaluation) !== undefined

/** Tells the model what a connector has sent. */
function tellModel(model: PeopleModel, connector: number, connectorId: string, write: ObjectWrite): void {
  const { objectType, externalId } = write
  if (objectType !== 'identity') return
  const id = connectorObjectId({ connectorId, objectType, externalId }, derivedId)
  if (write.operation === 'delete') model.remove(id)
  else model.put({ id, connector, data: write.data })
}

/**
 * Checks random writes of two connectors about people that merge and part, with processes that die, lose answers or are
 * followed at any call: in the end the people are those of a model, core objects are the merge of their contributions, and the
 * memberships those without faults; no membership is lost while a part of the person remains; and no account is removed
 * from the linked group while the person keeps it. @throws Error with the seed.
 */
export async function checkMerges({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  for (let from = 0; from < runs; from += RUNS_PER_ACCOUNT_COUNT) {
    const servers = await Servers.start()
    try {
      const steps = fc.array(step, { minLength: 1, maxLength: 6 })
      const property = fc.asyncProperty(start, steps, (begin, all) => converges(servers, begin, all))
      await fc.assert(property, { numRuns: Math.min(RUNS_PER_ACCOUNT_COUNT, runs - from), seed: seed + from })
    } finally {
      await servers.account.cosmos.close()
    }
  }
}
