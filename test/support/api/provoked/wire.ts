import { randomUUID } from 'node:crypto'
import { collectionRoutes } from '../../../../functions/routes/collections.ts'
import { callerAdmission } from '../../../../shared/auth/caller-admission.ts'
import { tokenVerifier } from '../../../../shared/auth/token-verifier.ts'
import { derivedId } from '../../../../shared/cosmos/derived-id.ts'
import type { RefusalCode } from '../../../../shared/kernel/refusal-register.ts'
import { faultLog, requestsTo } from '../built-service.ts'
import { type JoinableFixture, OPEN } from '../joinable-fixture.ts'
import { type Provocation, provoked } from './provocation.ts'

const JOINABLE = '/collections-joinable/beta'
const NEW_COLLECTION = { objectType: 'Identity', name: 'Choir', joinPolicy: OPEN }
/** The discard port, on which no process listens. */
const UNREACHABLE_AUTHORITY = 'http://127.0.0.1:9'

/** Refusals before a route runs: routing, authentication, authorization, reading the request. */
export function wireProvocations(fixture: JoinableFixture) {
  const { call, admin, caller, writer } = fixture
  const get = (path: string, token = admin) => call(token, 'GET', path)
  const post = (body: unknown, headers?: Record<string, string>) => call(admin, 'POST', JOINABLE, body, headers)
  const keyed = (key: string, body: object = NEW_COLLECTION) => post(body, { 'idempotency-key': key })
  const withToken = tokenCheck(fixture)
  return {
    RouteNotFound: () => get('/collections/beta/a/b/c'),
    MethodNotAllowed: () => call(admin, 'PATCH', '/collections/beta'),
    TokenMissing: () => get('/collections/beta', ''),
    TokenInvalid: () => withToken('Bearer x'),
    TokenNotVerified: () => withToken(`Bearer ${encoded({ alg: 'RS256', kid: 'x' })}.${encoded({ ver: '2.0' })}.x`),
    TenantNotAllowed: () =>
      admitted(fixture, { tenants: new Set(), requestsPerCallerPerMinute: 0, requestsPerTenantPerMinute: 0 }, 1),
    TooManyRequests: () =>
      admitted(fixture, { tenants: 'any', requestsPerCallerPerMinute: 1, requestsPerTenantPerMinute: 0 }, 2),
    RoleRequired: () => get('/collections/beta', caller('user', [])),
    UsersOnly: () => get(`${JOINABLE}/member-of`, writer),
    CallerHasNoIdentity: () => get(`${JOINABLE}/member-of`, caller('user', ['User'])),
    InvalidId: () => get('/collections/beta/x'),
    InvalidJson: () => post(new TextEncoder().encode('{')),
    BodyRequired: () => post(undefined),
    LengthRequired: () => post(undefined, { 'transfer-encoding': 'chunked' }),
    BodyTooLarge: () => post({ ...NEW_COLLECTION, description: 'x'.repeat(1024 * 1024) }),
    BodyTooDeep: () => post(new TextEncoder().encode(`${'['.repeat(65)}${']'.repeat(65)}`)),
    UnsupportedMediaType: () => post(NEW_COLLECTION, { 'content-type': 'text/plain' }),
    MissingMember: () => post({}),
    UnknownMember: () => post({ ...NEW_COLLECTION, descripton: 'x' }),
    UnknownParameter: () => get('/collections/beta/search?tag=x'),
    InvalidType: () => post({ ...NEW_COLLECTION, name: 1 }),
    InvalidValue: () => post({ ...NEW_COLLECTION, objectType: 'Cat' }),
    InvalidLength: () => post({ ...NEW_COLLECTION, name: '' }),
    IdempotencyKeyInvalid: () => keyed(''),
    async IdempotencyKeyReused() {
      const key = randomUUID()
      await keyed(key)
      return keyed(key, { ...NEW_COLLECTION, name: 'Band' })
    },
    async IdempotencyKeyInUse() {
      const key = randomUUID()
      const callerId = randomUUID()
      const token = caller('user', ['collection_criteria_definition-administrator'], callerId)
      const send = () => call(token, 'POST', JOINABLE, NEW_COLLECTION, { 'idempotency-key': key })
      await send()
      const item = fixture.container('idempotencyKeys').item(derivedId(callerId, key), fixture.tenantId)
      // The state of the key while the first request is in progress.
      await item.replace({ ...(await item.read()).resource, result: null, inProgressUntilMs: fixture.nowMs() + 60_000 })
      return send()
    },
  } satisfies Partial<Record<RefusalCode, Provocation>>
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The last of several requests of one caller under these settings. */
async function admitted(
  { deps, service, admin, nowMs }: JoinableFixture,
  settings: Parameters<typeof callerAdmission>[0],
  requestCount: number,
) {
  const admit = callerAdmission(settings, nowMs)
  const request = requestsTo([collectionRoutes(deps)], { ...service.dispatch, admit })
  const send = () => request('GET', '/collections/beta', { authorization: admin })
  for (let count = 1; count < requestCount; count += 1) await send()
  const { status, body } = await send()
  return provoked({ status, body: JSON.parse(body ?? '') })
}

/** A request whose token is checked by the service's own verifier, with an authority that is unreachable. */
function tokenCheck({ deps, service, nowMs }: JoinableFixture) {
  const authenticate = tokenVerifier({ authorityUrl: UNREACHABLE_AUTHORITY, audiences: ['x'], scope: 'x' }, nowMs)
  const request = requestsTo([collectionRoutes(deps)], { ...service.dispatch, authenticate, log: faultLog() })
  return async (authorization: string) => {
    const { status, body } = await request('GET', '/collections/beta', { authorization })
    return provoked({ status, body: JSON.parse(body ?? '') })
  }
}
