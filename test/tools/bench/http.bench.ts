import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { newDataFolder } from '../../support/journeys/started-environment.ts'
import { requestCosts } from './dispatch-cost.ts'
import type { ServedForMeasuring } from './http-service.ts'

/**
 * The rate of single reads over HTTP beside that of a function that does nothing, on hosts of one process, in turns;
 * and what it costs to find, authenticate, authorise and validate a request. Bars: 0.7 of the empty function's rate for
 * reads of collections, always the same one or others in turn; 0.15 ms a request. Ends with 1 when one is missed.
 */
const CONNECTION_COUNT = 50
const ROUND_COUNT = 5
const ROUND_S = 3
const SHARE_AT_LEAST = 0.7
const MAX_COST_MS = 0.15

const report = (what: string, measured: string): boolean => process.stdout.write(`${what.padEnd(60)}${measured}\n`)
const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN

const costs = await requestCosts()
for (const { what, costMs } of costs) report(what, `${costMs.toFixed(4)} ms`)

/** Limits of requests are checked and never reached. */
const LIMITS = { REQUESTS_PER_CALLER_PER_MINUTE: '999999999', REQUESTS_PER_TENANT_PER_MINUTE: '999999999' }
const child = fork(join(import.meta.dirname, 'http-service.ts'), [newDataFolder()], {
  env: { ...process.env, LOG_LEVEL: 'warn', ...LIMITS },
  execArgv:
    process.env.PROFILE_FOLDER === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE_FOLDER}`],
})
const [served] = (await once(child, 'message')) as [ServedForMeasuring]
const headers = { authorization: `Bearer ${served.token}` }
const paths = served.paths.map((path) => ({ path }))
const TARGETS = {
  'an empty function': { url: served.emptyUrl },
  'one collection': { url: `${served.apiUrl}${served.paths[0]}`, headers },
  'a hundred collections in turn': { url: served.apiUrl, headers, requests: paths },
}
type Target = keyof typeof TARGETS

const rates = new Map<Target, number[]>()
for (let round = 0; round <= ROUND_COUNT; round += 1) {
  for (const [name, target] of Object.entries(TARGETS) as [Target, { url: string }][]) {
    const result = await autocannon({ ...target, connections: CONNECTION_COUNT, duration: ROUND_S })
    if (result.errors + result.non2xx > 0)
      throw new Error(`${name}: ${result.errors} errors, ${result.non2xx} refusals`)
    // The first round warms up.
    if (round > 0) rates.set(name, [...(rates.get(name) ?? []), result.requests.average])
  }
}
child.disconnect()
await once(child, 'exit')

const emptyRate = median(rates.get('an empty function') ?? [])
const shares = [...rates].map(([name, measured]) => {
  const share = median(measured) / emptyRate
  report(name, `${median(measured).toFixed(0)} requests/s, ${share.toFixed(2)} of the empty one`)
  return share
})
const isFast = shares.every((share) => share >= SHARE_AT_LEAST)
const isCheap = costs.every(({ costMs, hasLimit }) => !hasLimit || costMs < MAX_COST_MS)
report(`reads at ${SHARE_AT_LEAST} of the empty function's rate`, isFast ? 'met' : 'MISSED')
report(`under ${MAX_COST_MS} ms before the route runs`, isCheap ? 'met' : 'MISSED')
process.exitCode = isFast && isCheap ? 0 : 1
