import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { approveRemovals } from '../../../shared/domain/group-links/approve-removals.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { updateLinkSettings } from '../../../shared/domain/group-links/link-settings.ts'
import { deleteLink, requestSync } from '../../../shared/domain/group-links/manage-links.ts'
import { syncIncrementally } from '../../../shared/domain/sync/incremental-sync.ts'
import { RECENT_WRITES_MS } from '../../../shared/domain/sync/recorded-writes.ts'
import { runSyncJob } from '../../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../../shared/domain/sync/sync-dependencies.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { NO_METRICS } from '../../../shared/kernel/metrics.ts'
import { TenantQuota } from '../../../shared/kernel/tenant-quota.ts'
import { guardedGroup, type Loss, type RemovalFault } from './guarded-group.ts'
import { TENANT, testClock, user, users } from './link-directory.ts'
import { memoryStores } from './memory-links.ts'
import { testCollections } from './test-collections.ts'
import { Turns } from './turns.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MINUTE_MS = 60_000
const GROUP_ID = 'dddddddd-0000-4000-8000-000000000001'
const ACCOUNTS_COUNT = 40
const LEASE_MS = 60_000
/** More deliveries than any run needs. An endless loop of messages fails the run. */
const MAX_DELIVERIES = 2_000

type Happening =
  | { readonly kind: 'change'; readonly accounts: readonly number[]; readonly withoutAccountCount: number }
  | { readonly kind: 'worker'; readonly pick: number; readonly diesAt: number | undefined; readonly isDoubled: boolean }
  | { readonly kind: 'turns'; readonly picks: readonly number[] }
  | { readonly kind: 'time'; readonly delayMs: number }
  | { readonly kind: 'minimum'; readonly minimum: number }
  | { readonly kind: 'fault'; readonly fault: RemovalFault }
  | { readonly kind: 'hand'; readonly accounts: readonly number[] }
  | { readonly kind: 'stale'; readonly ageMs: number }
  | { readonly kind: 'relink'; readonly accounts: readonly number[] | undefined }
  | { readonly kind: 'sync' | 'sweep' | 'approve' }

