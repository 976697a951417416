import { randomUUID } from 'node:crypto'
import { after, beforeEach } from 'node:test'
import type { Container } from '@azure/cosmos'
import { linkMessages } from '../../../functions/app/message-handlers.ts'
import type { Overrides, Service } from '../../../functions/app/service.ts'
import type { LocalCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'
import type { DirectoryOptions } from '../../../infra/local/directory/directory-server.ts'
import type { ContainerId } from '../../../shared/cosmos/containers.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import type { GroupLink } from '../../../shared/domain/group-links/group-link.ts'
import { type LinkSettingsChange, updateLinkSettings } from '../../../shared/domain/group-links/link-settings.ts'
import type { SyncJob } from '../../../shared/domain/group-links/sync-job.ts'
import type { DerivedState } from '../../../shared/domain/sync/restored-tenant.ts'
import type { SyncDependencies } from '../../../shared/domain/sync/sync-dependencies.ts'
import type { Message, MessageQueue } from '../../../shared/kernel/messages.ts'
import { builtService } from '../api/built-service.ts'
import { startDirectAccount, startLocalAccount } from '../contract/local-database.ts'
import { openDirectory, TENANT, type TestDirectory, testClock, user } from './link-directory.ts'
import { type TestCollections, testCollections } from './test-collections.ts'

/** In seconds of simulated time, the tests write more than a tenant may. */
const UNLIMITED_WRITES = { directoryWritesPerTenant: 1e9, directoryWritesTotal: 1e9 }

/** More deliveries than any test needs. An endless loop of messages fails the test. */
const MAX_DELIVERIES = 500

export type SentMessage = { readonly message: Message; readonly id: string; readonly dueMs: number }

/** Group links on the local database and the local directory, with a queue that the test drains. */
export type LinkFixture = TestDirectory & {
  readonly cosmos: LocalCosmos
  readonly container: (id: ContainerId) => Container
  /** The service on the same servers, as a process that has just started. */
  newService(overrides?: Overrides): Service
  readonly dispatch: Service['dispatch']
  /** Of a service that reads its collections from `collections`. */
  readonly deps: Service['links']
  readonly collections: TestCollections
  readonly sentMessages: SentMessage[]
  readonly clock: ReturnType<typeof testClock>
  /** Advances the clock to the earliest message and delivers it. Returns false when the queue is empty. */
  deliverNext(deps?: SyncDependencies): Promise<boolean>
  /** Delivers messages until the queue is empty. */
  drain(deps?: SyncDependencies): Promise<void>
  link(linkId: string): Promise<GroupLink>
  job(jobId: string): Promise<SyncJob>
  /** Newest first. */
  jobsOf(collectionId: string): Promise<SyncJob[]>
  /** A collection with these accounts, linked to a group with these members, before the first sync. */
  linked(accounts: readonly string[], members?: readonly string[]): Promise<Linked>
}

export type Linked = { readonly collectionId: string; readonly groupId: string; readonly linkId: string }

export type FixtureOptions = Partial<DirectoryOptions> & {
  readonly sharesClock?: boolean
  /** The database has the clock of the service. Otherwise all its documents are as old as the test. */
  readonly databaseSharesClock?: boolean
  /** The database is called without its SDK, for properties with many runs. */
  readonly isDirect?: boolean
  /** Makes the ids of the service. Random by default. */
  readonly newId?: () => string
  /** The removal guard has its default settings. Otherwise it is off, because removals are not the subject. */
  readonly isGuarded?: boolean
}

/** Where a fixture where all have one clock begins: what is due at certain hours then is due in each run. */
const START_MS = Date.parse('2030-01-07T08:00:00Z')

/** The fixture for all tests of a file. Each begins without faults, sent messages and waits. */
export async function linkFixtureOfTests(): Promise<LinkFixture> {
  const fixture = await openFixture()
  after(() => fixture.close())
  beforeEach(() => {
    fixture.server.setFaults([])
    fixture.sentMessages.length = 0
    fixture.waitsMs.length = 0
  })
  return fixture
}

/** The directory uses real time unless it shares the clock, for throttling and token lifetimes as well. */
export async function openFixture({
  sharesClock = false,
  databaseSharesClock = false,
  isGuarded = false,
  isDirect = false,
  newId = randomUUID,
  ...options
}: FixtureOptions = {}): Promise<LinkFixture> {
  const clock = testClock(sharesClock && databaseSharesClock ? START_MS : Date.now())
  const { cosmos, container } = await (isDirect ? startDirectAccount : startLocalAccount)(
    databaseSharesClock ? clock.nowMs : undefined,
  )
  const testDirectory = await openDirectory(clock, { ...options, ...(sharesClock ? { nowMs: clock.nowMs } : {}) })
  const collections = testCollections()
  const { sentMessages, messageQueue } = recordedMessages(clock.nowMs)
  const { directory } = testDirectory
  const parts = { nowMs: clock.nowMs, sleep: clock.sleep, random: () => 0.5, directory, messageQueue, newId }
  const newService = (overrides: Overrides = {}) =>
    builtService(container, { ...parts, ...overrides }, UNLIMITED_WRITES)
  const { links: deps, dispatch } = newService({ linkedCollections: collections })
  if (!isGuarded) await setLinkSettings(deps, { removalGuard: { enabled: false } })
  const fixture: LinkFixture = {
    ...testDirectory,
    cosmos,
    container,
    newService,
    dispatch,
    deps,
    collections,
    sentMessages,
    clock,
    deliverNext: (with_ = deps) => deliverNext(sentMessages, clock, with_),
    async drain(with_ = deps) {
      for (let count = 0; await deliverNext(sentMessages, clock, with_); count += 1) {
        if (count === MAX_DELIVERIES) throw new Error(`It never ends: ${JSON.stringify(sentMessages.slice(0, 3))}`)
      }
    },
    link: async (linkId) => present((await deps.links.find(TENANT, linkId))?.value),
    job: async (jobId) => present((await deps.jobs.find(TENANT, jobId))?.value),
    jobsOf: async (collectionId) => [...(await deps.jobs.page(TENANT, { collectionId }, undefined, 50)).items],
    async linked(accounts, members = []) {
      const collectionId = collections.make(accounts)
      const groupId = await testDirectory.newGroup({}, members)
      const linkId = await createLink(TENANT, { collectionId, directoryGroupId: groupId }, deps)
      testDirectory.server.clearRequests()
      return { collectionId, groupId, linkId }
    },
    async close() {
      await testDirectory.close()
      await cosmos.close()
    },
  }
  return fixture
}

/** Changes the settings of the test's tenant, as an administrator does. */
export async function setLinkSettings(deps: SyncDependencies, change: LinkSettingsChange): Promise<void> {
  await updateLinkSettings({ tenantId: TENANT, callerId: user(0), ifMatch: undefined, change }, deps)
}

function recordedMessages(nowMs: () => number): { sentMessages: SentMessage[]; messageQueue: MessageQueue } {
  const sentMessages: SentMessage[] = []
  const names = new Set<string>()
  return {
    sentMessages,
    messageQueue: {
      async enqueue(message, { id, delayMs = 0 }) {
        // Duplicate detection: a second message with the same id is accepted and dropped.
        if (names.has(id)) return
        names.add(id)
        sentMessages.push({ message, id, dueMs: nowMs() + delayMs })
      },
    },
  }
}

const NOT_RESTORED: DerivedState = { forget: () => Promise.reject(new Error('Nothing was restored')) }

async function deliverNext(
  sentMessages: SentMessage[],
  clock: ReturnType<typeof testClock>,
  deps: SyncDependencies,
): Promise<boolean> {
  const [next] = sentMessages.toSorted((left, right) => left.dueMs - right.dueMs)
  if (next === undefined) return false
  sentMessages.splice(sentMessages.indexOf(next), 1)
  const waitMs = next.dueMs - clock.nowMs()
  if (waitMs > 0) await clock.sleep(waitMs)
  const { queue, message } = next.message
  if (queue === 'membership-changes' || queue === 'sweeps' || queue === 'sync-jobs')
    await linkMessages(deps, NOT_RESTORED, async () => undefined)[queue].handle(message)
  return true
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is no such record')
  return value
}

/** A link after its first sync. The directory's request log is empty. */
export async function syncedLink(
  fixture: LinkFixture,
  accounts: readonly string[],
  members: readonly string[] = [],
): Promise<Linked> {
  const linked = await fixture.linked(accounts, members)
  await fixture.drain()
  fixture.server.clearRequests()
  return linked
}

/** Enqueues the message that a change of members enqueues. */
export async function notifyOfMembershipChange(
  { deps, sentMessages, clock }: LinkFixture,
  collectionId: string,
): Promise<void> {
  const message = { tenantId: TENANT, collectionId }
  const id = `change ${sentMessages.length} ${clock.nowMs()} ${randomUUID()}`
  await deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id })
}
