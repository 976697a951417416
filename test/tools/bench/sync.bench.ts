import { setFlagsFromString } from 'node:v8'
import { instanceWriteBudget } from '../../../shared/domain/sync/write-budget.ts'
import { directorySeed, users } from '../../support/jobs/link-directory.ts'
import { openFixture } from '../../support/jobs/link-fixture.ts'

/**
 * The first sync of 20,000 accounts into an empty group, under the write budget of production. Database, queue and
 * directory run in the same process: its memory is more than a worker's.
 */
const ACCOUNTS_COUNT = 20_000
const MAX_SECONDS = 30
const MAX_MEGABYTES = 300

// Closer to a worker of the cloud, which has little to spare, than a heap that grows as far as the machine allows.
setFlagsFromString('--max-old-space-size=256')

const fixture = await openFixture({ seed: directorySeed(ACCOUNTS_COUNT) })
const { nowMs: elapsedMs } = fixture.clock
const budget = instanceWriteBudget({ writesPerTenant: 2_400, writesTotal: 56_000, elapsedMs })
const { collectionId } = await fixture.linked(users(0, ACCOUNTS_COUNT))
const megabytes = () => Math.round(process.memoryUsage().rss / 1024 / 1024)
const beforeMegabytes = megabytes()
let mostMegabytes = beforeMegabytes
const watch = setInterval(() => {
  mostMegabytes = Math.max(mostMegabytes, megabytes())
}, 20)
const startMs = performance.now()
await fixture.drain({ ...fixture.deps, budget })
const seconds = (performance.now() - startMs) / 1000
clearInterval(watch)
const [job] = await fixture.jobsOf(collectionId)
const requests = fixture.server.requests()
process.stdout.write(
  `${job?.status}: ${job?.added} added in ${seconds.toFixed(1)} s (at most ${MAX_SECONDS} s), ` +
    `${requests.length} calls of the directory, ${mostMegabytes} MB at most (${MAX_MEGABYTES} MB allowed; ` +
    `${beforeMegabytes} MB before, servers included)\n`,
)
await fixture.close()
const isGood = job?.status === 'Succeeded' && job.added === ACCOUNTS_COUNT
process.exitCode = isGood && seconds < MAX_SECONDS && mostMegabytes < MAX_MEGABYTES ? 0 : 1
