import type { KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from '../../../shared/kernel/json.ts'
import type { Catalog, Container } from './catalog.ts'
import { type Partition, parsePartition, requireItemSize } from './item-rules.ts'
import { createItem, deleteItem, type ItemAnswer, readItem, replaceItem, type Target, upsertItem } from './items.ts'
import { parseObject } from './json-values.ts'
import { answerQuery, QUERY_PLAN } from './query-request.ts'
import { type Answer, badRequest, jsonAnswer } from './response.ts'
import type { Storage } from './storage.ts'
import { type BatchAnswer, batchBody, parseBatch, runAtomicBatch, runBulk } from './transactional-batch.ts'

export type Account = {
  readonly storage: Storage
  readonly catalog: Catalog
  /** The master key, which also signs continuation tokens. */
  readonly key: KeyObject
  readonly isStrict: boolean
  readonly endpoint: string
}

export type Call = {
  readonly account: Account
  /** The decoded path: `dbs`, database, `colls`, container, `docs`, item. */
  readonly segments: readonly string[]
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const PARTITION_HEADER = 'x-ms-documentdb-partitionkey'
const NO_CONTENT: Answer = { status: 204, body: undefined }

export const HANDLERS = {
  account: ({ account }) => jsonAnswer(200, accountResource(account.endpoint)),
  createDatabase: ({ account: { catalog }, body }) => jsonAnswer(201, catalog.createDatabase(body)),
  readDatabase: ({ account: { catalog }, segments }) => jsonAnswer(200, catalog.database(databaseId(segments))),
  deleteDatabase: ({ account: { catalog }, segments }) => {
    catalog.deleteDatabase(databaseId(segments))
    return NO_CONTENT
  },
  createContainer: ({ account: { catalog }, segments, body }) =>
    containerAnswer(201, catalog.createContainer(databaseId(segments), body)),
  readContainer: (call) => containerAnswer(200, containerOf(call)),
  readPartitionRanges: (call) => {
    const { rid } = containerOf(call)
    const ranges = [{ id: '0', minInclusive: '', maxExclusive: 'FF' }]
    return jsonAnswer(200, { _rid: rid, PartitionKeyRanges: ranges, _count: 1 }, containerHeaders(rid))
  },
  read: (call) => item(call, (target) => readItem(target, itemId(call))),
  create: (call) => write(call, (target) => createItem(target, itemIn(call))),
  upsert: (call) => write(call, (target) => upsertItem(target, itemIn(call))),
  replace: (call) => write(call, (target) => replaceItem(target, itemId(call), itemIn(call))),
  delete: (call) => write(call, (target) => deleteItem(target, itemId(call))),
  batch: (call) => batchAnswer(runAtomicBatch(targetOf(call), parseBatch(call.body)), call),
  bulk: (call) => batchAnswer(runBulk(bulkTargetOf(call), parseBatch(call.body)), call),
  queryPlan: () => jsonAnswer(200, QUERY_PLAN),
  query: (call) => {
    const { account, headers, body } = call
    const place = { storage: account.storage, container: containerOf(call), partition: partitionIn(headers) }
    return answerQuery(place, account, headers, body)
  },
} as const satisfies Readonly<Record<string, (call: Call) => Answer>>

export type OperationKind = keyof typeof HANDLERS

/** Number of requested operations by kind, including rejected ones. Each page of a query counts as a query. */
export type OperationCounts = Record<OperationKind, number>

export const noOperations = (): OperationCounts =>
  Object.fromEntries(Object.keys(HANDLERS).map((kind) => [kind, 0])) as OperationCounts

const databaseId = (segments: readonly string[]): string => segments[1] ?? ''
const containerId = (segments: readonly string[]): string => segments[3] ?? ''
function itemIn({ body }: Call): JsonObject {
  requireItemSize(body)
  return parseObject(body, 'The item')
}

const itemId = ({ segments }: Call): string => segments[5] ?? ''

/** The container that the path names. @throws CosmosFailure 404 */
export const containerOf = ({ account, segments }: Pick<Call, 'account' | 'segments'>): Container =>
  account.catalog.container(databaseId(segments), containerId(segments))

const containerHeaders = (rid: string) => ({ 'x-ms-content-path': rid })

const containerAnswer = (status: number, { resource, rid }: Container): Answer =>
  jsonAnswer(status, resource, { ...containerHeaders(rid), etag: String(resource._etag) })

function bulkTargetOf(call: Call): Omit<Target, 'partition'> {
  const { account, headers } = call
  return {
    storage: account.storage,
    container: containerOf(call),
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
  }
}

function targetOf(call: Call): Target {
  const target = bulkTargetOf(call)
  const partition = partitionIn(call.headers)
  if (partition === undefined) throw badRequest(`The header ${PARTITION_HEADER} is missing`)
  return { ...target, partition }
}

function partitionIn(headers: IncomingHttpHeaders): Partition | undefined {
  const partition = headers[PARTITION_HEADER]
  return partition === undefined ? undefined : parsePartition(String(partition))
}

function item(call: Call, work: (target: Target) => ItemAnswer): Answer {
  const target = targetOf(call)
  const { status, etag, body, charge } = work(target)
  const headers = { 'x-ms-request-charge': charge }
  return { status, body, headers: etag === undefined ? headers : { ...headers, etag } }
}

const write = (call: Call, work: (target: Target) => ItemAnswer): Answer =>
  item(call, (target) => call.account.storage.write(() => work(target)))

function batchAnswer(answer: BatchAnswer, call: Call): Answer {
  const headers = { 'x-ms-request-charge': answer.charge }
  const isMinimal = call.headers.prefer === 'return=minimal'
  return { status: answer.status, body: batchBody(answer, isMinimal), headers }
}

function accountResource(endpoint: string) {
  const locations = [{ name: 'local', databaseAccountEndpoint: `${endpoint}/` }]
  return {
    id: 'local',
    _self: '',
    _rid: 'local',
    writableLocations: locations,
    readableLocations: locations,
    enableMultipleWriteLocations: false,
    userConsistencyPolicy: { defaultConsistencyLevel: 'Strong' },
  }
}
