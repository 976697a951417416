import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { newDataFolder } from '../../support/journeys/started-environment.ts'
import type { CallerWish, ServedRoutes, ServiceStrain } from './routes-service.ts'
import { idOf } from './sized-objects.ts'
import {
  EMPLOYEE_INDEX,
  LARGEST_CRITERIA_ID,
  LARGEST_JOINABLE_ID,
  SIZES,
  TOP_MANAGER_INDEX,
  UNIT_MANAGER_INDEX,
} from './sized-tenant.ts'

/**
 * What each way of reading costs in a tenant of 212,000 objects, 10,000 collections, and 10,000 requests and 200,000
 * members in one of them: time of the first call and the calls after it, how long the one thread served no other caller,
 * what the database was asked for, and memory. Usage: `npm run bench -- routes [data folder that the next run
 * finds again] [part of the names of what to measure]`.
 */
const CALLS_COUNT = 7

const COLLECTIONS_ADMINISTRATOR = 'collection_criteria_definition-administrator'
const employee = idOf('identity', EMPLOYEE_INDEX)
const CALLERS = {
  writer: { roles: ['collections-criteria.criteria.readwrite.all'] },
  operator: { roles: ['iam-core.synchronization-configuration.read.all'] },
  employee: { roles: ['User'], account: employee },
  unitManager: { roles: ['User'], account: idOf('identity', UNIT_MANAGER_INDEX) },
  topManager: { roles: ['User'], account: idOf('identity', TOP_MANAGER_INDEX) },
  administrator: { roles: ['User', COLLECTIONS_ADMINISTRATOR], account: employee },
} as const satisfies Record<string, CallerWish>

type Measured = {
  readonly name: string
  readonly caller: keyof typeof CALLERS
  readonly path: string
  readonly body?: unknown
}

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => idOf('identity', (index * 7) % SIZES.identity))
const everybody = { id: 'identityDisplayName', field: 'identityDisplayName', operator: 'StartsWith', value: 'Person' }
const nested = Array.from({ length: 8 }, (_, depth) => depth).reduce(
  (field, depth) => `${depth % 2 === 0 ? 'ToUpper' : 'ToLower'}(Substring(${field},0,90))`,
  'identityDisplayName',
)
/** Near the limit of 128 KB. */
const hostile = Array.from({ length: 425 }, (_, index) => {
  return { id: 'identityDisplayName', field: nested, operator: 'Contains', value: `nowhere ${index}` }
})
const preview = (conditions: readonly unknown[], objectType = 'Identity') => ({
  preview: { objectType, condition: { groupOperator: 'OR', conditions } },
})

const CORE = '/iamcore/beta/sync/coreobjects'
const REQUESTS = '/collections-joinable/beta/membership-requests'
const ROUTES: readonly Measured[] = [
  { name: 'an employee, oneself', caller: 'employee', path: `${CORE}/identities/${employee}` },
  { name: 'an employee, list', caller: 'employee', path: `${CORE}/identities` },
  { name: 'a unit manager, list', caller: 'unitManager', path: `${CORE}/relationships` },
  { name: 'a unit manager, search', caller: 'unitManager', path: `${CORE}/identities/search?text=person` },
  { name: 'member-of', caller: 'employee', path: '/collections-joinable/beta/member-of' },
  { name: 'top manager, list', caller: 'topManager', path: `${CORE}/identities` },
  { name: 'collections', caller: 'writer', path: '/collections/beta' },
  { name: 'collections of a type', caller: 'writer', path: '/collections/beta?objectType=Relationship' },
  { name: 'criteria collections', caller: 'writer', path: '/collections-criteria/beta' },
  { name: 'joinable collections', caller: 'writer', path: '/collections-joinable/beta' },
  { name: 'search, a rare tag', caller: 'writer', path: '/collections/beta/search?tags=rare+77' },
  { name: 'search, a common attribute', caller: 'writer', path: '/collections/beta/search?attributes=owner:team+7' },
  { name: 'results of 200,000', caller: 'writer', path: `/collections/beta/${LARGEST_CRITERIA_ID}/results` },
  {
    name: 'filter-members, 10,000 ids',
    caller: 'writer',
    path: `/collections/beta/${LARGEST_CRITERIA_ID}/filter-members`,
    body: ids(10_000),
  },
  { name: 'results, 5,000 joined', caller: 'writer', path: `/collections/beta/${LARGEST_JOINABLE_ID}/results` },
  { name: '10,000 requests', caller: 'writer', path: `${REQUESTS}/${LARGEST_JOINABLE_ID}` },
  { name: 'eligible, of 5,000', caller: 'employee', path: `${REQUESTS}/eligible` },
  { name: 'to review', caller: 'administrator', path: `${REQUESTS}/pending-approval-review` },
  { name: 'multiple, 1,000 ids', caller: 'operator', path: `${CORE}/identities/multiple`, body: { ids: ids(1000) } },
  { name: 'page of 5,000', caller: 'operator', path: `${CORE}/identities?pageSize=5000` },
  { name: 'search, all match', caller: 'operator', path: `${CORE}/identities/search?text=person` },
  { name: 'tenant schemas', caller: 'writer', path: '/collections-criteria/beta/tenant-schemas' },
  {
    name: 'preview of everybody',
    caller: 'writer',
    path: '/collections-criteria/beta/preview',
    body: preview([everybody]),
  },
  {
    name: 'preview, compared with 200,000',
    caller: 'writer',
    path: '/collections-criteria/beta/preview',
    body: { ...preview([everybody], 'Relationship'), currentId: LARGEST_CRITERIA_ID },
  },
  { name: 'hostile preview', caller: 'writer', path: '/collections-criteria/beta/preview', body: preview(hostile) },
]

