import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Log } from '../kernel/log.ts'
import { Refusal } from '../kernel/refusals.ts'
import { faultEnvelope, type HttpResponse, readOnlyEnvelope, refusalEnvelope } from './envelope.ts'
import { type HttpRequest, isKnownVersion, withRequestId } from './request.ts'

/** A file that is served without a token. */
export type PublicFile = {
  readonly contentType: string
  /** The path contains the version, so that clients can cache the file forever. */
  readonly isImmutable?: true
  readonly headers?: Readonly<Record<string, string>>
  /** Called on the first request for the file. */
  read(): Uint8Array
}

/** A file of this text. */
export function textFile(contentType: string, text: () => string): PublicFile {
  return { contentType: `${contentType}; charset=utf-8`, read: () => Buffer.from(text()) }
}

/** All files by path. Any other path is refused, also if a file exists there. */
export type PublicFiles = { get(path: string): PublicFile | undefined }

export type FileDependencies = { readonly log: Log; newId(): string }

const YEAR_S = 365 * 24 * 60 * 60

/** Serves files from memory, with an `ETag`, and compressed if the client accepts gzip. Never throws. */
export function fileResponder(
  files: () => PublicFiles,
  deps: FileDependencies,
): (request: HttpRequest) => HttpResponse {
  const loaded = new Map<PublicFile, LoadedFile>()
  let known: PublicFiles | undefined
  const fileAt = (path: string): LoadedFile => {
    known ??= files()
    const file = known.get(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)
    if (file === undefined) throw new Refusal('RouteNotFound', `The path ${path.slice(0, 200)} does not exist`)
    const ready = loaded.get(file) ?? load(file)
    loaded.set(file, ready)
    return ready
  }
  return (request) => {
    return withRequestId(respond(request, fileAt, deps.log), request, deps.newId)
  }
}

function respond(request: HttpRequest, fileAt: (path: string) => LoadedFile, log: Log): HttpResponse {
  try {
    const file = fileAt(new URL(request.url, 'http://localhost').pathname)
    if (request.method !== 'GET' && request.method !== 'HEAD') return readOnlyEnvelope(request.method)
    if (isKnownVersion(request, file.headers.etag)) {
      const { 'content-type': _absent, ...headers } = file.headers
      return { status: 304, headers }
    }
    return acceptsGzip(request.header('accept-encoding'))
      ? { status: 200, headers: { ...file.headers, 'content-encoding': 'gzip' }, body: file.gzipped }
      : { status: 200, headers: file.headers, body: file.plain }
  } catch (error) {
    if (error instanceof Refusal) return refusalEnvelope(error)
    log.error('http.fault', error)
    return faultEnvelope()
  }
}

type LoadedFile = {
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string; readonly 'content-type': string }
  readonly plain: Uint8Array
  readonly gzipped: Uint8Array
}

/** The tag is weak: it identifies the content in every encoding. */
function load({ contentType, isImmutable, headers, read }: PublicFile): LoadedFile {
  const plain = read()
  return {
    headers: {
      'content-type': contentType,
      'cache-control': isImmutable === true ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
      etag: `W/"${createHash('sha256').update(plain).digest('base64url')}"`,
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    plain,
    gzipped: gzipSync(plain),
  }
}

/** RFC 9110, section 12.5.3: listed by name with a weight above zero. `*` is not supported. */
function acceptsGzip(header: string | null): boolean {
  return (header ?? '').split(',').some((coding) => /^\s*gzip\s*(;\s*q=(1|0\.\d*[1-9]\d*).*)?$/i.test(coding))
}
