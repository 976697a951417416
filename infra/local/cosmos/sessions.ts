import type { IncomingHttpHeaders } from 'node:http'
import { type Call, containerOf, HANDLERS, type OperationKind } from './handlers.ts'
import { type Answer, badRequest, CosmosFailure, failureAnswer } from './response.ts'

/** Operations that a replica can answer. The primary runs batches, including batches of reads. */
const READS: ReadonlySet<OperationKind> = new Set(['read', 'query'])
const OTHERS_OF_ITEMS: ReadonlySet<OperationKind> = new Set(['create', 'upsert', 'replace', 'delete', 'batch', 'bulk'])

/** The id of the only partition key range of each container, and the version of a range that was never moved. */
const TOKEN_PREFIX = '0:-1#'
const READ_SESSION_NOT_AVAILABLE = 1002

/**
 * Runs an operation with session consistency. Each response about items, including errors, has a session token with the
 * LSN of the state that was read or written, and the rid of the container, without which the client ignores the token.
 * A write ignores the token of its request, as in accounts with one write region.
 * @throws CosmosFailure 404 with substatus 1002 for a read if no replica has the writes of its token
 */
export function inSession(operation: OperationKind, call: Call): Answer {
  const isRead = READS.has(operation)
  if (!isRead && !OTHERS_OF_ITEMS.has(operation)) return HANDLERS[operation](call)
  const container = containerOf(call)
  const { storage, replicas } = call.account
  const seen = isRead ? seenLsn(call.headers) : 0
  if (seen > storage.lsnOf(container.number)) {
    throw new CosmosFailure(
      404,
      'The read session is not available for the input session token.',
      READ_SESSION_NOT_AVAILABLE,
    )
  }
  const state = isRead ? replicas.forRead(container, seen) : undefined
  const account = state === undefined ? call.account : { ...call.account, storage: state.storage }
  const answer = answerOf(operation, { ...call, account })
  const lsn = state?.lsn ?? storage.lsnOf(container.number)
  const session = { 'x-ms-session-token': `${TOKEN_PREFIX}${lsn}`, 'x-ms-content-path': container.rid }
  return { ...answer, headers: { ...answer.headers, ...session } }
}

function answerOf(operation: OperationKind, call: Call): Answer {
  try {
    return HANDLERS[operation](call)
  } catch (cause) {
    if (cause instanceof CosmosFailure) return failureAnswer(cause)
    throw cause
  }
}

/**
 * The LSN that the caller has seen of this container, 0 when it has seen nothing.
 * @throws CosmosFailure 400 for a token that this server has not issued
 */
function seenLsn(headers: IncomingHttpHeaders): number {
  const token = headers['x-ms-session-token']
  if (token === undefined) return 0
  const [, lsn] = /^0:-1#(\d+)$/.exec(String(token)) ?? []
  if (lsn === undefined) throw badRequest(`The session token provided '${String(token)}' is invalid.`)
  return Number(lsn)
}
