/** What something costs in operations: a sweep of an idle tenant, of one link, one change, one API call. */
export type Work = {
  readonly storeOperations: number
  readonly requestUnits: number
  readonly messages: number
  readonly directoryCalls: number
  readonly directoryWrites: number
  /** Functions run: for each message, and for each HTTP request. */
  readonly executions: number
}

/** Work as it was measured on this code. */
export type MeasuredWork = {
  /** The hourly sweep of the tenant with its unchanged links, weekly comparisons and evaluation included. */
  readonly sweep: Work
  /** What the sweep costs besides in an hour with changes of five links. */
  readonly sweptChanges: Work
  /** What an evaluation in an instance that has just started adds, besides the rows. */
  readonly coldEvaluation: Work
  /** Reading a tenant's saved rows into memory, per row. */
  readonly loadedRow: Work
  /** Saving them, per row. */
  readonly savedRow: Work
  /** A daily audit without changes. */
  readonly audit: Work
  /** What each change adds to it. */
  readonly auditedChange: Work
  /** A complete audit, per row. */
  readonly auditedRow: Work
  /** A connector changes a person, who becomes a member of a collection and its group. */
  readonly change: Work
  /** Mean of the API's common reads. */
  readonly read: Work
  /** One run of the minute timer, without the sweeps that it enqueues. */
  readonly timer: Work
}

/** An average customer, and how the service is run. */
export type Workload = {
  readonly tenants: number
  readonly rowsPerTenant: number
  readonly changesPerTenantHour: number
  readonly readsPerTenantHour: number
  /** The busiest minutes, as a multiple of the average; sweeps are spread over the hour by design. */
  readonly peakFactor: number
  /** How often rows that are not in memory are loaded: `simulatedLoads`. */
  readonly loadsPerTenantHour: number
  /** Evaluations in an instance that has loaded the rows for it. */
  readonly coldEvaluationsPerTenantHour: number
}

/** Figures that only the cloud can supply. Prices in dollars are assumptions; replace them with yours. */
export const ASSUMED = {
  hoursPerMonth: 730,
  dollarsPerMillionRequestUnits: 0.25,
  busBaseDollars: 10,
  busFreeMillionOperations: 13,
  dollarsPerMillionBusOperations: 0.8,
  dollarsPerMillionExecutions: 0.4,
  dollarsPerGigabyteSecond: 0.000026,
  instanceGigabytes: 2,
  storeOperationS: 0.008,
  directoryCallS: 0.2,
  /** Messages that an instance works on at a time: host.json. */
  concurrentPerInstance: 8,
  dollarsPerGigabyteOfLogs: 2.5,
  /** Bytes of log and trace per execution: rows of the service and the host, of about 1 KB each. Nothing is sampled. */
  logBytesPerExecution: 4_000,
} as const

/** Capacity of each shared resource per second: https://learn.microsoft.com, limits of each service. */
export const CEILINGS = {
  requestUnits: { limitPerS: 5_000, meaning: 'Cosmos DB serverless, RU/s of one physical partition' },
  busOperations: { limitPerS: 1_000, meaning: 'Service Bus Standard, credits/s of a namespace' },
  directoryWrites: { limitPerS: 56_000 / 300, meaning: 'Graph writes of one application, DIRECTORY_WRITES_TOTAL' },
  busyExecutions: { limitPerS: 100 * 8, meaning: 'Flex Consumption, 100 instances of 8 messages each' },
} as const

export type Resource = keyof typeof CEILINGS

export type Forecast = {
  readonly workload: Workload
  readonly perMonth: Work & { readonly busOperations: number; readonly busySeconds: number }
  readonly dollars: { cosmos: number; bus: number; functions: number; logs: number }
  /** Peak use of each resource as a share of its ceiling. */
  readonly utilisation: Readonly<Record<Resource, number>>
  readonly firstBottleneck: Resource
  /** Tenants of this kind at which it is reached. */
  readonly maxTenants: number
}

const NAMES = [
  'storeOperations',
  'requestUnits',
  'messages',
  'directoryCalls',
  'directoryWrites',
  'executions',
] as const satisfies readonly (keyof Work)[]

/** Sum of works, each times its number. */
export function combined(parts: readonly (readonly [work: Work, times: number])[]): Work {
  const total = (name: keyof Work) => parts.reduce((sum, [work, times]) => sum + work[name] * times, 0)
  return Object.fromEntries(NAMES.map((name) => [name, total(name)])) as Work
}

const HOURS_PER_DAY = 24

/** All rows are audited after this time. */
const AUDITED_EVERY_HOURS = 84 * HOURS_PER_DAY

/** Rows in use are saved again after this time: `isSaveDue`. Others are loaded and saved by the weekly evaluation. */
const SAVED_EVERY_HOURS = 20
const UNUSED_SAVED_EVERY_HOURS = 160

/** A message is sent, received and settled. About half of them are evaluations, which begin and end a session. */
const BUS_OPERATIONS_PER_MESSAGE = 3

