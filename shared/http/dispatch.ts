import type { TObject, TSchema } from 'typebox'
import type { IdempotencyDependencies } from '../domain/idempotency/run-once.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CooperativeScheduler } from '../kernel/cooperative-scheduler.ts'
import type { Log } from '../kernel/log.ts'
import { Refusal, type RefusalEntry, throwIfRefused } from '../kernel/refusals.ts'
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
import { containsList } from './json-steps.ts'
import { type RouteMatch, routeMatcher } from './match-route.ts'
import { type HttpRequest, isKnownVersion, readJsonBody, requestIdOf } from './request.ts'
import { isForUsersOnly, type Route, type RouteGroup } from './route.ts'
import { runRoute } from './run-route.ts'
import { bodyFaults, controlFaults, readPath, readQuery, withoutOptionalNulls } from './validation.ts'

export type DispatchDependencies = {
  /** @throws Refusal `TokenMissing`, `TokenInvalid`, `TokenNotVerified`. */
  authenticate(authorization: string | null): Promise<Caller>
  /** @throws Refusal `TenantNotAllowed`, `TooManyRequests`. */
  admit(caller: Caller): void
  /** The core identity of the caller's account; undefined when there is none. */
  findIdentity(caller: Caller): Promise<string | undefined>
  readonly idempotency: IdempotencyDependencies
  /** Serializes long results without blocking other requests. Without it, they are serialized at once. */
  readonly scheduler?: CooperativeScheduler
  readonly log: Log
  newId(): string
  nowMs(): number
}

/**
 * Returns the function that responds to every request below a group's prefix: match the route, authenticate, admit the
 * caller, authorize, validate, run, serialize. It never throws. Of several faults, the first in this order is returned.
 */
export function dispatcher(
  group: RouteGroup,
  deps: DispatchDependencies,
): (request: HttpRequest) => Promise<HttpResponse> {
  const match = routeMatcher(group)
  return async (request) => {
    const startedMs = deps.nowMs()
    const requestId = requestIdOf(request, deps.newId)
    const url = new URL(request.url, 'http://localhost')
    const isHead = request.method === 'HEAD'
    const matched = match(isHead ? 'GET' : request.method, url.pathname)
    const operation = operationOf(matched, group)
    describeInvocation({ requestId, operationId: 'none', ...operation, method: request.method }, operation?.operationId)
    const { response, fault } = await respond(request, url, matched, deps)
    const logged = { status: response.status, durationMs: deps.nowMs() - startedMs }
    if (fault !== undefined) deps.log.error(fault.event, fault.error, logged)
    deps.log.info('http.completed', logged)
    const headers = { ...response.headers, 'x-request-id': requestId }
    // RFC 9110, section 9.3.2: the response to GET, without its content.
    return isHead ? { status: response.status, headers } : { ...response, headers }
  }
}

type Outcome = {
  readonly response: HttpResponse
  /** An error of this service (`http.fault`) or of one that it depends on (`http.upstream`). */
  readonly fault?: { readonly event: 'http.fault' | 'http.upstream'; readonly error: unknown }
}

/** The operation and the path template of a request; undefined when no route matches. */
function operationOf(matched: RouteMatch, { prefix }: RouteGroup) {
  if (matched.outcome !== 'found') return undefined
  const { operationId, path } = matched.route
  return { operationId, route: `/${prefix}${path}` }
}