const everyAccount = Array.from({ length: ACCOUNTS_COUNT }, (_, index) => index)
const pick = fc.nat({ max: 1000 })
/** Mostly a few accounts more or less than all. */
const members = fc.oneof(
  fc.subarray(everyAccount, { minLength: ACCOUNTS_COUNT - 5 }),
  fc.subarray(everyAccount, { minLength: ACCOUNTS_COUNT - 5 }),
  fc.subarray(everyAccount),
)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('change'),
      accounts: members,
      withoutAccountCount: fc.constantFrom(0, 0, 0, 0, 1),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('worker'),
      pick,
      diesAt: fc.option(fc.nat({ max: 16 }), { nil: undefined, freq: 4 }),
      isDoubled: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('turns'), picks: fc.array(pick, { minLength: 1, maxLength: 20 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('time'),
      delayMs: fc.constantFrom(3_000, 61_000, 20 * MINUTE_MS, DAY_MS / 3, DAY_MS - MINUTE_MS, DAY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('minimum'), minimum: fc.integer({ min: 0, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault'),
      fault: fc.constantFrom<RemovalFault>('refused', 'ignored', 'unanswered'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hand'), accounts: fc.subarray(everyAccount) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stale'), ageMs: fc.constantFrom(1_000, 2 * MINUTE_MS) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('relink'), accounts: fc.option(members, { nil: undefined }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('sync', 'sweep', 'approve') }) },
)

type Start = { readonly percent: number; readonly minimum: number; readonly isEmpty: boolean }
const start: fc.Arbitrary<Start> = fc.record({
  percent: fc.constantFrom(1, 10, 20),
  minimum: fc.integer({ min: 0, max: 6 }),
  isEmpty: fc.constantFrom(false, false, false, true),
})

type SentMessage = { readonly message: Message; readonly dueMs: number }

/** One run: a group with one link at a time, the workers, and what the guard has to hold to. */
class GuardedLink {
  readonly #clock = testClock(Date.parse('2030-01-01T00:00:00Z'))
  readonly #collections = testCollections()
  readonly #messages: SentMessage[] = []
  readonly #turns = new Turns()
  readonly #stores = memoryStores()
  readonly #directory
  readonly #deps: SyncDependencies
  readonly #percent: number
  #largestMinimum = 0
  #accounts: readonly string[]
  #collectionId = ''
  #linkId = ''
  /** Accounts that may be removed beyond the limit: since when, once for each approval. */
  readonly #excused: { readonly account: string; readonly sinceMs: number }[] = []
  /** Approved accounts that were never in the collection since. */
  readonly #approvals: { readonly jobId: string; readonly accounts: Set<string> }[] = []

  constructor({ percent, isEmpty }: Start) {
    const all = users(0, ACCOUNTS_COUNT)
    this.#percent = percent
    this.#accounts = isEmpty ? [] : all
    this.#directory = guardedGroup(all, this.#clock.nowMs)
    let idCount = 0
    this.#deps = {
      ...this.#stores,
      collections: this.#collections,
      evaluations: { coveredUntil: async () => undefined, isDueDaily: async () => true },
      deadlines: { isDue: () => false, enqueue: async () => undefined },
      directory: this.#directory.directory,
      linkQuota: new TenantQuota({
        what: 'group links',
        limitCount: 1e6,
        count: async () => 0,
        elapsedMs: this.#clock.nowMs,
      }),
      accountHolders: { ofAccounts: async () => new Map(), namesOf: async () => new Map() },
      messageQueue: {
        enqueue: async (message, { delayMs = 0 }) =>
          void this.#messages.push({ message, dueMs: this.#clock.nowMs() + delayMs }),
      },
      trackedGroups: { ofTenant: async () => [], save: async () => undefined, remove: async () => undefined },
      budget: { reserve: () => 0, recordOverspend: () => undefined },
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      metrics: NO_METRICS,
      nowMs: this.#clock.nowMs,
      sleep: this.#clock.sleep,
      newId: () => {
        idCount += 1
        return user(900_000 + idCount)
      },
      deriveId: (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest('hex'),
      random: () => 0.5,
      leaseMs: LEASE_MS,
      clockDifferenceMs: 0,
      batchMs: 30_000,
      retryDelaysS: [15, 60, 240],
    }
  }

  async open({ minimum, percent }: Start): Promise<void> {
    await this.#setGuard({ minimum, percent })
    await this.#createLink()
  }

  async #createLink(): Promise<void> {
    this.#collectionId = this.#collections.make(this.#accounts)
    const input = { collectionId: this.#collectionId, directoryGroupId: GROUP_ID }
    this.#linkId = await createLink(TENANT, input, this.#deps)
  }

  async #setGuard(removalGuard: { minimum: number; percent?: number }): Promise<void> {
    this.#largestMinimum = Math.max(this.#largestMinimum, removalGuard.minimum)
    const update = { tenantId: TENANT, callerId: user(0), ifMatch: undefined, change: { removalGuard } }
    await updateLinkSettings(update, this.#deps)
  }

  async happen(each: Happening): Promise<void> {
    switch (each.kind) {
      case 'change':
        return this.#change(each.accounts.map(user), each.withoutAccountCount)
      case 'worker':
        return this.#begin(each)
      case 'turns':
        for (const picked of each.picks) await this.#turns.next(picked)
        return
      case 'time':
        return this.#clock.sleep(each.delayMs)
      case 'minimum':
        return this.#setGuard({ minimum: each.minimum })
      case 'fault':
        return this.#directory.failNext(each.fault)
      case 'hand':
        return this.#addByHand(each.accounts.map(user))
      case 'stale':
        return this.#directory.delayNextRead(each.ageMs)
      case 'relink':
        return this.#relink(each.accounts?.map(user) ?? this.#accounts)
      case 'sync':
        return void (await requestSync(TENANT, this.#collectionId, this.#deps))
      case 'sweep':
        return sweepTenant(TENANT, this.#deps)
      case 'approve':
        return this.#approve()
    }
  }

  #change(accounts: readonly string[], withoutAccountCount: number): void {
    this.#accounts = accounts
    this.#forgetApprovals(accounts)
    this.#collections.change(this.#collectionId, accounts, withoutAccountCount)
    const message = { tenantId: TENANT, collectionId: this.#collectionId }
    this.#messages.push({ message: { queue: 'membership-changes', message }, dueMs: this.#clock.nowMs() })
  }

  #addByHand(accounts: readonly string[]): void {
    this.#forgetApprovals(accounts)
    const nowMs = this.#clock.nowMs()
    // A read that shows an account which was removed a moment ago counts as stale: the account is removed again.
    const isRecent = (loss: Loss, account: string) => loss.account === account && nowMs - loss.atMs < RECENT_WRITES_MS
    const removed = accounts.filter((account) => this.#directory.losses.some((loss) => isRecent(loss, account)))
    for (const account of removed) this.#excused.push({ account, sinceMs: nowMs })
    this.#directory.addByHand(accounts)
  }

  /** An account that comes back after its removal needs another approval. */
  #forgetApprovals(accounts: readonly string[]): void {
    for (const approval of this.#approvals) for (const account of accounts) approval.accounts.delete(account)
  }

  /** Deletes the link and links another collection to the group. Workers of the deleted link may still be running. */
  async #relink(accounts: readonly string[]): Promise<void> {
    this.#change(accounts, 0)
    await deleteLink({ tenantId: TENANT, linkId: this.#linkId, ifMatch: undefined }, this.#deps)
    await this.#createLink()
  }

  async #approve(): Promise<void> {
    const planId = (await this.#link()).heldRemovals?.planId
    if (planId === undefined) return
    const plan = { tenantId: TENANT, linkId: this.#linkId, planId }
    const jobId = await approveRemovals({ ...plan, approvedBy: user(0), notes: null }, this.#deps)
    const accounts = await this.#stores.removalPlans.accountsOf(plan)
    const sinceMs = this.#clock.nowMs()
    for (const account of accounts) this.#excused.push({ account, sinceMs })
    this.#approvals.push({ jobId, accounts: new Set(accounts.difference(new Set(this.#accounts))) })
  }

  #begin({ pick: picked, diesAt, isDoubled }: Extract<Happening, { kind: 'worker' }>): void {
    const due = this.#messages.filter(({ dueMs }) => dueMs <= this.#clock.nowMs())
    const sent = due[picked % Math.max(due.length, 1)]
    if (sent === undefined) return
    if (!isDoubled) this.#messages.splice(this.#messages.indexOf(sent), 1)
    const deps = this.#turns.worker(this.#deps, diesAt, () => this.#redeliver(sent))
    void this.#handle(sent, deps)
  }

  /** As the queue does when the lock of a message expires. */
  #redeliver({ message }: SentMessage): void {
    this.#messages.push({ message, dueMs: this.#clock.nowMs() + 60_000 })
  }

  async #handle(sent: SentMessage, deps: SyncDependencies): Promise<void> {
    const { queue, message } = sent.message
    try {
      if (queue === 'sync-jobs') await runSyncJob(message, deps)
      if (queue === 'sweeps') await sweepTenant(message.tenantId, deps)
      if (queue === 'membership-changes') await syncIncrementally(message, deps)
    } catch {
      this.#redeliver(sent)
    }
  }

  async #link() {
    const found = await this.#stores.links.find(TENANT, this.#linkId)
    assert.ok(found !== undefined)
    return found.value
  }

  async #drain(): Promise<void> {
    for (let count = 0; this.#messages.length > 0; count += 1) {
      assert.ok(count < MAX_DELIVERIES, 'the messages never end')
      const [next] = this.#messages.sort((left, right) => left.dueMs - right.dueMs).splice(0, 1)
      if (next === undefined) return
      const waitMs = next.dueMs - this.#clock.nowMs()
      if (waitMs > 0) await this.#clock.sleep(waitMs)
      await this.#handle(next, this.#deps)
    }
  }

  /** Ends all workers, and checks what must hold then. */
  async end(): Promise<void> {
    await this.#turns.end()
    this.#directory.endFaults()
    this.#directory.delayNextRead(0)
    this.#change(this.#accounts, 0)
    await this.#drain()
    await sweepTenant(TENANT, this.#deps)
    await this.#drain()
    this.#assertLimit()
    await this.#assertApproved()
    while ((await this.#link()).heldRemovals !== null) {
      await this.#approve()
      await this.#drain()
    }
    this.#assertLimit()
    assert.deepEqual([...this.#directory.group].sort(), this.#accounts.toSorted(), 'group and collection')
  }

  /** No 24 hours have more removals than the limit, apart from approved ones. */
  #assertLimit(): void {
    const size = this.#directory.largestSize()
    const limit = Math.max(this.#largestMinimum, Math.floor((size * this.#percent) / 100))
    const excused = [...this.#excused]
    const counted = this.#directory.losses.filter(({ account, atMs }) => {
      const approval = excused.findIndex((each) => each.account === account && each.sinceMs <= atMs)
      if (approval >= 0) excused.splice(approval, 1)
      return approval < 0
    })
    for (const { atMs } of counted) {
      const within = counted.filter((loss) => loss.atMs <= atMs && atMs - loss.atMs < DAY_MS)
      const lost = new Set(within.map(({ account }) => account))
      assert.ok(lost.size <= limit, `${lost.size} accounts lost within 24 hours, limit ${limit}`)
    }
  }

  /** Every approved account that is still due is gone, unless its job failed. */
  async #assertApproved(): Promise<void> {
    for (const { jobId, accounts } of this.#approvals) {
      const job = await this.#stores.jobs.find(TENANT, jobId)
      if (job?.value.status !== 'Succeeded' || job.value.skipped > 0) continue
      const left = [...accounts].filter((account) => this.#directory.group.has(account))
      assert.deepEqual(left, [], 'approved accounts')
    }
  }
}

/** Checks random interleavings of jobs, changes, sweeps, approvals and settings. @throws Error with the seed. */
export async function checkGuard({ runs, seed }: { readonly runs: number; readonly seed: number }): Promise<void> {
  const happenings = fc.array(happening, { minLength: 20, maxLength: 60 })
  const property = fc.asyncProperty(start, happenings, async (begin, all) => {
    const link = new GuardedLink(begin)
    await link.open(begin)
    for (const each of all) await link.happen(each)
    await link.end()
  })
  await fc.assert(property, { numRuns: runs, seed })
}