/** The formulas, as they are printed. */
export const FORMULAS = [
  'tenant-hour  = sweep + sweptChanges + loads x rows x loadedRow + coldEvaluations x coldEvaluation + changes x change + reads x read',
  '               + audit / 24 + changes x auditedChange + rows x (auditedRow / (84 x 24) + savedRow / 20)',
  'without changes: no sweptChanges; + rows x (loadedRow + savedRow) / 160 instead of rows x savedRow / 20',
  'month        = hours x (tenants x tenant-hour + 60 x timer)',
  'bus          = 3 x messages (send, receive, settle)',
  'busy seconds = storeOperations x storeOperationS + directoryCalls x directoryCallS',
  'functions    = executions x price + busy seconds / concurrentPerInstance x GB x price',
  'use          = month / (hours x 3600) x peakFactor / ceiling; the highest is the first bottleneck',
] as const

/** What an hour of a tenant consists of. */
export function partsOfHour(
  measured: MeasuredWork,
  { rowsPerTenant, changesPerTenantHour, readsPerTenantHour, ...workload }: Workload,
): readonly { readonly name: string; readonly work: Work; readonly times: number }[] {
  const isChanging = changesPerTenantHour > 0
  const savedEveryHours = isChanging ? SAVED_EVERY_HOURS : UNUSED_SAVED_EVERY_HOURS
  return [
    { name: 'changes', work: measured.change, times: changesPerTenantHour },
    { name: 'reads', work: measured.read, times: readsPerTenantHour },
    { name: 'loads of rows', work: measured.loadedRow, times: workload.loadsPerTenantHour * rowsPerTenant },
    {
      name: 'evaluations after these loads',
      work: measured.coldEvaluation,
      times: workload.coldEvaluationsPerTenantHour,
    },
    { name: 'sweep', work: measured.sweep, times: 1 },
    { name: 'changes in it', work: measured.sweptChanges, times: isChanging ? 1 : 0 },
    {
      name: 'rows of the weekly evaluation',
      work: measured.loadedRow,
      times: isChanging ? 0 : rowsPerTenant / savedEveryHours,
    },
    { name: 'saved rows', work: measured.savedRow, times: rowsPerTenant / savedEveryHours },
    { name: 'daily audit', work: measured.audit, times: 1 / HOURS_PER_DAY },
    { name: 'changes in the audit', work: measured.auditedChange, times: changesPerTenantHour },
    { name: 'complete audit', work: measured.auditedRow, times: rowsPerTenant / AUDITED_EVERY_HOURS },
  ]
}

/** What a workload costs and where it first meets a limit. */
export function forecast(measured: MeasuredWork, workload: Workload): Forecast {
  const { tenants, peakFactor } = workload
  const tenantHour = combined(partsOfHour(measured, workload).map(({ work, times }) => [work, times] as const))
  const hours = ASSUMED.hoursPerMonth
  const month = combined([
    [tenantHour, hours * tenants],
    [measured.timer, hours * 60],
  ])
  const busOperations = month.messages * BUS_OPERATIONS_PER_MESSAGE
  const busySeconds = month.storeOperations * ASSUMED.storeOperationS + month.directoryCalls * ASSUMED.directoryCallS
  const perSecond = { ...month, busOperations, busyExecutions: busySeconds }
  const use = (resource: Resource) =>
    ((perSecond[resource] / (hours * 3600)) * peakFactor) / CEILINGS[resource].limitPerS
  const resources = Object.keys(CEILINGS) as Resource[]
  const utilisation = Object.fromEntries(
    resources.map((resource) => [resource, use(resource)]),
  ) as Forecast['utilisation']
  const firstBottleneck = resources.reduce((first, next) => (utilisation[next] > utilisation[first] ? next : first))
  return {
    workload,
    perMonth: { ...month, busOperations, busySeconds },
    dollars: dollarsOf({ ...month, busOperations, busySeconds }),
    utilisation,
    firstBottleneck,
    maxTenants: Math.floor(tenants / utilisation[firstBottleneck]),
  }
}

function dollarsOf(month: Forecast['perMonth']): Forecast['dollars'] {
  const million = 1e6
  const paidBusMillions = Math.max(0, month.busOperations / million - ASSUMED.busFreeMillionOperations)
  const gigabyteSeconds = (month.busySeconds / ASSUMED.concurrentPerInstance) * ASSUMED.instanceGigabytes
  return {
    cosmos: (month.requestUnits / million) * ASSUMED.dollarsPerMillionRequestUnits,
    bus: ASSUMED.busBaseDollars + paidBusMillions * ASSUMED.dollarsPerMillionBusOperations,
    functions:
      (month.executions / million) * ASSUMED.dollarsPerMillionExecutions +
      gigabyteSeconds * ASSUMED.dollarsPerGigabyteSecond,
    logs: ((month.executions * ASSUMED.logBytesPerExecution) / 1e9) * ASSUMED.dollarsPerGigabyteOfLogs,
  }
}
