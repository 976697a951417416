import { type Call, containerOf, HANDLERS, type OperationKind } from './handlers.ts'
import { type Answer, CosmosFailure, failureAnswer, readCharge } from './response.ts'

const OF_ITEMS: ReadonlySet<OperationKind> = new Set([
  'read',
  'query',
  'create',
  'upsert',
  'replace',
  'delete',
  'batch',
  'bulk',
])

/** The id of the only partition key range of each container, and the version of a range that was never moved. */
const TOKEN_PREFIX = '0:-1#'

/**
 * Runs an operation. Each response about items, including errors, has the time of the account's clock, a session token
 * with the LSN of the state that was read or written, and the rid of the container, without which the client ignores the
 * token. Reads are those of an account with Strong consistency: they ignore the token of their request.
 */
export function answerOperation(operation: OperationKind, call: Call): Answer {
  if (!OF_ITEMS.has(operation)) return HANDLERS[operation](call)
  const container = containerOf(call)
  const { storage } = call.account
  const answer = answerOf(operation, call)
  const added = {
    date: new Date(storage.nowMs()).toUTCString(),
    'x-ms-session-token': `${TOKEN_PREFIX}${storage.lsnOf(container.number)}`,
    'x-ms-content-path': container.rid,
  }
  return { ...answer, headers: { ...answer.headers, ...added } }
}

function answerOf(operation: OperationKind, call: Call): Answer {
  try {
    return HANDLERS[operation](call)
  } catch (cause) {
    if (!(cause instanceof CosmosFailure)) throw cause
    return failureAnswer(cause, operation === 'read' ? { 'x-ms-request-charge': readCharge(0) } : {})
  }
}
