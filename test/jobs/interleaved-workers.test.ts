import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { requestSync, updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import type { SyncDependencies } from '../../shared/domain/sync/sync-dependencies.ts'
import { TENANT, users } from '../support/jobs/link-directory.ts'
import {
  type Linked,
  type LinkFixture,
  notifyOfMembershipChange,
  openFixture,
  type SentMessage,
  syncedLink,
} from '../support/jobs/link-fixture.ts'
import { Turns } from '../support/jobs/turns.ts'

const RUNS_COUNT = 18

/** Accounts that are added and removed together. Two blocks are more than one step removes. */
const BLOCK_SIZE_COUNT = 12
const BLOCKS_COUNT = 6
const everyBlock = Array.from({ length: BLOCKS_COUNT }, (_, block) => block)
const block = (index: number): string[] => users(index * BLOCK_SIZE_COUNT, BLOCK_SIZE_COUNT)
/** In the collection throughout the test. */
const STEADY = users(BLOCKS_COUNT * BLOCK_SIZE_COUNT, 3)

type Happening =
  | { readonly kind: 'change'; readonly blocks: readonly number[]; readonly withoutAccountCount: number }
  /** A worker receives a message. It may crash at one of its calls, or the message may be delivered twice. */
  | { readonly kind: 'worker'; readonly pick: number; readonly diesAt: number | undefined; readonly isDoubled: boolean }
  /** Workers make one call each, one after another. */
  | { readonly kind: 'turns'; readonly picks: readonly number[] }
  | { readonly kind: 'time'; readonly delayMs: number }
  | { readonly kind: 'sync' | 'sweep' | 'disable' | 'enable' }

const pick = fc.nat({ max: 1000 })
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('change'),
      blocks: fc.subarray(everyBlock),
      withoutAccountCount: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('worker'),
      pick,
      diesAt: fc.option(fc.nat({ max: 12 }), { nil: undefined, freq: 6 }),
      isDoubled: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('turns'), picks: fc.array(pick, { minLength: 1, maxLength: 12 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('time'), delayMs: fc.constantFrom(3_000, 16_000, 45_000, 61_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('sync', 'sweep', 'disable', 'enable') }) },
)

describe('Concurrent incremental syncs, jobs and sweeps', () => {
  let fixture: LinkFixture
  before(async () => {
    fixture = await openFixture({ isDirect: true, quotas: { writesPer150S: 1e9, unitsPer10S: [1e9, 1e9, 1e9] } })
  })
  after(() => fixture.close())

  it('make the group equal to the collection, and never remove an account that stays in it', async () => {
    let [runCount, unsweptCount] = [0, 0]
    const property = fc.asyncProperty(fc.array(happening, { minLength: 15, maxLength: 40 }), async (happenings) => {
      runCount += 1
      fixture.sentMessages.length = 0
      const linked = await syncedLink(fixture, [...STEADY, ...block(0), ...block(1)])
      const end = await carriedOut(happenings, linked)
      const hasFailed = (await fixture.jobsOf(linked.collectionId)).some(({ status }) => status === 'Failed')
      // The sweep handles what a failed job has left, and changes made while the link was disabled.
      if (hasFailed || end.wasDisabled) await sweepTenant(TENANT, fixture.deps)
      else unsweptCount += 1
      await fixture.drain()
      assert.deepEqual(await fixture.membersOf(linked.groupId), new Set(end.accounts))
      const link = await fixture.link(linked.linkId)
      assert.deepEqual([link.lease, link.removalsDeferred], [null, false])
      const touched = fixture.server.requests().flatMap((request) => request.batch ?? [request])
      const removed = touched
        .filter(({ method }) => method === 'DELETE')
        .map(({ path }) => path.split('/').at(-2) ?? '')
      assert.deepEqual(new Set(removed).intersection(new Set(STEADY)), new Set())
    })
    await fc.assert(property, { numRuns: RUNS_COUNT, endOnFailure: true })
    // A run with a time limit may end after a few.
    if (runCount >= RUNS_COUNT) assert.ok(unsweptCount > 0, 'none ended without a sweep')
  })

  /** @returns The collection's accounts in the end. The link is enabled then, and every member has an account. */
  async function carriedOut(happenings: readonly Happening[], { collectionId, linkId }: Linked) {
    const turns = new Turns()
    let accounts = [...STEADY, ...block(0), ...block(1)]
    let wasDisabled = false
    const setState = (state: 'Disabled' | 'Enabled') =>
      updateLink({ tenantId: TENANT, linkId, ifMatch: undefined }, { state }, fixture.deps)
    const change = async (blocks: readonly number[], withoutAccountCount: number) => {
      accounts = [...STEADY, ...blocks.flatMap(block)]
      fixture.collections.change(collectionId, accounts, withoutAccountCount)
      await notifyOfMembershipChange(fixture, collectionId)
      return blocks
    }
    let blocks: readonly number[] = [0, 1]
    for (const happening of happenings) {
      if (happening.kind === 'change') blocks = await change(happening.blocks, happening.withoutAccountCount)
      if (happening.kind === 'worker') begin(happening, turns)
      if (happening.kind === 'turns') for (const picked of happening.picks) await turns.next(picked)
      if (happening.kind === 'time') await fixture.clock.sleep(happening.delayMs)
      if (happening.kind === 'sync') await requestSync(TENANT, collectionId, fixture.deps).catch(() => undefined)
      if (happening.kind === 'sweep') await sweepTenant(TENANT, fixture.deps)
      if (happening.kind === 'disable') {
        wasDisabled = true
        await setState('Disabled')
      }
      if (happening.kind === 'enable') await setState('Enabled')
    }
    await turns.end()
    if (wasDisabled) await setState('Enabled')
    await change(blocks, 0)
    return { accounts, wasDisabled }
  }

  function begin({ pick: picked, diesAt, isDoubled }: Extract<Happening, { kind: 'worker' }>, turns: Turns): void {
    const due = fixture.sentMessages.filter(({ dueMs }) => dueMs <= fixture.clock.nowMs())
    const enqueue = due[picked % Math.max(due.length, 1)]
    if (enqueue === undefined) return
    if (!isDoubled) fixture.sentMessages.splice(fixture.sentMessages.indexOf(enqueue), 1)
    const deps = turns.worker(fixture.deps, diesAt, () => redeliver(enqueue))
    void worked(enqueue, deps)
  }

  /** As the queue does when the lock of a message expires. */
  const redeliver = (enqueue: SentMessage): void =>
    void fixture.sentMessages.push({ ...enqueue, dueMs: fixture.clock.nowMs() + 60_000 })

  async function worked(enqueue: SentMessage, deps: SyncDependencies): Promise<void> {
    const { queue, message } = enqueue.message
    try {
      if (queue === 'sync-jobs') await runSyncJob(message, deps)
      if (queue === 'sweeps') await sweepTenant(message.tenantId, deps)
      if (queue === 'membership-changes') await syncIncrementally(message, deps)
    } catch {
      redeliver(enqueue)
    }
  }
})
