/** What the service measures of itself. README's table is checked against this list, and alerts are made of it. */
type MetricDefinition = {
  /** A counter adds up, a histogram spreads values, a gauge shows the last one. */
  readonly kind: 'counter' | 'histogram' | 'gauge'
  /** https://ucum.org, as OpenTelemetry has it: braces hold what is counted. */
  readonly unit: string
  readonly meaning: string
  /** What values are told apart by: few distinct ones each. */
  readonly by: readonly string[]
}

export const METRICS = {
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    meaning: 'Time to answer a request',
    by: ['method', 'route', 'status'],
  },
  'sync.jobs': {
    kind: 'counter',
    unit: '{job}',
    meaning: 'Sync jobs that have ended, Succeeded or Failed',
    by: ['type', 'outcome'],
  },
  'sync.job.duration': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'From a sync job being queued to its end, retries included',
    by: ['type', 'outcome'],
  },
  'sync.change.latency': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'From the request that changes a membership to the directory accepting the write',
    by: [],
  },
  'members.added': {
    kind: 'counter',
    unit: '{account}',
    meaning: 'Accounts added to directory groups, by jobs or single changes',
    by: ['cause'],
  },
  'members.removed': {
    kind: 'counter',
    unit: '{account}',
    meaning: 'Accounts removed from directory groups',
    by: ['cause'],
  },
  'members.skipped': {
    kind: 'counter',
    unit: '{member}',
    meaning: 'Members that an ended job found without an account',
    by: [],
  },
  'directory.throttled': {
    kind: 'counter',
    unit: '{call}',
    meaning: 'Calls that the directory answered with 429, items of batches each for itself',
    by: ['operation'],
  },
  'evaluation.duration': {
    kind: 'histogram',
    unit: 'ms',
    meaning: "Time to bring a tenant's criteria collections up to date",
    by: [],
  },
  'evaluation.collections': {
    kind: 'counter',
    unit: '{collection}',
    meaning: 'Collections looked at by evaluations',
    by: ['outcome'],
  },
  'sweep.completed': {
    kind: 'counter',
    unit: '{tenant}',
    meaning: "Tenants' hourly sweeps that have ended, Succeeded or Failed",
    by: ['outcome'],
  },
  'sweep.age': {
    kind: 'gauge',
    unit: 's',
    meaning: "How long ago the one of this minute's tenants was swept that has waited longest",
    by: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

export type MetricName = keyof typeof METRICS

type Dimensions<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['by'][number], string | number>>

/** Where measured values go. Never fails, and takes no time worth mentioning. */
export interface Metrics {
  record<Name extends MetricName>(name: Name, value: number, dimensions: Dimensions<Name>): void
}

/** For where nobody looks. */
export const NO_METRICS: Metrics = { record: () => undefined }
