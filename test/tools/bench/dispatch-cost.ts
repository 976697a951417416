import { randomUUID } from 'node:crypto'
import { criteriaRoutes } from '../../../functions/routes/collections-criteria.ts'
import { callerAdmission } from '../../../shared/auth/caller-admission.ts'
import { tokenVerifier } from '../../../shared/auth/token-verifier.ts'
import { type DispatchDependencies, dispatcher } from '../../../shared/http/dispatch.ts'
import { openAuthority } from '../../support/auth/authority-front.ts'
import { PERSON, SERVICE, TENANT } from '../../support/local/directory-fixture.ts'

const REQUEST_COUNT = 50_000
const TOKEN_COUNT = 300
/** A limit of requests that is checked but never reached. */
const UNREACHED = 999_999_999

/** Cost of one request in milliseconds. */
export type RequestCost = { readonly what: string; readonly costMs: number; readonly hasLimit: boolean }

const id = '0f8fad5b-d9cb-469f-a165-70867728950e'
const condition = {
  groupOperator: 'AND',
  conditions: [{ id: 'identityDisplayName', field: 'identityDisplayName', operator: 'Equals', value: 'Ada' }],
}
const body = JSON.stringify({
  objectType: 'Identity',
  name: 'Adas',
  condition,
  metadata: { tags: ['a'], attributes: {} },
})

/**
 * Measures how long the dispatcher takes to route, authenticate, admit, authorise, validate and answer a request whose
 * route does nothing, with a token that it has verified before; and how long the first use of a token takes.
 */
export async function requestCosts(): Promise<RequestCost[]> {
  const authority = await openAuthority()
  const nowMs = Date.now
  const authenticate = tokenVerifier(
    { authorityUrl: authority.url, audiences: [SERVICE], scope: 'user_impersonation' },
    nowMs,
  )
  const iat = Math.floor(nowMs() / 1000)
  const claims = {
    ver: '2.0',
    iss: `${authority.url}/${TENANT}/v2.0`,
    aud: SERVICE,
    tid: TENANT,
    oid: PERSON,
    sub: PERSON,
    idtyp: 'app',
    azp: SERVICE,
    roles: ['collections-criteria.criteria.readwrite.all'],
    iat,
    exp: iat + 3600,
  }
  const tokens: string[] = []
  for (let index = 0; index < TOKEN_COUNT; index += 1)
    tokens.push(await authority.signed({ ...claims, jti: `${index}` }))
  const [token = '', ...others] = tokens
  const get = await dispatchCostMs(authenticate, token, { method: 'GET', path: `/${id}` })
  const post = await dispatchCostMs(authenticate, token, { method: 'POST', path: '', body })
  const startMs = performance.now()
  for (const other of others) await authenticate(`Bearer ${other}`)
  const verificationMs = (performance.now() - startMs) / others.length
  await authority.close()
  return [
    { what: 'a request before its route runs: GET of a record', costMs: get, hasLimit: true },
    { what: 'a request before its route runs: POST of a collection', costMs: post, hasLimit: true },
    { what: 'a token that is seen for the first time', costMs: verificationMs, hasLimit: false },
  ]
}

/** Milliseconds from the host's request to its response, for a route that responds immediately. */
async function dispatchCostMs(
  authenticate: DispatchDependencies['authenticate'],
  token: string,
  { method, path, body: sent = '' }: { method: string; path: string; body?: string },
): Promise<number> {
  const { prefix, routes } = criteriaRoutes({} as never)
  const idle = routes.map((route) => ({ ...route, run: async () => ({ data: null }) }))
  const log = { info() {}, warn() {}, error() {} }
  const newId = randomUUID
  const dispatch = dispatcher(
    { prefix, routes: idle },
    {
      authenticate,
      admit: callerAdmission(
        {
          tenants: new Set([TENANT]),
          requestsPerCallerPerMinute: UNREACHED,
          requestsPerTenantPerMinute: UNREACHED,
        },
        () => performance.now(),
      ),
      findIdentity: async () => undefined,
      idempotency: { newId } as DispatchDependencies['idempotency'],
      log,
      newId,
      nowMs: Date.now,
    },
  )
  const headers = new Map([
    ['authorization', `Bearer ${token}`],
    ['content-type', 'application/json'],
  ])
  const bytes = new TextEncoder().encode(sent)
  const request = {
    method,
    url: `http://localhost:7071/${prefix}${path}`,
    header: (name: string) => headers.get(name) ?? null,
    bytes: async () => bytes,
  }
  const run = async (): Promise<number> => {
    const startMs = performance.now()
    for (let count = 0; count < REQUEST_COUNT; count += 1) await dispatch(request)
    return (performance.now() - startMs) / REQUEST_COUNT
  }
  const { status } = await dispatch(request)
  if (status >= 300) throw new Error(`${method} ${path} answered ${status}`)
  // The first run compiles.
  await run()
  return run()
}
