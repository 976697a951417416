import { randomUUID } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import type { DirectoryOptions } from '../../infra/local/directory/server.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { cosmosJobStore } from '../../shared/cosmos/job-store.ts'
import { cosmosLinkStore } from '../../shared/cosmos/link-store.ts'
import { cosmosTenantStore } from '../../shared/cosmos/tenant-store.ts'
import { cosmosWindowStore } from '../../shared/cosmos/window-store.ts'
import type { Doorbell, Doorbells } from '../../shared/domain/doorbell.ts'
import { applyMembershipChanges } from '../../shared/domain/links/apply-membership-changes.ts'
import { createLink } from '../../shared/domain/links/create-link.ts'
import type { LinkRecord } from '../../shared/domain/links/group-link.ts'
import type { SyncDependencies } from '../../shared/domain/links/link-dependencies.ts'
import { runSyncJob } from '../../shared/domain/links/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/links/sweep.ts'
import type { JobRecord } from '../../shared/domain/links/sync-job.ts'
import { sharedWriteBudget, type WindowStore } from '../../shared/domain/links/write-budget.ts'
import { UNMEASURED } from '../../shared/domain/measures.ts'
import { testLag } from '../contract/local-database.ts'
import { openDirectory, TENANT, type TestDirectory, testClock } from './link-directory.ts'
import { type TestCollections, testCollections } from './test-collections.ts'

const KEY = Buffer.from('a key of these tests').toString('base64')

/** More deliveries than any of these tests needs: what goes on for ever fails. */
const DELIVERIES_AT_MOST = 500

export type Ring = { readonly doorbell: Doorbell; readonly id: string; readonly dueMs: number }

/** Group links on the local database and the local directory, with a queue that the test empties itself. */
export type LinkWorld = TestDirectory & {
  readonly cosmos: LocalCosmos
  readonly container: (id: ContainerId) => Container
  readonly deps: SyncDependencies
  readonly windows: WindowStore
  readonly collections: TestCollections
  readonly rings: Ring[]
  readonly clock: ReturnType<typeof testClock>
  /** Hands over the earliest ring, moving the clock on to its time. False when there is none. */
  deliverNext(deps?: SyncDependencies): Promise<boolean>
  /** Until nothing rings any more. */
  drain(deps?: SyncDependencies): Promise<void>
  link(linkId: string): Promise<LinkRecord>
  job(jobId: string): Promise<JobRecord>
  /** Newest first. */
  jobsOf(collectionId: string): Promise<JobRecord[]>
  /** A collection of these accounts, linked to a group of those; nothing is synced yet. */
  linked(accounts: readonly string[], members?: readonly string[]): Promise<Linked>
}

export type Linked = { readonly collectionId: string; readonly groupId: string; readonly linkId: string }

export type WorldOptions = Partial<DirectoryOptions> & { readonly sharesClock?: boolean }

/** The directory lives in real time unless it shares the clock; then its throttling and its tokens' lifetimes do too. */
export async function openWorld({ sharesClock = false, ...options }: WorldOptions = {}): Promise<LinkWorld> {
  const clock = testClock()
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key: KEY, strict: true, ...testLag() })
  await createContainers(cosmos.endpoint, KEY)
  const container = openDatabase({ endpoint: cosmos.endpoint, key: KEY })
  const testDirectory = await openDirectory(clock, { ...options, ...(sharesClock ? { nowMs: clock.nowMs } : {}) })
  const collections = testCollections()
  const { rings, doorbells } = recordedRings(clock.nowMs)
  const windows = cosmosWindowStore(container('tenants'))
  const deps: SyncDependencies = {
    links: cosmosLinkStore(container('links')),
    jobs: cosmosJobStore(container('jobs')),
    tenants: cosmosTenantStore(container('tenants')),
    collections,
    directory: testDirectory.directory,
    // What these tests write in seconds of their clock is more than a tenant may in as many of a real one.
    budget: sharedWriteBudget({ windows, writesPerTenant: 1e9, writesInAll: 1e9, nowMs: clock.nowMs }),
    doorbells,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    measures: UNMEASURED,
    nowMs: clock.nowMs,
    newId: randomUUID,
    random: () => 0.5,
    sleep: clock.sleep,
    retryDelaysS: [15, 60, 240],
    leaseMs: 60_000,
    sliceMs: 240_000,
  }
  const world: LinkWorld = {
    ...testDirectory,
    cosmos,
    container,
    deps,
    windows,
    collections,
    rings,
    clock,
    deliverNext: (with_ = deps) => deliverNext(rings, clock, with_),
    async drain(with_ = deps) {
      for (let count = 0; await deliverNext(rings, clock, with_); count += 1) {
        if (count === DELIVERIES_AT_MOST) throw new Error(`It never ends: ${JSON.stringify(rings.slice(0, 3))}`)
      }
    },
    link: async (linkId) => present((await deps.links.find(TENANT, linkId))?.value),
    job: async (jobId) => present((await deps.jobs.find(TENANT, jobId))?.value),
    jobsOf: (collectionId) => deps.jobs.latestOf(TENANT, collectionId, 50),
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
  return world
}

function recordedRings(nowMs: () => number): { rings: Ring[]; doorbells: Doorbells } {
  const rings: Ring[] = []
  const names = new Set<string>()
  return {
    rings,
    doorbells: {
      async ring(doorbell, { id, delayMs = 0 }) {
        // As duplicate detection does: the second ring of one name is taken and dropped.
        if (names.has(id)) return
        names.add(id)
        rings.push({ doorbell, id, dueMs: nowMs() + delayMs })
      },
    },
  }
}

async function deliverNext(
  rings: Ring[],
  clock: ReturnType<typeof testClock>,
  deps: SyncDependencies,
): Promise<boolean> {
  const [next] = rings.toSorted((one, other) => one.dueMs - other.dueMs)
  if (next === undefined) return false
  rings.splice(rings.indexOf(next), 1)
  const waitMs = next.dueMs - clock.nowMs()
  if (waitMs > 0) await clock.sleep(waitMs)
  const { queue, message } = next.doorbell
  if (queue === 'sync-jobs') await runSyncJob(message, deps)
  if (queue === 'sweeps') await sweepTenant(message.tenantId, deps)
  if (queue === 'membership-changes') await applyMembershipChanges(message, deps)
  return true
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is no such record')
  return value
}

/** A link whose first sync has ended; the directory's log of requests is empty. */
export async function syncedLink(
  world: LinkWorld,
  accounts: readonly string[],
  members: readonly string[] = [],
): Promise<Linked> {
  const linked = await world.linked(accounts, members)
  await world.drain()
  world.server.clearRequests()
  return linked
}

/** As whoever changes a membership does. */
export async function ringForChanges({ deps, rings, clock }: LinkWorld, collectionId: string): Promise<void> {
  const message = { tenantId: TENANT, collectionId }
  const id = `change ${rings.length} ${clock.nowMs()} ${randomUUID()}`
  await deps.doorbells.ring({ queue: 'membership-changes', message }, { id })
}
