import { type CooperativeScheduler, runToCompletion, type Task } from '../kernel/cooperative-scheduler.ts'
import { Refusal } from '../kernel/refusals.ts'
import type { HttpResponse } from './envelope.ts'
import { jsonDepthSteps, jsonParseSteps } from './json-parse-steps.ts'

/** Bytes. Connector batches set their own. */
const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024

/** Levels of nesting: twice what the deepest condition needs. */
const DEPTH_LIMIT = 64

/** A request, independent of the host. */
export type HttpRequest = {
  readonly method: string
  /** Absolute, or an absolute path; percent-encoded. */
  readonly url: string
  header(name: string): string | null
  bytes(): Promise<Uint8Array>
}

/** The members of a route that apply to its body. */
type BodyRules = { readonly bodyLimitBytes?: number; readonly itemsFailAlone?: boolean }

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a request's body.
 * @param scheduler Parses long bodies without blocking other requests. Without it, they are parsed at once.
 * @throws Refusal `BodyTooLarge`, `BodyRequired`, `LengthRequired`, `UnsupportedMediaType`, `InvalidJson`,
 * `BodyTooDeep`.
 */
export async function readJsonBody(
  request: HttpRequest,
  { bodyLimitBytes: limitBytes = DEFAULT_BODY_LIMIT_BYTES, itemsFailAlone = false }: BodyRules,
  scheduler?: CooperativeScheduler,
): Promise<unknown> {
  const tooLarge = () => new Refusal('BodyTooLarge', `The body is larger than ${limitBytes} bytes`)
  if (Number(request.header('content-length') ?? 0) > limitBytes) throw tooLarge()
  const bytes = await request.bytes()
  if (bytes.byteLength > limitBytes) throw tooLarge()
  // The host does not read a chunked body: https://github.com/Azure/azure-functions-nodejs-worker/issues/524
  if (bytes.byteLength === 0) {
    throw new Refusal(request.header('transfer-encoding') === null ? 'BodyRequired' : 'LengthRequired')
  }
  if (!isJson(request.header('content-type')) || isEncoded(request)) throw new Refusal('UnsupportedMediaType')
  const parsing = parseSteps(decoded(bytes), itemsFailAlone)
  return scheduler === undefined ? runToCompletion(parsing) : scheduler.run(parsing)
}

function* parseSteps(text: string, itemsFailAlone: boolean): Task<unknown> {
  if ((yield* jsonDepthSteps(text)) > DEPTH_LIMIT) throw new Refusal('BodyTooDeep')
  const value = yield* parsed(text)
  if (!itemsFailAlone && !(yield* isWellFormed(text, value))) {
    throw new Refusal('InvalidJson', 'A string in the body contains an unpaired surrogate')
  }
  return value
}

function* parsed(text: string): Task<unknown> {
  try {
    return yield* jsonParseSteps(text)
  } catch (cause) {
    throw new Refusal('InvalidJson', `The body is not JSON: ${(cause as Error).message}`, undefined, cause)
  }
}

/** Whether all strings are valid Unicode: RFC 7493, section 2.1. Only an escape can produce an unpaired surrogate. */
function* isWellFormed(json: string, value: unknown): Task<boolean> {
  return !/\\u[dD][89a-fA-F]/.test(json) || (yield* hasWellFormedStrings(value))
}

function* hasWellFormedStrings(value: unknown): Task<boolean> {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  yield
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (!name.isWellFormed() || !(yield* hasWellFormedStrings(member))) return false
  }
  return true
}

function isJson(contentType: string | null): boolean {
  const [mediaType = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset='))
  return (
    /^application\/(json|[\w.-]+\+json)$/.test(mediaType) &&
    charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset))
  )
}

/** Whether the body is encoded, which the service does not undo. */
function isEncoded(request: Pick<HttpRequest, 'header'>): boolean {
  return !['', 'identity'].includes((request.header('content-encoding') ?? '').trim().toLowerCase())
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Refusal('InvalidJson', 'The body is not UTF-8', undefined, cause)
  }
}

/** Without spaces and control characters, which would change a line of a log. */
const VALID_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The request id that the caller sent, if it is valid; otherwise a new one. */
export function requestIdOf(request: Pick<HttpRequest, 'header'>, newId: () => string): string {
  const requestId = request.header('x-request-id') ?? ''
  return VALID_REQUEST_ID.test(requestId) ? requestId : newId()
}

/** The response to a request without a token, with the id of the request. That of HEAD has no body. */
export function withRequestId(
  { status, headers, body }: HttpResponse,
  request: Pick<HttpRequest, 'method' | 'header'>,
  newId: () => string,
): HttpResponse {
  const identified = { status, headers: { ...headers, 'x-request-id': requestIdOf(request, newId) } }
  return request.method === 'HEAD' || body === undefined ? identified : { ...identified, body }
}

/** Whether `If-None-Match` of a GET or HEAD names this version: RFC 9110, section 13.1.2, weak comparison. */
export function isKnownVersion(request: Pick<HttpRequest, 'method' | 'header'>, etag: string | undefined): boolean {
  const known = request.header('if-none-match')?.trim()
  if (known === undefined || etag === undefined || !['GET', 'HEAD'].includes(request.method)) return false
  const strong = (tag: string) => tag.trim().replace(/^W\//, '')
  return known === '*' || known.split(',').map(strong).includes(strong(etag))
}
