import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { DatabaseSync } from 'node:sqlite'
import { TLSSocket } from 'node:tls'
import { type CuttableServer, cutAndClose, listenOnLocalhost, NEVER } from '../localhost.ts'
import { authorizationGrants } from './authorization-grants.ts'
import { serverCertificate } from './certificates.ts'
import { control } from './control.ts'
import { type FaultDefinition, faultList } from './faults.ts'
import { errorBody, type GraphAnswer, type SentMail } from './graph/exchange.ts'
import { graphApi } from './graph/graph-api.ts'
import { DOCUMENTED_QUOTAS, type Quotas } from './graph/throttle.ts'
import { type MembershipChange, membershipChanges } from './membership-changes.ts'
import { directoryObjects } from './objects.ts'
import { openId } from './openid.ts'
import { recentList } from './recent-list.ts'
import { redirectUrisOf } from './redirect-uris.ts'
import type { RequestRecord } from './request-log.ts'
import { type DirectorySeed, demoAnswer } from './seed.ts'
import { signingKeys } from './signing-keys.ts'
import { openState } from './state.ts'

export type DirectoryOptions = {
  /** 0 selects a free port. */
  readonly port: number
  /** Port of the sign-in without TLS, for browsers, which do not know the certificate. 0 selects a free port. */
  readonly httpPort: number
  /** Folder of the state, `ca.pem` and its key. `:memory:` stores nothing. */
  readonly folder: string
  readonly seed: DirectorySeed
  /** Base URL of the service: a resource URI, and part of `/local/demo`. */
  readonly apiUrl: string | (() => string)
  /** The scope that the application of the service exposes. Default: `user_impersonation`. */
  readonly apiScope?: string
  readonly nowMs?: () => number
  readonly quotas?: Partial<Quotas>
}

export type LocalDirectory = {
  /** `https://localhost:PORT` */
  readonly url: string
  /** `http://localhost:PORT`: sign-in, tokens, configuration and keys without TLS. */
  readonly signInUrl: string
  /** Certificate authority that clients must trust. */
  readonly caPem: string
  /** Graph requests since the start. */
  requests(): readonly RequestRecord[]
  clearRequests(): void
  /** Mails that were sent since the start, the newest first. */
  mails(): readonly SentMail[]
  /** Changes of members by Graph requests after this sequence number, in order. */
  membershipChanges(after: number): readonly MembershipChange[]
  /** Replaces the previous faults. */
  setFaults(faults: readonly FaultDefinition[]): void
  close(): Promise<void>
}

/** Request size limit of Graph. */
const LARGEST_BODY_BYTES = 4 * 1024 * 1024

/**
 * Starts the identity provider and Graph on one HTTPS port of the loopback interface, and the identity provider alone
 * on an HTTP port.
 * @throws Error that names the port in use, or the file that is damaged or in use
 */
