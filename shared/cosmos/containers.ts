/** One container of the database, as the templates declare it and the local database creates it. */
export type ContainerDefinition = {
  readonly id: string
  /** Path of the partition key. Its value always begins with, or is, the tenant's id. */
  readonly partitionKey: string
  /** Seconds. -1 lets each document carry its own `ttl`; absent: documents never expire. */
  readonly defaultTtlS?: number
  /** Paths that are unique within a partition. */
  readonly uniqueKeys?: readonly (readonly string[])[]
}

export const DATABASE_ID = 'collections'

/** Every container there is: architecture, "Data". Stores, local database and templates read this list. */
export const CONTAINERS = [
  { id: 'coreObjects', partitionKey: '/tenantId', defaultTtlS: -1 },
  { id: 'connectors', partitionKey: '/tenantId' },
  { id: 'connectorObjects', partitionKey: '/tenantId', defaultTtlS: -1 },
  { id: 'collections', partitionKey: '/tenantId' },
  { id: 'members', partitionKey: '/membersOf', defaultTtlS: -1 },
  { id: 'requests', partitionKey: '/tenantId', defaultTtlS: -1 },
  { id: 'links', partitionKey: '/tenantId', uniqueKeys: [['/directoryGroupId']] },
  { id: 'jobs', partitionKey: '/tenantId', defaultTtlS: -1 },
  { id: 'tenants', partitionKey: '/tenantId' },
  { id: 'idempotencyKeys', partitionKey: '/tenantId', defaultTtlS: -1 },
] as const satisfies readonly ContainerDefinition[]

export type ContainerId = (typeof CONTAINERS)[number]['id']
