import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody, requestTarget, sendBare, sendResponse, toRpcHttp } from './http-exchange.ts'
import type { Invoke } from './invocation.ts'
import type { AnswerRequest } from './loopback-server.ts'
import type { HostLog, RpcHttpData } from './programming-model.ts'
import { refusedStatus } from './request-limits.ts'
import type { RouteMatch, RouteTable } from './route-table.ts'

/** Starts a timer function manually. False if no timer has the name. */
export type StartByHand = (functionName: string) => boolean

export type HttpFront = {
  readonly routes: RouteTable
  readonly invoke: Invoke
  readonly startByHand: StartByHand
  readonly log: HostLog
}

/** Paths of the host. No function receives them. */
const HOST_PATHS = /^\/(?:admin|runtime)(?:\/|$)/i
const ADMIN_FUNCTION = /^\/admin\/functions\/([^/]+)\/?$/i

/** Serves requests: host endpoints under `/admin`, all others by the routes of the functions. */
export function answerHttp(front: HttpFront): AnswerRequest {
  return (request, response) => {
    response.on('error', () => undefined) // the client has disconnected
    answer(front, request, response).catch((error: unknown) => {
      front.log({ level: 'error', category: 'host', message: `No response to ${request.method} ${request.url}`, error })
      if (!response.headersSent) sendBare(response, 500)
    })
  }
}

async function answer(front: HttpFront, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const status = refusedStatus(request)
  const target = requestTarget(request)
  if (status !== undefined || target === undefined) return refuse(response, status ?? 400)
  const { path } = target
  if (HOST_PATHS.test(path)) return answerAdmin(front, path, request, response)
  const match = front.routes(request.method ?? '', path)
  if (match === undefined) return sendBare(response, 404)
  const body = await readBody(request)
  if (body === 'aborted') return
  if (body === 'too-large') return refuse(response, 413)
  return answerByFunction(front, match, toRpcHttp(request, target, match.params, body), response)
}

async function answerByFunction(
  { invoke, log }: HttpFront,
  { fn }: RouteMatch,
  http: RpcHttpData,
  response: ServerResponse,
): Promise<void> {
  const traceParent = http.nullableHeaders?.traceparent?.value
  const traceState = http.nullableHeaders?.tracestate?.value
  try {
    const result = await invoke(fn.registration, {
      inputData: [{ name: fn.triggerName, data: { http } }],
      ...(traceParent && { traceContext: { traceParent, ...(traceState && { traceState }) } }),
    })
    sendResponse(response, result)
  } catch (error) {
    log({
      level: 'error',
      category: 'host',
      message: `${http.method} ${http.url} failed`,
      functionName: fn.name,
      error,
    })
    sendBare(response, 500)
  }
}

/**
 * `POST /admin/functions/{name}` runs a timer function. Returns 202 immediately, like the platform.
 * Takes the place of the platform's key: only programs of this machine can call it, and no page of another site in a
 * browser.
 */
function answerAdmin(
  { startByHand }: HttpFront,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const functionName = ADMIN_FUNCTION.exec(path)?.[1]
  if (functionName === undefined || request.method !== 'POST') sendBare(response, 404)
  else if (!isOfThisMachine(request)) refuseForeign(response)
  else sendBare(response, startByHand(functionName) ? 202 : 404)
}

/**
 * Whether the request names this server by a loopback name, and comes from no other site. The name of another site can
 * resolve to this machine (DNS rebinding): the browser then sends that name as `Host`, and the site as `Origin`.
 */
function isOfThisMachine({ headers: { host, origin }, socket }: IncomingMessage): boolean {
  const authorities = ['localhost', '127.0.0.1', '[::1]'].map((name) => `${name}:${socket.localPort}`)
  const isOwn = (authority = '') => authorities.includes(authority.toLowerCase())
  return (
    isOwn(host) && (origin === undefined || (origin.startsWith('http://') && isOwn(origin.slice('http://'.length))))
  )
}

function refuseForeign(response: ServerResponse): void {
  const text =
    'Paths of the host are for this machine only: use a loopback name as Host, and no Origin of another site\n'
  response.setHeader('connection', 'close')
  response.writeHead(403, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** A request that the server does not read to its end. */
function refuse(response: ServerResponse, status: number): void {
  response.setHeader('connection', 'close')
  sendBare(response, status)
}
