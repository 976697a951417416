import assert from 'node:assert/strict'
import type { Overrides, Service } from '../../../functions/app/service.ts'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import { writeObjects } from '../../../shared/domain/connectors/write-objects.ts'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { sweepTenant } from '../../../shared/domain/sync/sweep.ts'
import { graphDirectory } from '../../../shared/graph/graph-directory.ts'
import type { MessageQueue } from '../../../shared/kernel/messages.ts'
import { directDatabase } from '../contract/direct-database.ts'
import { type AccountFixture, gone, identity } from './account-fixture.ts'
import { type GraphDirectoryParts, TENANT, users } from './link-directory.ts'
import type { SentMessage } from './link-fixture.ts'
import { isTrouble, Life } from './mortal-process.ts'

export const INSTANCE_COUNT = 3
export const PERSON_COUNT = 2
/** Between neighbours: the first and the last clock differ by almost `CLOCK_DIFFERENCE_S`. */
const CLOCKS_APART_MS = 55_000
/** After which a queue delivers the message of a killed process again. */
const LOCK_MS = 60_000
/** As the queues are configured. A message that fails without a fault of the test this often fails the run. */
const MAX_DELIVERIES = 10
export type DeliveryEnd = 'completed' | 'doubled' | 'lost'

/** The use cases of a version of the service. */
export type UseCases = {
  readonly writeObjects: typeof writeObjects
  readonly addMembersDirectly: typeof addMembersDirectly
  readonly removeMembersDirectly: typeof removeMembersDirectly
  readonly sweepTenant: typeof sweepTenant
}

/** A version of the service. */
export type Release = UseCases & {
  build(fixture: AccountFixture, overrides: Overrides): Service
  graphDirectory(parts: GraphDirectoryParts): Directory
}

export const PRESENT_RELEASE: Release = {
  writeObjects,
  addMembersDirectly,
  removeMembersDirectly,
  sweepTenant,
  build: ({ newService }, overrides) => newService(overrides),
  graphDirectory,
}

type Instance = { readonly life: Life; readonly service: Service; readonly release: Release }

/** Instances of the service on one database, whose clocks differ, and the messages between them. */
export class SeveralInstances {
  readonly #fixture: AccountFixture
  readonly #instances: Instance[]
  /** Failed deliveries by message id, those of killed processes aside. */
  readonly #failures = new Map<string, number>()
  isSweepNeeded = false
  readonly #interruptions: Promise<void>[] = []

  readonly #releaseOf: (slot: number) => Release

  /** @param releaseOf The version that the next process in this slot has. */
  constructor(fixture: AccountFixture, releaseOf: (slot: number) => Release = () => PRESENT_RELEASE) {
    this.#fixture = fixture
    this.#releaseOf = releaseOf
    this.#instances = Array.from({ length: INSTANCE_COUNT }, (_, slot) => this.#newInstance(slot))
  }

  /** An instance; a new process when the former one was killed. */
  at(index: number): Instance {
    const slot = index % INSTANCE_COUNT
    const current = this.#instances[slot]
    if (current !== undefined && !current.life.hasEnded) return current
    this.isSweepNeeded ||= current?.life.hasFailedCall === true
    const started = this.#newInstance(slot)
    this.#instances[slot] = started
    return started
  }

  interrupt(index: number, afterCallCount: number, work: () => Promise<void>): void {
    this.at(index).life.interruptAfter(afterCallCount, () => {
      const interruption = work()
      this.#interruptions.push(interruption)
      return interruption
    })
  }

