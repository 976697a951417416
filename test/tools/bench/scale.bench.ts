import { measureWork } from './measured-work.ts'
import {
  ASSUMED,
  CEILINGS,
  FORMULAS,
  type Forecast,
  forecast,
  partsOfHour,
  type Resource,
  type Work,
  type Workload,
} from './scale-model.ts'
import { simulatedLoads } from './simulated-loads.ts'

/** What the service costs, and what it meets first, with 10, 1,000 and 100,000 tenants of one kind. */
const TENANTS = [10, 1_000, 100_000]

const WORKLOAD: Omit<Workload, 'tenants' | 'loadsPerTenantHour' | 'coldEvaluationsPerTenantHour'> = {
  rowsPerTenant: 8_000,
  changesPerTenantHour: 5,
  readsPerTenantHour: 60,
  peakFactor: 3,
}

/** Links of the tenant whose sweeps and evaluations are measured. */
const LINKS_PER_TENANT = 50

/** Instances of the function that evaluates, and how long each lives. */
const EVALUATING = { rowsPerInstance: 1_500_000, instances: 4, lifeHours: 6 }

/** Without changes, links are compared in a number of consecutive hours, and again after a number of hours. */
const COMPARED_IN_HOURS = 5
const REPEATED_AFTER_HOURS = 160

/** Saved rows are loaded once by each of as many instances of the function that compares. */
const LOADS_PER_SCHEDULE = EVALUATING.instances * (1 - (1 - 1 / EVALUATING.instances) ** COMPARED_IN_HOURS)

async function workloadOf(tenants: number): Promise<Workload> {
  const { rowsPerTenant, changesPerTenantHour } = WORKLOAD
  const run = { tenants, rowsPerTenant, changesPerTenantHour, ...EVALUATING }
  const loadsPerTenantHour = await simulatedLoads(run)
  return { ...WORKLOAD, tenants, loadsPerTenantHour, coldEvaluationsPerTenantHour: loadsPerTenantHour }
}

const print = (line = '') => process.stdout.write(`${line}\n`)

const short = (value: number): string => {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} G`
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`
  if (value >= 1e4) return `${(value / 1e3).toFixed(0)} k`
  return value >= 10 ? value.toFixed(0) : value.toFixed(2)
}

const percent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`

const table = (rows: readonly (readonly string[])[]): void => {
  for (const [index, row] of rows.entries()) {
    print(`| ${row.join(' | ')} |`)
    if (index === 0) print(`|${row.map(() => '---').join('|')}|`)
  }
}

const workloads = await Promise.all(TENANTS.map(workloadOf))
const { work, rowsPerTenant, membersPerLink } = await measureWork((line) => print(`measured: ${line}`))
print()
print(`Measured on a tenant of ${rowsPerTenant} rows with links of ${membersPerLink} members:`)
const workRow = (name: string, { storeOperations, requestUnits, messages, executions, ...calls }: Work) => {
  const counts = [storeOperations, requestUnits, messages, executions, calls.directoryCalls, calls.directoryWrites]
  return [name, ...counts.map(short)]
}
table([
  ['work', 'store operations', 'RU', 'messages', 'executions', 'directory calls', 'directory writes'],
  ...Object.entries(work).map(([name, counts]) => workRow(name, counts)),
])
print()
for (const formula of FORMULAS) print(formula)
print()
print(`Workload: ${JSON.stringify({ linksPerTenant: LINKS_PER_TENANT, ...WORKLOAD, ...EVALUATING })}`)
print(`Assumed: ${JSON.stringify(ASSUMED)}`)
print()
const forecasts = workloads.map((workload) => forecast(work, workload))
const unchanging = {
  ...WORKLOAD,
  tenants: 1_000,
  loadsPerTenantHour: LOADS_PER_SCHEDULE / REPEATED_AFTER_HOURS,
  coldEvaluationsPerTenantHour: 1 / REPEATED_AFTER_HOURS,
  changesPerTenantHour: 0,
  readsPerTenantHour: 0,
}
const hourOf = (workload: Workload) => partsOfHour(work, workload).map((part) => part.work.requestUnits * part.times)
const hours = [...workloads, unchanging].map(hourOf)
print('Request units of an hour of one tenant:')
table([
  [
    'part',
    ...workloads.map(({ tenants }) => `one of ${tenants.toLocaleString('en')}`),
    'one without changes and reads',
  ],
  ...partsOfHour(work, unchanging).map(({ name }, index) => [name, ...hours.map((hour) => short(hour[index] ?? 0))]),
  ['all', ...hours.map((hour) => short(hour.reduce((sum, units) => sum + units, 0)))],
  ['month', ...hours.map((hour) => short(hour.reduce((sum, units) => sum + units, 0) * ASSUMED.hoursPerMonth))],
])
print()
const row = ({ workload, perMonth, dollars, firstBottleneck, ...found }: Forecast): string[] => [
  workload.tenants.toLocaleString('en'),
  workload.loadsPerTenantHour.toFixed(2),
  short(perMonth.requestUnits),
  short(perMonth.busOperations),
  short(perMonth.executions),
  short(perMonth.directoryCalls),
  Object.values(dollars)
    .map((amount) => Math.round(amount).toLocaleString('en'))
    .join(' / '),
  `${firstBottleneck} (${percent(found.utilisation[firstBottleneck])})`,
  found.maxTenants.toLocaleString('en'),
]
table([
  [
    'tenants',
    'loads per tenant-hour',
    'RU/month',
    'bus operations',
    'executions',
    'directory calls',
    '$ Cosmos / bus / functions / logs',
    'first bottleneck (use at peak)',
    'reached at',
  ],
  ...forecasts.map(row),
])
print()
print('Use at peak, of what each shared resource takes:')
const resources = Object.keys(CEILINGS) as Resource[]
table([
  ['tenants', ...resources],
  ...forecasts.map(({ workload, utilisation }) => {
    return [workload.tenants.toLocaleString('en'), ...resources.map((resource) => percent(utilisation[resource]))]
  }),
])
print()
for (const [resource, { limitPerS, meaning }] of Object.entries(CEILINGS)) {
  print(`${resource}: ${limitPerS.toFixed(0)} per second (${meaning})`)
}
process.exit(0)
