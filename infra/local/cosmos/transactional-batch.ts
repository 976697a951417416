import type { JsonObject } from '../../../shared/kernel/json.ts'
import { ITEM_LIMIT_BYTES, parsePartition } from './item-rules.ts'
import {
  createItem,
  deleteItem,
  type ItemAnswer,
  patchItem,
  readItem,
  replaceItem,
  type Target,
  upsertItem,
} from './items.ts'
import { isJsonObject, parseJson, refuseUnknownMembers } from './json-values.ts'
import { badRequest, CosmosFailure } from './response.ts'

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const BATCH_LIMIT_COUNT = 100
/** Limit of the documents that a batch reads. */
const ANSWER_LIMIT_BYTES = 4 * 1024 * 1024
const FAILED_DEPENDENCY = 424
const MEMBERS = new Set(['operationType', 'id', 'resourceBody', 'ifMatch', 'partitionKey'])

type Outcome = {
  /** The result without the document. */
  readonly line: {
    readonly statusCode: number
    readonly requestCharge: number
    readonly eTag?: string
    readonly subStatusCode?: number
    readonly message?: string
  }
  /** The stored JSON text of the document. */
  readonly document: string | undefined
  readonly isRead: boolean
}

export type BatchAnswer = { readonly status: 200 | 207; readonly outcomes: readonly Outcome[]; readonly charge: number }

/** Parses the operations of a batch: up to 100, 2 MB in total. */
export function parseBatch(body: string): JsonObject[] {
  if (Buffer.byteLength(body) > ITEM_LIMIT_BYTES) throw new CosmosFailure(413, 'The batch is too large')
  const operations = parseJson(body, 'The batch')
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > BATCH_LIMIT_COUNT) {
    throw badRequest(`A batch must be a list of 1 to ${BATCH_LIMIT_COUNT} operations`)
  }
  return operations.map((operation) => {
    if (!isJsonObject(operation)) throw badRequest('An operation of a batch must be an object')
    return operation
  })
}

/**
 * Runs all operations in one partition, or none. On failure, the failed operation has its own status, all others 424.
 */
export function runAtomicBatch(target: Target, operations: readonly JsonObject[]): BatchAnswer {
  const outcomes: Outcome[] = []
  let readBytes = 0
  try {
    target.storage.write(() => {
      for (const operation of operations) {
        const outcome = succeeded(runOperation(target, operation), operation)
        if (outcome.isRead) readBytes += Buffer.byteLength(outcome.document ?? '')
        if (readBytes > ANSWER_LIMIT_BYTES) throw new CosmosFailure(413, 'The response is too large', 3402)
        outcomes.push(outcome)
      }
    })
    return answer(200, outcomes)
  } catch (cause) {
    if (!(cause instanceof CosmosFailure)) throw cause
    const at = outcomes.length
    return answer(
      207,
      operations.map((_, index) => (index === at ? failed(cause) : DEPENDENT)),
    )
  }
}

/**
 * Runs each operation separately, in its own partition. The single transaction is an optimization:
 * a failed operation does not roll back the others.
 */
export function runBulk(target: Omit<Target, 'partition'>, operations: readonly JsonObject[]): BatchAnswer {
  const outcomes = target.storage.write(() =>
    operations.map((operation) => {
      try {
        const { partitionKey } = operation
        if (typeof partitionKey !== 'string') throw badRequest('A bulk operation needs a partitionKey')
        return succeeded(runOperation({ ...target, partition: parsePartition(partitionKey) }, operation), operation)
      } catch (cause) {
        if (cause instanceof CosmosFailure) return failed(cause)
        throw cause
      }
    }),
  )
  return answer(outcomes.every(({ line }) => line.statusCode < 400) ? 200 : 207, outcomes)
}

function runOperation(batchTarget: Target, operation: JsonObject): ItemAnswer {
  refuseUnknownMembers(operation, MEMBERS, 'An operation of a batch')
  const { operationType, id, ifMatch, resourceBody } = operation
  if (ifMatch !== undefined && typeof ifMatch !== 'string') throw badRequest('ifMatch must be a string')
  const target = { ...batchTarget, ifMatch }
  // The size limit of the batch also limits each document.
  const document = (): JsonObject => {
    if (!isJsonObject(resourceBody)) throw badRequest(`${String(operationType)} needs a resourceBody`)
    return resourceBody
  }
  const itemId = (): string => {
    if (typeof id !== 'string') throw badRequest(`${String(operationType)} needs an id`)
    return id
  }
  switch (operationType) {
    case 'Create':
      return createItem(target, document())
    case 'Upsert':
      return upsertItem(target, document())
    case 'Replace':
      return replaceItem(target, itemId(), document())
    case 'Patch':
      return patchItem(target, itemId(), document())
    case 'Delete':
      return deleteItem(target, itemId())
    case 'Read':
      return readItem(target, itemId())
    default:
      throw badRequest(`The operation ${JSON.stringify(operationType)} is not supported in a batch`)
  }
}

function succeeded({ status, etag, body, charge }: ItemAnswer, { operationType }: JsonObject): Outcome {
  const line = { statusCode: status, requestCharge: charge, ...(etag === undefined ? {} : { eTag: etag }) }
  return { line, document: body, isRead: operationType === 'Read' }
}

const DEPENDENT: Outcome = {
  line: { statusCode: FAILED_DEPENDENCY, requestCharge: 0 },
  document: undefined,
  isRead: false,
}

function failed({ status, substatus, message }: CosmosFailure): Outcome {
  const line = { statusCode: status, requestCharge: 1, message }
  const subStatusCode = substatus === undefined ? {} : { subStatusCode: substatus }
  return { line: { ...line, ...subStatusCode }, document: undefined, isRead: false }
}

const answer = (status: 200 | 207, outcomes: readonly Outcome[]): BatchAnswer => ({
  status,
  outcomes,
  charge: outcomes.reduce((sum, { line }) => sum + line.requestCharge, 0),
})

/**
 * The JSON of the response. Stored documents are copied without parsing them.
 * @param isMinimal omits written documents but not read documents
 */
export function batchBody({ outcomes }: BatchAnswer, isMinimal: boolean): string {
  const texts = outcomes.map(({ line, document, isRead }) => {
    const text = JSON.stringify(line)
    return document === undefined || (isMinimal && !isRead) ? text : `${text.slice(0, -1)},"resourceBody":${document}}`
  })
  return `[${texts.join(',')}]`
}
