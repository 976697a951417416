import type { IncomingMessage } from 'node:http'
import { badRequest, CosmosFailure } from './failure.ts'

/** Larger than any valid request. The limits of queries and documents are checked where they are parsed. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024

/**
 * Reads a request body as UTF-8. A body over the limit is read to its end and dropped, so that a client that is still
 * sending receives the response.
 * @throws CosmosFailure 413, or 400 for bytes that are not UTF-8
 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes <= BODY_LIMIT_BYTES) chunks.push(chunk)
  }
  if (sizeBytes > BODY_LIMIT_BYTES) throw new CosmosFailure(413, 'The request is too large')
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw badRequest(`The body is not UTF-8: ${(cause as Error).message}`)
  }
}