  /**
   * The client of the database makes some calls in the background: an interruption there outlasts the action. One that
   * has not begun must not interrupt a later action: the order of two concurrent writes of one person is not known.
   */
  async endInterruptions(): Promise<void> {
    for (const { life } of this.#instances) life.forgetInterruption()
    await Promise.all(this.#interruptions.splice(0))
  }

  meetNoMoreFaults(): void {
    for (const { life } of this.#instances) {
      // A change is acknowledged although its message could not be enqueued: the sweep finds it.
      this.isSweepNeeded ||= life.hasFailedCall
      life.meetNoMoreFaults()
    }
  }

  /** Writes objects of a connector until they are acknowledged. */
  write(first: number, source: Connector, ...writes: Parameters<AccountFixture['write']>[1][]): Promise<void> {
    return this.untilAcknowledged(first, ({ service: { connectors }, release }) =>
      release.writeObjects(TENANT, source, writes, connectors),
    )
  }

  /** As a client does: the work is repeated, through the next instance, until it is acknowledged. */
  async untilAcknowledged(first: number, work: (instance: Instance) => Promise<unknown>): Promise<void> {
    for (let index = first; ; index += 1) {
      assert.ok(index < first + 20, 'A write is never acknowledged')
      const instance = this.at(index)
      const { life } = instance
      // What interrupts a call of an instance cannot wait for that instance.
      if (life.isInterrupted) continue
      try {
        await work(instance)
        if (!life.hasEnded) return
      } catch (error) {
        if (!isCausedByFault(error)) throw error
      }
      // A process that is killed after its write has enqueued nothing, and the repeated write changes nothing.
      this.isSweepNeeded ||= life.hasEnded
    }
  }

  /** Delivers one of the messages. Returns false when there are none. */
  async deliver(index: number, pick: number, end: DeliveryEnd = 'completed'): Promise<boolean> {
    const { sentMessages, clock } = this.#fixture
    const inOrder = sentMessages.toSorted((left, right) => left.dueMs - right.dueMs)
    const next = inOrder[pick % Math.max(inOrder.length, 1)]
    if (next === undefined) return false
    sentMessages.splice(sentMessages.indexOf(next), 1)
    if (end === 'lost') {
      this.isSweepNeeded = true
      return true
    }
    if (next.dueMs > clock.nowMs()) await clock.sleep(next.dueMs - clock.nowMs())
    const { life, service } = this.at(index)
    const failure = await service.messages[next.message.queue].handle(next.message.message).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    if (failure !== undefined || life.hasEnded) this.#deliverLater(next, life, failure?.error)
    else if (end === 'doubled') sentMessages.push(next)
    return true
  }

  /** Until there are no messages. */
  async drain(): Promise<void> {
    for (let turn = 0; await this.deliver(turn, 0); turn += 1) assert.ok(turn < 500, 'The messages never end')
  }

  async sweep(): Promise<void> {
    const { service, release } = this.at(0)
    await release.sweepTenant(TENANT, service.links)
  }

  #deliverLater(message: SentMessage, { hasEnded }: Life, error: unknown): void {
    if (!hasEnded && !isCausedByFault(error)) {
      const failureCount = (this.#failures.get(message.id) ?? 0) + 1
      this.#failures.set(message.id, failureCount)
      if (failureCount >= MAX_DELIVERIES) throw error
    }
    this.#fixture.sentMessages.push({ ...message, dueMs: this.#fixture.clock.nowMs() + LOCK_MS })
  }

  #newInstance(slot: number): Instance {
    const { cosmos, clock, deps, adapterParts } = this.#fixture
    const release = this.#releaseOf(slot)
    const life = new Life()
    const messageQueue: MessageQueue = {
      enqueue: (message, options) => life.make(() => deps.messageQueue.enqueue(message, options)),
    }
    const parts = adapterParts((send) => (tenantId, call) => life.make(() => send(tenantId, call)))
    const directory = release.graphDirectory(parts)
    const container = directDatabase(cosmos, (call) => life.make(call))
    const nowMs = () => clock.nowMs() + slot * CLOCKS_APART_MS
    const overrides = { container, messageQueue, directory, nowMs, elapsedMs: clock.nowMs }
    return { life, service: release.build(this.#fixture, overrides), release }
  }
}

/** Whether a fault of the test is the cause, or one of the causes. */
function isCausedByFault(error: unknown): boolean {
  return error instanceof Error && (isTrouble(error) || isCausedByFault(error.cause))
}

/** A group linked to the collection of the people in one place; every second one is there. */
export async function linkedPlace(fixture: AccountFixture, run: number) {
  const accounts = users(run * PERSON_COUNT, PERSON_COUNT)
  const place = `Place ${run}`
  const source = await fixture.newSource()
  const externalId = (index: number) => `${index} of ${place}`
  const person = (index: number, isThere: boolean) =>
    identity(externalId(index), {
      displayName: isThere ? place : 'Elsewhere',
      directoryObjectId: accounts[index] as string,
    })
  await fixture.write(source, ...accounts.map((_, index) => person(index, index % 2 === 0)))
  const collectionId = await fixture.criteria('Identity', 'identityDisplayName', place)
  const groupId = await fixture.linkedGroup(collectionId)
  await fixture.followed()
  fixture.sentMessages.length = 0
  const there = new Set(accounts.filter((_, index) => index % 2 === 0))
  assert.deepEqual(await fixture.membersOf(groupId), there)
  return {
    source,
    name: place,
    externalId,
    accounts,
    collectionId,
    person,
    groupId,
    there,
    change(index: number, isThere: boolean) {
      const account = accounts[index] as string
      if (isThere) there.add(account)
      else there.delete(account)
    },
    /** Keeps the tenant small for later runs. */
    async remove() {
      await fixture.removeLinked(collectionId)
      await fixture.write(source, ...accounts.map((_, index) => gone('identity', externalId(index))))
      fixture.sentMessages.length = 0
    },
  }
}