async function respond(
  request: HttpRequest,
  url: URL,
  matched: RouteMatch,
  deps: DispatchDependencies,
): Promise<Outcome> {
  try {
    if (matched.outcome === 'none') {
      throw new Refusal('RouteNotFound', `The path ${url.pathname.slice(0, 200)} does not exist`)
    }
    if (matched.outcome === 'other-methods') {
      const allow = matched.allow.join(', ')
      const message = `${request.method} is not allowed. Allowed methods: ${allow}`
      return { response: refusalEnvelope(new Refusal('MethodNotAllowed', message), { allow }) }
    }
    const { route } = matched
    const caller = await deps.authenticate(request.header('authorization'))
    describeInvocation({ tenantId: caller.tenantId, callerId: caller.objectId })
    deps.admit(caller)
    authorize(caller, route)
    const identityId = await identityOf(caller, route, deps)
    const path = readPath(matched.path, route.parameters)
    const query = readQuery(route.query, url.searchParams)
    const input = {
      caller,
      identityId,
      path: path.values,
      query: query.values,
      body: await validBody(request, route, [...path.faults, ...query.faults], deps),
      ifMatch: ifMatchOf(request),
      ifPlan: ifPlanOf(request),
    }
    const result = await runRoute(route, input, request, deps.idempotency)
    const isUnchanged = route.reply.versioned === true && isKnownVersion(request, result.headers?.etag)
    return { response: isUnchanged ? notModified(result) : await serialized(result, route, deps) }
  } catch (error) {
    if (!(error instanceof Refusal)) return { response: faultEnvelope(), fault: { event: 'http.fault', error } }
    const response = refusalEnvelope(error, headersOf(error))
    return error.kind === 'upstream' ? { response, fault: { event: 'http.upstream', error } } : { response }
  }
}

async function serialized(
  result: RouteResult,
  { reply: { status } }: Route,
  { scheduler }: Pick<DispatchDependencies, 'scheduler'>,
) {
  if (scheduler === undefined || !containsList(result.data)) return successEnvelope(result, status)
  return scheduler.run(successEnvelopeSteps(result, status))
}

/** Headers that tell HTTP clients how to continue after a refusal. */
function headersOf(refusal: Refusal): Record<string, string> {
  if (refusal.retryAfterS !== undefined) return { 'retry-after': `${refusal.retryAfterS}` }
  return httpStatusOf(refusal) === 401 ? { 'www-authenticate': 'Bearer' } : {}
}

function authorize(caller: Caller, route: Route): void {
  if (route.roles === 'any' || route.roles.some((role) => caller.roles.has(role))) return
  if (caller.kind === 'application' && isForUsersOnly(route)) throw new Refusal('UsersOnly')
  throw new Refusal('RoleRequired', `This operation requires one of the roles ${route.roles.join(', ')}`)
}

/** Checked with the roles, before the input is validated: `CallerHasNoIdentity` is about the caller. */
async function identityOf(
  caller: Caller,
  { identity }: Route,
  deps: Pick<DispatchDependencies, 'findIdentity'>,
): Promise<string | undefined> {
  if (identity === undefined) return undefined
  const identityId = caller.kind === 'user' ? await deps.findIdentity(caller) : undefined
  const isExempt = identity === 'optional' || identity.exempt.some((role) => caller.roles.has(role))
  if (identityId === undefined && !isExempt) throw new Refusal('CallerHasNoIdentity')
  return identityId
}

/**
 * The known members of the body.
 * @param ofParameters Reported together with the errors in the form of the body, after those of a body that cannot be
 * read.
 */
async function validBody(
  request: HttpRequest,
  route: Route,
  ofParameters: readonly RefusalEntry[],
  { scheduler }: Pick<DispatchDependencies, 'scheduler'>,
): Promise<unknown> {
  if (route.body === undefined) {
    throwIfRefused(ofParameters)
    return undefined
  }
  const body = withoutOptionalNulls(route.body, await readJsonBody(request, route, scheduler))
  throwIfRefused([...ofParameters, ...bodyFaults(route.body, body)])
  const known = knownMembers(route.body, body)
  // Items that fail alone are checked one by one.
  if (route.itemsFailAlone !== true) throwIfRefused(controlFaults(known))
  return known
}

/** Drops members that are not in the schema of an object: clients send back whole records. */
function knownMembers(schema: TSchema, body: unknown): unknown {
  const { properties } = schema as Partial<TObject>
  if (properties === undefined) return body
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => Object.hasOwn(properties, name)))
}

function ifMatchOf(request: HttpRequest): string | undefined {
  const value = request.header('if-match')?.trim()
  return value === '' || value === '*' ? undefined : value
}

/** An empty one names no plan. It is not taken as absent: the caller does not want to save without one. */
function ifPlanOf(request: HttpRequest): string | undefined {
  return request.header('if-plan')?.trim()
}
