import type { TObject } from 'typebox'
import type { IdempotencyDependencies } from '../domain/idempotency/run-once.ts'
import type { Caller } from '../kernel/caller.ts'
import { isUserRole } from '../kernel/caller.ts'
import type { CooperativeScheduler } from '../kernel/cooperative-scheduler.ts'
import type { Log } from '../kernel/log.ts'
import { Refusal } from '../kernel/refusals.ts'
import { describeInvocation } from '../kernel/tracing.ts'
import {
  faultEnvelope,
  type HttpResponse,
  httpStatusOf,
  notModified,
  type RouteResult,
  refusalEnvelope,
  successEnvelope,
  successEnvelopeSteps,
} from './envelope.ts'
import { hasLongList } from './json-steps.ts'
import { type RouteMatch, routeMatcher } from './match-route.ts'
import { type HttpRequest, isKnownVersion, readJsonBody, requestIdOf } from './request.ts'
import type { Route, RouteGroup } from './route.ts'
import { runRoute } from './run-route.ts'
import { bodyFaults, readPath, readQuery } from './validation.ts'

export type DispatchDependencies = {
  /** @throws Refusal `TokenMissing`, `TokenInvalid`. */
  authenticate(authorization: string | null): Promise<Caller>
  /** The core identity that stands for the caller's account; undefined when there is none. */
  findIdentity(caller: Caller): Promise<string | undefined>
  /** What creations are done once with. */
  readonly once: IdempotencyDependencies
  /** What writing a long answer takes turns by; without them it is written in one go. */
  readonly scheduler?: CooperativeScheduler
  readonly log: Log
  newId(): string
  nowMs(): number
}

/**
 * Answers every request below a group's prefix, and never throws: find the route, authenticate, authorise, validate,
 * run, wrap. The order is that of decisions, section 10. The activity that the request is learns what the log says.
 */
export function dispatcher(
  group: RouteGroup,
  deps: DispatchDependencies,
): (request: HttpRequest) => Promise<HttpResponse> {
  const find = routeMatcher(group)
  return async (request) => {
    const startedMs = deps.nowMs()
    const requestId = requestIdOf(request, deps.newId)
    const url = new URL(request.url, 'http://localhost')
    const isHead = request.method === 'HEAD'
    const found = find(isHead ? 'GET' : request.method, url.pathname)
    const trace: Trace = { requestId, ...operationOf(found, group), method: request.method }
    describeInvocation(trace, found.outcome === 'found' ? trace.operationId : undefined)
    const tell: Tell = (caller) => {
      Object.assign(trace, caller)
      describeInvocation(caller)
    }
    const { answer, fault } = await answerTo(request, url, found, tell, deps)
    const details = { ...trace, status: answer.status, durationMs: deps.nowMs() - startedMs }
    if (fault !== undefined) deps.log.error(fault.event, fault.error, details)
    deps.log.info('http.answered', details)
    const headers = { ...answer.headers, 'x-request-id': requestId }
    // RFC 9110, section 9.3.2: what GET would answer, without its content.
    return isHead ? { status: answer.status, headers } : { ...answer, headers }
  }
}

/** What the log line of a request says of it. Grows while the request is understood. */
type Trace = {
  requestId: string
  operationId: string
  /** The path's template; undefined when there is no such operation. */
  route?: string
  method: string
  tenantId?: string
  callerId?: string
}

/** Told who asks as soon as that is known. */
type Tell = (caller: { readonly tenantId: string; readonly callerId: string }) => void

type Answered = {
  readonly answer: HttpResponse
  /** What has gone wrong on our side, or behind us. */
  readonly fault?: { readonly event: 'http.fault' | 'http.upstream'; readonly error: unknown }
}

function operationOf(found: RouteMatch, { prefix }: RouteGroup): Pick<Trace, 'operationId' | 'route'> {
  if (found.outcome !== 'found') return { operationId: 'none' }
  const { operationId, path } = found.route
  return { operationId, route: `/${prefix}${path}` }
}

