import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from './failure.ts'

const KINDS = [
  'account',
  'listDatabases',
  'createDatabase',
  'readDatabase',
  'deleteDatabase',
  'createContainer',
  'readContainer',
  'deleteContainer',
  'readPartitionRanges',
  'read',
  'create',
  'upsert',
  'replace',
  'delete',
  'query',
  'queryPlan',
  'batch',
  'bulk',
] as const

/** The operation of a request. */
export type OperationKind = (typeof KINDS)[number]

/** Number of requested operations by kind, including rejected ones. Each page of a query counts as a query. */
export type OperationCounts = Record<OperationKind, number>

/** Initial counts. */
export const noOperations = (): OperationCounts => Object.fromEntries(KINDS.map((kind) => [kind, 0])) as OperationCounts

/** Operations by path pattern and method. The headers of POST to `docs` select the operation. */
const BY_PATH: Readonly<Record<string, Readonly<Record<string, OperationKind | 'docs'>>>> = {
  '': { GET: 'account' },
  dbs: { GET: 'listDatabases', POST: 'createDatabase' },
  'dbs/*': { GET: 'readDatabase', DELETE: 'deleteDatabase' },
  'dbs/*/colls': { POST: 'createContainer' },
  'dbs/*/colls/*': { GET: 'readContainer', DELETE: 'deleteContainer' },
  'dbs/*/colls/*/pkranges': { GET: 'readPartitionRanges' },
  'dbs/*/colls/*/docs': { POST: 'docs' },
  'dbs/*/colls/*/docs/*': { GET: 'read', PUT: 'replace', DELETE: 'delete' },
}

/** Unsupported headers that change an operation. Ignoring one would be an undetected difference from Cosmos DB. */
const REFUSED_HEADERS = [
  'a-im',
  'x-ms-documentdb-pre-trigger-include',
  'x-ms-documentdb-post-trigger-include',
  'x-ms-offer-type',
  'if-modified-since',
]

/**
 * Returns the operation of a request.
 * @param segments decoded segments of the path
 * @throws CosmosFailure 400 naming the method and path, or the header, that is not supported
 */
export function operationOf(method: string, segments: readonly string[], headers: IncomingHttpHeaders): OperationKind {
  const refused = REFUSED_HEADERS.find((name) => headers[name] !== undefined)
  if (refused !== undefined) throw badRequest(`The header ${refused} is not supported`)
  const shape = segments.map((segment, index) => (index % 2 === 0 ? segment : '*')).join('/')
  const kind = Object.hasOwn(BY_PATH, shape) ? BY_PATH[shape]?.[method] : undefined
  if (kind === undefined) throw badRequest(`${method} /${segments.join('/')} is not supported`)
  return kind === 'docs' ? operationOnItems(headers) : kind
}

function operationOnItems(headers: IncomingHttpHeaders): OperationKind {
  if (isTrue(headers, 'x-ms-cosmos-is-query-plan-request')) return 'queryPlan'
  if (isTrue(headers, 'x-ms-documentdb-isquery')) return 'query'
  if (isTrue(headers, 'x-ms-cosmos-is-batch-request')) {
    return isTrue(headers, 'x-ms-cosmos-batch-atomic') ? 'batch' : 'bulk'
  }
  return isTrue(headers, 'x-ms-documentdb-is-upsert') ? 'upsert' : 'create'
}

/** Whether the response of a batch omits written documents. */
export const wantsNoContent = (headers: IncomingHttpHeaders): boolean => headers.prefer === 'return=minimal'

/** Clients send `true` or `True`. */
const isTrue = (headers: IncomingHttpHeaders, name: string): boolean =>
  String(headers[name] ?? '').toLowerCase() === 'true'
