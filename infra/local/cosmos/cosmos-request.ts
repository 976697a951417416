import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { OperationKind } from './handlers.ts'
import { badRequest, CosmosFailure } from './response.ts'

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

const REFUSAL = 'The input authorization token cannot serve the request: its key or the text signed is not this one: '

/**
 * Checks the master-key signature of a request.
 * https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
 * @param segments decoded segments of the path: the client signs names without percent-encoding
 * @throws CosmosFailure 401
 */
export function verifySignature(
  method: string,
  segments: readonly string[],
  headers: IncomingHttpHeaders,
  key: KeyObject,
): void {
  const text = signedText(method, segments, String(headers['x-ms-date'] ?? ''))
  const expected = createHmac('sha256', key).update(text).digest('base64')
  const signature = signatureOf(headers.authorization ?? '')
  if (signature === undefined || !sameText(signature, expected)) {
    throw new CosmosFailure(401, REFUSAL + JSON.stringify(text))
  }
}

/** The signature of a feed contains the link of its parent, that of a resource its own link. */
function signedText(method: string, segments: readonly string[], date: string): string {
  const isFeed = segments.length % 2 === 1
  const type = (isFeed ? segments.at(-1) : segments.at(-2)) ?? ''
  const link = (isFeed ? segments.slice(0, -1) : segments).join('/')
  return `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`
}

function signatureOf(authorization: string): string | undefined {
  try {
    return /^type=master&ver=1\.0&sig=(.+)$/.exec(decodeURIComponent(authorization))?.[1]
  } catch {
    return undefined
  }
}

function sameText(text: string, expected: string): boolean {
  const [actual, wanted] = [Buffer.from(text), Buffer.from(expected)]
  return actual.length === wanted.length && timingSafeEqual(actual, wanted)
}

/** Operations by path pattern and method. The headers of POST to `docs` select the operation. */
const BY_PATH: Readonly<Record<string, Readonly<Record<string, OperationKind | 'docs'>>>> = {
  '': { GET: 'account' },
  dbs: { POST: 'createDatabase' },
  'dbs/*': { GET: 'readDatabase', DELETE: 'deleteDatabase' },
  'dbs/*/colls': { POST: 'createContainer' },
  'dbs/*/colls/*': { GET: 'readContainer' },
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

/** Clients send `true` or `True`. */
const isTrue = (headers: IncomingHttpHeaders, name: string): boolean =>
  String(headers[name] ?? '').toLowerCase() === 'true'
