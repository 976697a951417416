import type { IndexingPolicy } from '@azure/cosmos'

/** One container of the database, as the templates declare it and the local database creates it. */
export type ContainerDefinition = {
  readonly id: string
  /** Path of the partition key. Its value always begins with, or is, the tenant's id. */
  readonly partitionKey: string
  /** Seconds. -1 lets each document carry its own `ttl`; absent: documents never expire. */
  readonly defaultTtlS?: number
  /** Paths that are unique within a partition. */
  readonly uniqueKeys?: readonly (readonly string[])[]
  /**
   * Properties by which queries over a whole tenant look for single documents. All properties but the unindexed ones
   * have an index in the cloud; the local database makes these before the first query has to wait.
   */
  readonly indexed?: readonly string[]
  /** Properties in whose order queries want documents, each with the one in which these look for a text. */
  readonly searched?: readonly (readonly [order: string, text: string])[]
  /**
   * Paths of what no query asks for, and what is long or often written: each index entry is paid for with each write.
   */
  readonly unindexed?: readonly string[]
}

export const DATABASE_ID = 'collections'

/** All containers of the database. Stores and the local database read this list; a test compares the templates with it. */
export const CONTAINERS = [
  {
    id: 'coreObjects',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    indexed: [
      '/objectType',
      '/attributes/nin',
      '/attributes/directoryObjectId',
      '/attributes/directoryOnPremisesSamAccountName',
      '/attributes/employeeId',
      '/externalId',
      '/accountChangedAtMs',
      '/claimedAccount',
      '/unresolvedIn',
    ],
    searched: [
      ['/search/identity/name', '/search/identity/text'],
      ['/search/orgUnit/name', '/search/orgUnit/text'],
      ['/search/relationship/name', '/search/relationship/text'],
    ],
    unindexed: ['/contributors/*', '/changes/*'],
  },
  { id: 'connectors', partitionKey: '/tenantId', unindexed: ['/attributeTypes/*'] },
  {
    id: 'connectorObjects',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    indexed: [
      '/data/nin',
      '/data/directoryObjectId',
      '/foldedKeys/nin',
      '/foldedKeys/email',
      '/foldedKeys/employeeNumber',
      '/foldedKeys/directoryUserPrincipalName',
      '/hasConflicts',
    ],
    unindexed: ['/data/*', '/formerIds/*'],
  },
  { id: 'collections', partitionKey: '/tenantId', unindexed: ['/definition/?', '/description/?', '/entry/?'] },
  {
    id: 'members',
    partitionKey: '/membersOf',
    defaultTtlS: -1,
    unindexed: ['/ids/*', '/causes/*', '/accounts/*', '/packedAdded/?', '/packedRemoved/?', '/packedRows/?'],
  },
  {
    id: 'requests',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    unindexed: ['/notes/?', '/lifecycle/*', '/causes/*', '/entry/?'],
  },
  {
    id: 'links',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    uniqueKeys: [['/directoryGroupId']],
    unindexed: [
      '/lease/*',
      '/recentWrites/*',
      '/removalWindow/*',
      '/unseenAdditions/*',
      '/unresolved/*',
      '/withoutAccount/*',
      '/acceptedWithoutAccount/*',
      '/entry/?',
    ],
  },
  {
    id: 'jobs',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    unindexed: [
      '/unresolved/*',
      '/journal/*',
      '/error/?',
      '/approvalNotes/?',
      '/entry/?',
      '/packedLinks/?',
      '/packedAdded/?',
      '/packedRemoved/?',
      '/skippedCounts/*',
    ],
  },
  { id: 'removalPlans', partitionKey: '/planOf', defaultTtlS: -1, unindexed: ['/accounts/?'] },
  {
    id: 'tenants',
    partitionKey: '/tenantId',
    unindexed: ['/entries/*', '/customAttributes/*', '/trackedGroups/*', '/sweepLog/*'],
  },
  {
    id: 'events',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    unindexed: ['/subscriptions/*', '/deliveries/*', '/entry/?', '/notice/*', '/mailbox/*'],
  },
  {
    id: 'idempotencyKeys',
    partitionKey: '/tenantId',
    defaultTtlS: -1,
    unindexed: ['/result/?', '/fingerprint/?', '/seed/?', '/inProgressUntilMs/?'],
  },
] as const satisfies readonly ContainerDefinition[]

export type ContainerId = (typeof CONTAINERS)[number]['id']

/**
 * What Cosmos is told of a container's indexes. Of two paths the longer one counts, so that an indexed property may lie
 * below an unindexed one. https://learn.microsoft.com/azure/cosmos-db/index-policy
 */
export function indexingPolicyOf({ indexed = [], searched = [], unindexed = [] }: ContainerDefinition): IndexingPolicy {
  return {
    automatic: true,
    indexingMode: 'consistent',
    includedPaths: [{ path: '/*' }, ...indexed.map((path) => ({ path: `${path}/?` }))],
    // Cosmos adds the ETag itself where it is left out, and the templates would differ from what is there.
    excludedPaths: [...unindexed.map((path) => ({ path })), { path: '/"_etag"/?' }],
    compositeIndexes: searched.map((paths) => paths.map((path) => ({ path, order: 'ascending' }))),
  }
}
