/** The definition of a metric. Tests compare the operations guide with the list below; alerts use it. */
type MetricDefinition = {
  readonly kind: 'counter' | 'histogram' | 'gauge'
  /** A unit of https://ucum.org. Braces contain what is counted, as in OpenTelemetry. */
  readonly unit: string
  readonly meaning: string
  /** The dimensions. Each has few distinct values. */
  readonly by: readonly string[]
}

export const METRICS = {
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    meaning: 'Duration of a request',
    by: ['method', 'route', 'status'],
  },
  'sync.jobs': {
    kind: 'counter',
    unit: '{job}',
    meaning: 'Completed sync jobs: Succeeded, Failed, or Ended because their link was disabled or deleted',
    by: ['type', 'outcome'],
  },
  'sync.job.duration': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'Time from queueing a sync job to its end, retries included',
    by: ['type', 'outcome'],
  },
  'sync.change.latency': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'Time from the request that changes a membership to the write in the directory',
    by: [],
  },
  'members.added': {
    kind: 'counter',
    unit: '{account}',
    meaning: 'Accounts added to directory groups',
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
    meaning: 'Members without an account, per completed job',
    by: [],
  },
  'links.paused': {
    kind: 'counter',
    unit: '{link}',
    meaning: 'Group links that remove no members because some have no account, per sweep of a tenant',
    by: [],
  },
  'removals.held': {
    kind: 'counter',
    unit: '{account}',
    meaning: 'Accounts that the removal guard kept from being removed, per completed job',
    by: ['reason'],
  },
  'directory.throttled': {
    kind: 'counter',
    unit: '{call}',
    meaning: 'Directory calls that returned 429; batch items count individually',
    by: ['operation'],
  },
  'evaluation.duration': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'Duration of the evaluation of a tenant',
    by: [],
  },
  'evaluation.collections': {
    kind: 'counter',
    unit: '{collection}',
    meaning: 'Evaluated collections',
    by: ['outcome'],
  },
  'evaluation.refused': {
    kind: 'counter',
    unit: '{evaluation}',
    meaning: 'Evaluations of tenants whose core objects do not fit into the memory for rows',
    by: [],
  },
  'account.conflicts': {
    kind: 'counter',
    unit: '{identity}',
    meaning: 'Identities that began to claim a directory account of another identity',
    by: [],
  },
  'audit.repaired': {
    kind: 'counter',
    unit: '{object}',
    meaning: 'Core objects that differed from the data of their connectors and were merged again',
    by: [],
  },
  'events.published': {
    kind: 'counter',
    unit: '{event}',
    meaning: 'Events that were stored for delivery, once for each subscription',
    by: [],
  },
  'events.deliveries': {
    kind: 'counter',
    unit: '{attempt}',
    meaning: 'Attempts to deliver an event, Delivered or Failed',
    by: ['outcome'],
  },
  'events.latency': {
    kind: 'histogram',
    unit: 'ms',
    meaning: 'Time from a change to the delivery of its event, retries included',
    by: [],
  },
  'events.dropped': {
    kind: 'counter',
    unit: '{event}',
    meaning: 'Events that were dropped because more waited than are kept',
    by: [],
  },
  'mails.sent': {
    kind: 'counter',
    unit: '{mail}',
    meaning:
      'Mails that the directory has accepted (Sent) or refused for good, for example for their address (Refused)',
    by: ['outcome'],
  },
  'subscriptions.disabled': {
    kind: 'counter',
    unit: '{subscription}',
    meaning: 'Event subscriptions that the service disabled',
    by: ['reason'],
  },
  'sweep.completed': {
    kind: 'counter',
    unit: '{tenant}',
    meaning: 'Completed sweeps of a tenant, Succeeded or Failed',
    by: ['outcome'],
  },
  'sweep.age': {
    kind: 'gauge',
    unit: 's',
    meaning: "Time since the oldest last sweep among this minute's tenants",
    by: [],
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>

export type MetricName = keyof typeof METRICS

type Dimensions<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['by'][number], string | number>>

/** Records measured values. Never throws and never blocks. */
export interface Metrics {
  record<Name extends MetricName>(name: Name, value: number, dimensions: Dimensions<Name>): void
}

export const NO_METRICS: Metrics = { record: () => undefined }