const report = (...cells: readonly (string | number)[]): void => {
  const [name = '', ...rest] = cells
  process.stdout.write(`${String(name).padEnd(32)}${rest.map((cell) => String(cell).padStart(13)).join('')}\n`)
}

const [folder = newDataFolder(), only = ''] = process.argv.slice(2)
const child = fork(join(import.meta.dirname, 'routes-service.ts'), [folder, JSON.stringify(CALLERS)], {
  env: { ...process.env, LOG_LEVEL: 'warn', REQUESTS_PER_CALLER_PER_MINUTE: '0' },
  execArgv: [
    '--max-semi-space-size=8',
    ...(process.env.PROFILE_FOLDER === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env.PROFILE_FOLDER}`]),
  ],
})
const [served] = (await once(child, 'message')) as [ServedRoutes]
report('', 'first', 'median', 'worst', 'first stall', 'later stall', 'kB', 'operations', 'MB of memory')
for (const measured of ROUTES.filter(({ name }) => name.includes(only))) await reportRoute(measured)
child.disconnect()
await once(child, 'exit')

async function reportRoute(measured: Measured): Promise<void> {
  await strain()
  const first = await call(measured)
  const { stallMs: firstStallMs } = await strain()
  const timesMs: number[] = []
  let operationCount = 0
  let stallMs = 0
  let memoryMB = 0
  for (let time = 1; time < CALLS_COUNT; time += 1) {
    timesMs.push((await call(measured)).tookMs)
    const seen = await strain()
    stallMs = Math.max(stallMs, seen.stallMs)
    memoryMB = Math.max(memoryMB, seen.memoryMB)
    operationCount = seen.operationCount
  }
  timesMs.sort((left, right) => left - right)
  const [medianMs = 0, worstMs = 0] = [timesMs[timesMs.length >>> 1], timesMs.at(-1)]
  const rounded = [first.tookMs, medianMs, worstMs, firstStallMs, stallMs].map(Math.round)
  report(measured.name, ...rounded, Math.round(first.sizeBytes / 1000), operationCount, memoryMB)
}

async function strain(): Promise<ServiceStrain> {
  const told = once(child, 'message')
  child.send('strain')
  return ((await told) as [ServiceStrain])[0]
}

async function call({ name, caller, path, body }: Measured): Promise<{ tookMs: number; sizeBytes: number }> {
  const startedMs = performance.now()
  const answer = await fetch(`${served.apiUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${served.tokens[caller]}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const bytes = await answer.arrayBuffer()
  const tookMs = performance.now() - startedMs
  if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${Buffer.from(bytes).toString().slice(0, 300)}`)
  return { tookMs, sizeBytes: bytes.byteLength }
}
