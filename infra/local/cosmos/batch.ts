import { badRequest, CosmosFailure } from './failure.ts'
import { ITEM_LIMIT_BYTES } from './item-rules.ts'
import { createItem, deleteItem, type ItemAnswer, readItem, replaceItem, type Target, upsertItem } from './items.ts'
import { isJsonObject, type Json, type JsonObject, parseJson, refuseUnknownMembers } from './json.ts'
import { parsePartition } from './partition.ts'

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const BATCH_LIMIT_COUNT = 100
const FAILED_DEPENDENCY = 424
const MEMBERS = new Set(['operationType', 'id', 'resourceBody', 'ifMatch', 'partitionKey'])

type Outcome = {
  statusCode: number
  requestCharge: number
  eTag?: string
  resourceBody?: Json
  subStatusCode?: number
  message?: string
}

export type BatchAnswer = { readonly status: 200 | 207; readonly outcomes: readonly Outcome[]; readonly charge: number }

/** Reads a batch's operations: a list of up to 100, 2 MB in all. */
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

/** Carries out all operations in one partition, or none: the failed one has its own status, all others 424. */
export function runAtomicBatch(target: Target, operations: readonly JsonObject[]): BatchAnswer {
  const outcomes: Outcome[] = []
  try {
    target.storage.write(() => {
      for (const operation of operations) outcomes.push(succeeded(runOperation(target, operation)))
    })
    return answer(200, outcomes)
  } catch (cause) {
    if (!(cause instanceof CosmosFailure)) throw cause
    const at = outcomes.length
    return answer(
      207,
      operations.map((_, index) =>
        index === at ? failed(cause) : { statusCode: FAILED_DEPENDENCY, requestCharge: 0 },
      ),
    )
  }
}

/**
 * Carries out each operation alone, in the partition it names itself. The one transaction is for speed:
 * a refused operation undoes nothing.
 */
export function runBulk(target: Omit<Target, 'partition'>, operations: readonly JsonObject[]): BatchAnswer {
  const outcomes = target.storage.write(() =>
    operations.map((operation) => {
      try {
        const { partitionKey } = operation
        if (typeof partitionKey !== 'string') throw badRequest('A bulk operation needs a partitionKey')
        return succeeded(runOperation({ ...target, partition: parsePartition(partitionKey) }, operation))
      } catch (cause) {
        if (cause instanceof CosmosFailure) return failed(cause)
        throw cause
      }
    }),
  )
  return answer(outcomes.every(({ statusCode }) => statusCode < 400) ? 200 : 207, outcomes)
}

function runOperation(batchTarget: Target, operation: JsonObject): ItemAnswer {
  refuseUnknownMembers(operation, MEMBERS, 'An operation of a batch')
  const { operationType, id, ifMatch, resourceBody } = operation
  if (ifMatch !== undefined && typeof ifMatch !== 'string') throw badRequest('ifMatch must be a text')
  const target = { ...batchTarget, ifMatch }
  const text = (): string => {
    if (!isJsonObject(resourceBody)) throw badRequest(`${String(operationType)} needs a resourceBody`)
    return JSON.stringify(resourceBody)
  }
  const itemId = (): string => {
    if (typeof id !== 'string') throw badRequest(`${String(operationType)} needs an id`)
    return id
  }
  switch (operationType) {
    case 'Create':
      return createItem(target, text())
    case 'Upsert':
      return upsertItem(target, text())
    case 'Replace':
      return replaceItem(target, itemId(), text())
    case 'Delete':
      return deleteItem(target, itemId())
    case 'Read':
      return readItem(target, itemId())
    default:
      throw badRequest(`The operation ${JSON.stringify(operationType)} is not supported in a batch`)
  }
}

const succeeded = ({ status, etag, body, charge }: ItemAnswer): Outcome => ({
  statusCode: status,
  requestCharge: charge,
  ...(etag === undefined ? {} : { eTag: etag }),
  ...(body === undefined ? {} : { resourceBody: JSON.parse(body) as Json }),
})

const failed = ({ status, substatus, message }: CosmosFailure): Outcome => ({
  statusCode: status,
  requestCharge: 1,
  message,
  ...(substatus === undefined ? {} : { subStatusCode: substatus }),
})

const answer = (status: 200 | 207, outcomes: readonly Outcome[]): BatchAnswer => ({
  status,
  outcomes,
  charge: outcomes.reduce((sum, { requestCharge }) => sum + requestCharge, 0),
})