export async function startDirectory(options: DirectoryOptions): Promise<LocalDirectory> {
  const folder = options.folder === ':memory:' ? undefined : options.folder
  // Clients check the certificate against real time, not the time of a test.
  const { caPem, certificatePem, keyPem } = serverCertificate(folder, Date.now())
  const database = openState(folder)
  const servers: CuttableServer[] = []
  const close = async () => {
    await cutAndClose(servers)
    database.close()
  }
  try {
    let { port, httpPort } = options
    const authorityUrl = () => `https://localhost:${port}`
    const signInUrl = () => `http://localhost:${httpPort}`
    const { serve, serveSignIn, log, faults, changes, mails } = services(options, database, { authorityUrl, signInUrl })
    const tls = { cert: certificatePem, key: keyPem }
    const secure = await listenOnLocalhost(port, () => createHttpsServer({ ...tls, keepAliveTimeout: NEVER }, serve))
    servers.push(...secure.servers)
    const plain = await listenOnLocalhost(httpPort, () => createHttpServer({ keepAliveTimeout: NEVER }, serveSignIn))
    servers.push(...plain.servers)
    port = secure.port
    httpPort = plain.port
    return {
      url: authorityUrl(),
      signInUrl: signInUrl(),
      caPem,
      requests: log.all,
      clearRequests: log.clear,
      mails: () => mails.all().toReversed(),
      membershipChanges: changes.after,
      setFaults(definitions) {
        faults.clear()
        for (const definition of definitions) faults.add(definition)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type OwnUrls = { readonly authorityUrl: () => string; readonly signInUrl: () => string }

/** Identity provider, Graph and control routes on one state, initialized with the seed. */
function services(options: DirectoryOptions, database: DatabaseSync, { authorityUrl, signInUrl }: OwnUrls) {
  const { seed, nowMs = Date.now } = options
  const objects = directoryObjects(database)
  objects.plant(seed)
  const keys = signingKeys({
    read: (name) => objects.setting(`signing-key:${name}`),
    write: (name, pem) => objects.keepSetting(`signing-key:${name}`, pem),
  })
  const [faults, log] = [faultList(nowMs), recentList<RequestRecord>(50_000)]
  const apiUrl = () => (typeof options.apiUrl === 'string' ? options.apiUrl : options.apiUrl())
  const quotas = { ...DOCUMENTED_QUOTAS, ...options.quotas }
  const changes = membershipChanges(database, nowMs)
  const mails = recentList<SentMail>(10_000)
  const graph = graphApi({ objects, changes, mails, keys, faults, log, quotas, nowMs })
  const grants = authorizationGrants(nowMs)
  const { apiScope = 'user_impersonation' } = options
  const redirectUris = redirectUrisOf(seed.redirectPaths, apiUrl)
  const signIn = openId({ seed, objects, keys, grants, redirectUris, authorityUrl, apiUrl, apiScope, nowMs })
  const local = control({ demo: () => demoAnswer(seed, apiUrl()), log, mails, faults, keys })

  const signInAnswer: AnswerOf = async (request, text) => {
    const { method = 'GET', headers } = request
    const isSecure = request.socket instanceof TLSSocket
    const ownOrigin = originOf(headers.host, isSecure ? authorityUrl() : signInUrl())
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', ownOrigin)
    const { cookie, origin } = headers
    const answer = signIn({ method, path, query, form: text, cookie, origin, ownOrigin })
    return answer ?? { status: 404, headers: {}, body: { message: `${method} ${path} does not exist` } }
  }
  const answerOf: AnswerOf = async (request, text) => {
    const { method = 'GET', headers } = request
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', authorityUrl())
    if (path.startsWith('/v1.0/')) {
      const origin = originOf(headers.host, authorityUrl())
      const { authorization, 'client-request-id': clientId, 'content-type': contentType } = headers
      const clientRequestId = clientId?.toString()
      return graph.serve({ method, path, query, text, authorization, contentType, clientRequestId, origin })
    }
    if (path.startsWith('/local/')) return { headers: {}, ...local(method, path, text) }
    return signInAnswer(request, text)
  }
  const serving = (answers: AnswerOf): RequestListener => {
    return (request, response) => void respond(request, response, answers, nowMs)
  }
  return { serve: serving(answerOf), serveSignIn: serving(signInAnswer), log, faults, changes, mails }
}

type AnswerOf = (request: IncomingMessage, text: string) => Promise<GraphAnswer | 'dropped'>

/** The origin of the request if it is a known name of the server, so that links keep the origin. */
function originOf(host: string | undefined, ownUrl: string): string {
  const { protocol, port } = new URL(ownUrl)
  const names = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]
  return host !== undefined && names.includes(host) ? `${protocol}//${host}` : ownUrl
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answerOf: AnswerOf,
  nowMs: () => number,
): Promise<void> {
  let answer: GraphAnswer | 'dropped'
  try {
    const text = await bodyText(request)
    answer = text === undefined ? failure(413, 'RequestEntityTooLarge', nowMs()) : await answerOf(request, text)
  } catch (error) {
    // An internal error, with details for the developer.
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    answer = failure(500, 'InternalServerError', nowMs(), message)
  }
  if (answer === 'dropped') request.socket.destroy()
  else send(response, answer)
}

const failure = (status: number, code: string, nowMs: number, message = code): GraphAnswer => ({
  status,
  headers: {},
  body: errorBody(code, message, nowMs),
})

/** Undefined if the body exceeds the limit. */
async function bodyText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes <= LARGEST_BODY_BYTES) chunks.push(chunk)
  }
  return sizeBytes > LARGEST_BODY_BYTES ? undefined : Buffer.concat(chunks).toString()
}

function send(response: ServerResponse, { status, headers, body }: GraphAnswer): void {
  const isJson = body !== undefined && typeof body !== 'string'
  const text = body === undefined ? '' : isJson ? JSON.stringify(body) : String(body)
  const type: Record<string, string> = isJson ? { 'content-type': 'application/json; charset=utf-8' } : {}
  const length: Record<string, number> = status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, { 'cache-control': 'no-cache', ...type, ...length, ...headers })
  response.end(text)
}
