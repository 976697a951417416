import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { CosmosFailure } from './failure.ts'

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
  key: Buffer,
): void {
  const text = signedText(method, segments, String(headers['x-ms-date'] ?? ''))
  const expected = createHmac('sha256', key).update(text).digest('base64')
  const given = signatureOf(headers.authorization ?? '')
  if (given === undefined || !sameText(given, expected)) {
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

function sameText(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
