import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { DatabaseSync } from 'node:sqlite'
import { listenOnLocalhost } from '../localhost.ts'
import { serverCertificate } from './certificates.ts'
import { control } from './control.ts'
import { type FaultDefinition, faultList } from './faults.ts'
import { errorBody, type GraphAnswer } from './graph/exchange.ts'
import { graphApi } from './graph/graph-api.ts'
import { DOCUMENTED_QUOTAS, type Quotas } from './graph/throttle.ts'
import { directoryObjects } from './objects.ts'
import { openId } from './openid.ts'
import { type RequestRecord, requestLog } from './request-log.ts'
import { type DirectorySeed, demoAnswer } from './seed.ts'
import { signingKeys } from './signing-keys.ts'
import { openState } from './state.ts'

export type DirectoryOptions = {
  /** 0 selects a free port. */
  readonly port: number
  /** Folder of the state, `ca.pem` and its key. `:memory:` stores nothing. */
  readonly folder: string
  readonly seed: DirectorySeed
  /** Base URL of the service: a resource URI, and part of `/local/demo`. */
  readonly apiUrl: string | (() => string)
  readonly nowMs?: () => number
  readonly quotas?: Partial<Quotas>
}

export type LocalDirectory = {
  /** `https://localhost:PORT` */
  readonly url: string
  /** Certificate authority that clients must trust. */
  readonly caPem: string
  /** Graph requests since the start. */
  requests(): readonly RequestRecord[]
  clearRequests(): void
  /** Replaces the previous faults. */
  setFaults(faults: readonly FaultDefinition[]): void
  close(): Promise<void>
}

/** Request size limit of Graph. */
const LARGEST_BODY_BYTES = 4 * 1024 * 1024
const ARCHIVED_KEYS = 'signing-keys'

/**
 * Starts the identity provider and Graph on one HTTPS port of the loopback interface.
 * @throws Error that names the port in use, or the file that is damaged or in use
 */
export async function startDirectory(options: DirectoryOptions): Promise<LocalDirectory> {
  const folder = options.folder === ':memory:' ? undefined : options.folder
  // Clients check the certificate against real time, not the time of a test.
  const { caPem, certificatePem, keyPem } = serverCertificate(folder, Date.now())
  const database = openState(folder)
  try {
    let { port } = options
    const authorityUrl = () => `https://localhost:${port}`
    const { serve, log, faults } = services(options, database, authorityUrl)
    const server = await listenOnLoopback(port, { cert: certificatePem, key: keyPem }, (request, response) => {
      void serve(request, response)
    })
    port = server.port
    return {
      url: authorityUrl(),
      caPem,
      requests: log.all,
      clearRequests: log.clear,
      setFaults(definitions) {
        faults.clear()
        for (const definition of definitions) faults.add(definition)
      },
      async close() {
        await server.close()
        database.close()
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Identity provider, Graph and control routes on one state, initialized with the seed. */
function services(options: DirectoryOptions, database: DatabaseSync, authorityUrl: () => string) {
  const { seed, nowMs = Date.now } = options
  const objects = directoryObjects(database)
  objects.plant(seed)
  const keys = signingKeys({
    read: () => objects.setting(ARCHIVED_KEYS),
    write: (pems) => objects.keepSetting(ARCHIVED_KEYS, pems),
  })
  const [faults, log] = [faultList(nowMs), requestLog()]
  const apiUrl = () => (typeof options.apiUrl === 'string' ? options.apiUrl : options.apiUrl())
  const quotas = { ...DOCUMENTED_QUOTAS, ...options.quotas }
  const graph = graphApi({ objects, keys, faults, log, quotas, nowMs })
  const signIn = openId({ seed, objects, keys, authorityUrl, apiUrl, nowMs })
  const local = control({ demo: () => demoAnswer(seed, apiUrl()), log, faults, keys })

  const answerOf = async (request: IncomingMessage, text: string): Promise<GraphAnswer | 'dropped'> => {
    const { method = 'GET', headers } = request
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', authorityUrl())
    if (path.startsWith('/v1.0/')) {
      const origin = originOf(headers.host, authorityUrl())
      return graph.serve({ method, path, query, text, authorization: headers.authorization, origin })
    }
    const answer = path.startsWith('/local/') ? local(method, path, text) : signIn(method, path, text)
    return { headers: {}, ...(answer ?? { status: 404, body: { message: `${method} ${path} does not exist` } }) }
  }
  const serve = (request: IncomingMessage, response: ServerResponse) => respond(request, response, answerOf, nowMs)
  return { serve, log, faults }
}

/** The origin of the request if it is a known name of the server, so that links keep the origin. */
function originOf(host: string | undefined, authorityUrl: string): string {
  const { port } = new URL(authorityUrl)
  const names = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]
  return host !== undefined && names.includes(host) ? `https://${host}` : authorityUrl
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answerOf: (request: IncomingMessage, text: string) => Promise<GraphAnswer | 'dropped'>,
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

/** Only clients close idle connections: one closed by the server at the moment of reuse looks like a lost request. */
const NEVER = 0

type LoopbackServer = { readonly port: number; close(): Promise<void> }

/** Serves localhost with TLS. @param port 0 selects a free port @throws Error that names the port in use */
async function listenOnLoopback(
  port: number,
  tls: { readonly cert: string; readonly key: string },
  serve: RequestListener,
): Promise<LoopbackServer> {
  const make = () => createServer({ ...tls, keepAliveTimeout: NEVER }, serve)
  const { port: chosen, servers } = await listenOnLocalhost(port, make)
  return { port: chosen, close: () => closed(servers) }
}

async function closed(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await ended
    }),
  )
}