async function answerTo(
  request: HttpRequest,
  url: URL,
  found: RouteMatch,
  tell: Tell,
  deps: DispatchDependencies,
): Promise<Answered> {
  try {
    if (found.outcome === 'none')
      throw new Refusal('RouteNotFound', `There is nothing at ${url.pathname.slice(0, 200)}`)
    if (found.outcome === 'other-methods') {
      const refusal = new Refusal('MethodNotAllowed', `${request.method} is not one of ${found.allow.join(', ')}`)
      return { answer: refusalEnvelope(refusal, { allow: found.allow.join(', ') }) }
    }
    const { route } = found
    const caller = await deps.authenticate(request.header('authorization'))
    tell({ tenantId: caller.tenantId, callerId: caller.objectId })
    authorise(caller, route)
    const identityId = await identityOf(caller, route, deps)
    const input = {
      caller,
      identityId,
      path: readPath(found.path, route.parameters),
      query: readQuery(route.query, url.searchParams),
      body: await validBody(request, route),
      ifMatch: ifMatchOf(request),
    }
    const answer = await runRoute(route, input, request, deps.once)
    const isUnchanged = isKnownVersion(request, answer.headers?.etag)
    return { answer: isUnchanged ? notModified(answer) : await wrapped(answer, route, deps) }
  } catch (error) {
    if (!(error instanceof Refusal)) return { answer: faultEnvelope(), fault: { event: 'http.fault', error } }
    const answer = refusalEnvelope(error, adviceOn(error))
    return error.kind === 'upstream' ? { answer, fault: { event: 'http.upstream', error } } : { answer }
  }
}

async function wrapped(answer: RouteResult, { reply: { status } }: Route, { scheduler }: DispatchDependencies) {
  if (scheduler === undefined || !hasLongList(answer.data)) return successEnvelope(answer, status)
  return scheduler.run(successEnvelopeSteps(answer, status))
}

/** What a client should do about a refusal, in the headers that its library looks at. */
function adviceOn(refusal: Refusal): Record<string, string> {
  if (refusal.code === 'IdempotencyKeyInUse') return { 'retry-after': '1' }
  return httpStatusOf(refusal) === 401 ? { 'www-authenticate': 'Bearer' } : {}
}

function authorise(caller: Caller, route: Route): void {
  if (route.roles.some((role) => caller.roles.has(role))) return
  if (caller.kind === 'application' && route.roles.every(isUserRole)) throw new Refusal('UsersOnly')
  throw new Refusal('RoleRequired', `This needs one of the roles ${route.roles.join(', ')}`)
}

/** Part of the 403 for the role, and so before the input is looked at: decisions, section 10. */
async function identityOf(
  caller: Caller,
  { identity }: Route,
  deps: DispatchDependencies,
): Promise<string | undefined> {
  if (identity === undefined) return undefined
  const identityId = caller.kind === 'user' ? await deps.findIdentity(caller) : undefined
  const isExempt = identity.exempt.some((role) => caller.roles.has(role))
  if (identityId === undefined && !isExempt) throw new Refusal('CallerHasNoIdentity')
  return identityId
}

async function validBody(request: HttpRequest, route: Route): Promise<unknown> {
  if (route.body === undefined) return undefined
  const body = await readJsonBody(request, route)
  const faults = bodyFaults(route.body, body)
  if (faults.length > 0) throw Refusal.ofAll(faults)
  return knownMembers(route, body)
}

/** Clients send back whole records: members that the schema does not name are dropped here. */
function knownMembers(route: Route, body: unknown): unknown {
  const properties = (route.body as TObject | undefined)?.properties
  if (properties === undefined || typeof body !== 'object' || body === null || Array.isArray(body)) return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(properties, name)))
}

function ifMatchOf(request: HttpRequest): string | undefined {
  const value = request.header('if-match')?.trim()
  return value === undefined || value === '' || value === '*' ? undefined : value
}
