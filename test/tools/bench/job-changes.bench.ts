import { setFlagsFromString } from 'node:v8'
import { instanceWriteBudget } from '../../../shared/domain/sync/write-budget.ts'
import { directorySeed, users } from '../../support/jobs/link-directory.ts'
import { openFixture } from '../../support/jobs/link-fixture.ts'

/**
 * The record of what a sync job writes: the first sync of 100,000 accounts into an empty group, with the record and
 * without it, twice each. Database, queue and directory run in the same process.
 */
const ACCOUNTS_COUNT = 100_000
const MAX_RATIO = 1.1
const RUNS_COUNT = 2

setFlagsFromString('--max-old-space-size=1024')

const fixture = await openFixture({ seed: directorySeed(ACCOUNTS_COUNT), sharesClock: true })
const accounts = users(0, ACCOUNTS_COUNT)
const { jobs } = fixture.deps
const withoutRecord: typeof jobs = {
  ...jobs,
  replace: (job, version) => jobs.replace({ ...job, changeRecordCount: 0 }, version),
}

/** Seconds that the job takes, and the changes that are recorded. */
async function timed(store: typeof jobs): Promise<{ seconds: number; recorded: number }> {
  const { nowMs: elapsedMs } = fixture.clock
  const budget = instanceWriteBudget({ writesPerTenant: 2_400, writesTotal: 56_000, elapsedMs })
  const { collectionId } = await fixture.linked(accounts)
  const startMs = performance.now()
  await fixture.drain({ ...fixture.deps, jobs: store, budget })
  const seconds = (performance.now() - startMs) / 1000
  const [job] = await fixture.jobsOf(collectionId)
  if (job?.added !== ACCOUNTS_COUNT) throw new Error(`The job has added ${job?.added} accounts: ${JSON.stringify(job)}`)
  let recorded = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await jobs.changes(job.tenantId, job.id, after === '' ? undefined : after, 10_000)
    recorded += page.items.length
    after = page.continueAfter
  }
  return { seconds, recorded }
}

const best = { with: Number.POSITIVE_INFINITY, without: Number.POSITIVE_INFINITY }
let recordedCount = 0
for (let run = 0; run < RUNS_COUNT; run += 1) {
  best.without = Math.min(best.without, (await timed(withoutRecord)).seconds)
  const { seconds, recorded } = await timed(jobs)
  best.with = Math.min(best.with, seconds)
  recordedCount = recorded
}
const ratio = best.with / best.without
process.stdout.write(
  `${ACCOUNTS_COUNT} additions: ${best.without.toFixed(1)} s without the record, ${best.with.toFixed(1)} s with it: ` +
    `${ratio.toFixed(2)} times (at most ${MAX_RATIO}); ${recordedCount} recorded\n`,
)
await fixture.close()
process.exitCode = ratio <= MAX_RATIO && recordedCount === ACCOUNTS_COUNT ? 0 : 1
