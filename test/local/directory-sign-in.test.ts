import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  OTHER_TENANT,
  openDirectory,
  PERSON,
  PUBLIC_CLIENT,
  SERVICE,
  send,
  TENANT,
} from '../support/local/directory-fixture.ts'

const CONSOLE = 'http://localhost:7071/console'
const CONSOLE_ORIGIN = 'http://localhost:7071'
const VERIFIER = 'v'.repeat(43)
const SCOPE = `openid profile offline_access api://${SERVICE}/user_impersonation`
const START_MS = Date.parse('2030-01-01T08:00:00Z')
const HOUR_MS = 60 * 60 * 1000

const WANTED: Readonly<Record<string, string>> = {
  client_id: PUBLIC_CLIENT,
  redirect_uri: CONSOLE,
  response_type: 'code',
  scope: SCOPE,
  state: 'the state',
  nonce: 'the nonce',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}

describe('Sign-in with a browser', () => {
  let directory: LocalDirectory
  let nowMs = START_MS
  before(async () => {
    directory = await openDirectory({ nowMs: () => nowMs })
  })
  after(() => directory.close())
  beforeEach(() => {
    nowMs = START_MS
  })

  const authorizeUrl = (change: Record<string, string | undefined> = {}, tenant = 'organizations') => {
    const given = Object.entries({ ...WANTED, ...change }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    )
    return `${directory.signInUrl}/${tenant}/oauth2/v2.0/authorize?${new URLSearchParams(given)}`
  }
  const open = (url: string, cookie = '') => fetch(url, { redirect: 'manual', headers: { cookie } })
  const choose = (url: string, person = `${TENANT}/${PERSON}`, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ person }) })
  const returned = (response: Response) => new URL(response.headers.get('location') ?? '').searchParams
  const codeOf = async (url = authorizeUrl()) => returned(await choose(url)).get('code') ?? ''
  const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

  async function redeem(form: Record<string, string>, origin: string | null = CONSOLE_ORIGIN) {
    const response = await fetch(`${directory.signInUrl}/organizations/oauth2/v2.0/token`, {
      method: 'POST',
      headers: origin === null ? {} : { origin },
      body: new URLSearchParams({ client_id: PUBLIC_CLIENT, ...form }),
    })
    return { response, status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const byCode = (code: string) => ({
    grant_type: 'authorization_code',
    code,
    redirect_uri: CONSOLE,
    code_verifier: VERIFIER,
  })

  it('lists the people of all tenants with their roles, and of one tenant at its own address', async () => {
    const [all, one] = await Promise.all(
      [authorizeUrl(), authorizeUrl({}, OTHER_TENANT)].map(async (url) => (await open(url)).text()),
    )
    assert.match(all ?? '', /one\.example.*Ada Åsheim.*admin@one\.example.*Administrator.*two\.example/s)
    assert.doesNotMatch(one ?? '', /one\.example/)
  })

  it('returns a code and the state to the redirect URI, in the query or in the fragment', async () => {
    const response = await choose(authorizeUrl())
    assert.equal(response.status, 302)
    assert.deepEqual([returned(response).get('state'), returned(response).has('code')], ['the state', true])
    const inFragment = new URL(
      (await choose(authorizeUrl({ response_mode: 'fragment' }))).headers.get('location') ?? '',
    )
    assert.deepEqual([inFragment.search, new URLSearchParams(inFragment.hash.slice(1)).get('state')], ['', 'the state'])
  })

  it('issues tokens for the code, whose issuer is that of the directory with TLS', async () => {
    const { status, response, body } = await redeem(byCode(await codeOf()))
    assert.deepEqual([status, body.token_type], [200, 'Bearer'])
    assert.equal(response.headers.get('access-control-allow-origin'), CONSOLE_ORIGIN)
    const keys = createRemoteJWKSet(new URL(`${directory.signInUrl}/common/discovery/v2.0/keys`))
    const { payload } = await jwtVerify(String(body.access_token), keys, {
      audience: SERVICE,
      currentDate: new Date(nowMs),
    })
    assert.deepEqual(
      [payload.iss, payload.oid, payload.tid, payload.scp, payload.roles],
      [`${directory.url}/${TENANT}/v2.0`, PERSON, TENANT, 'user_impersonation', ['Administrator']],
    )
    const { aud, nonce, oid } = decodeJwt(String(body.id_token))
    assert.deepEqual([aud, nonce, oid], [PUBLIC_CLIENT, 'the nonce', PERSON])
  })

  it('signs in silently while the browser has a session, and asks when the client wants it', async () => {
    const cookie = cookieOf(await choose(authorizeUrl()))
    assert.ok(returned(await open(authorizeUrl({ prompt: 'none' }), cookie)).has('code'))
    assert.ok(returned(await open(authorizeUrl(), cookie)).has('code'))
    assert.equal((await open(authorizeUrl({ prompt: 'login' }), cookie)).status, 200)
    assert.equal((await open(authorizeUrl({ login_hint: 'somebody@one.example' }), cookie)).status, 200)
    assert.equal(
      returned(await open(authorizeUrl({ prompt: 'none' }, OTHER_TENANT), cookie)).get('error'),
      'login_required',
    )
  })

  it('keeps the session for hidden frames of pages, where browsers allow it: with TLS', async () => {
    const attributesOf = async (origin: string) => {
      const response = await choose(authorizeUrl().replace(directory.signInUrl, origin))
      return (response.headers.get('set-cookie') ?? '').split('; ').slice(1)
    }
    assert.deepEqual(await attributesOf(directory.url), ['Path=/', 'HttpOnly', 'SameSite=None', 'Secure'])
    assert.deepEqual(await attributesOf(directory.signInUrl), ['Path=/', 'HttpOnly', 'SameSite=Lax'])
  })

  it('ends the session of the browser at logout, and returns to a registered address only', async () => {
    const cookie = cookieOf(await choose(authorizeUrl()))
    const logout = `${directory.signInUrl}/organizations/oauth2/v2.0/logout?post_logout_redirect_uri=`
    assert.equal((await open(`${logout}https://elsewhere.example`, cookie)).headers.get('location'), null)
    assert.equal((await open(`${logout}${CONSOLE}`, cookie)).headers.get('location'), CONSOLE)
    assert.equal(returned(await open(authorizeUrl({ prompt: 'none' }), cookie)).get('error'), 'login_required')
  })

  for (const [claim, change, error] of [
    ['no code challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a plain code challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a token in the redirect', { response_type: 'token' }, 'unsupported_response_type'],
    ['no scope', { scope: undefined }, 'invalid_request'],
    ['no session and prompt=none', { prompt: 'none' }, 'login_required'],
  ] as const) {
    it(`returns ${error} to the redirect URI for ${claim}`, async () => {
      const answer = returned(await open(authorizeUrl(change)))
      assert.deepEqual([answer.get('error'), answer.get('state'), answer.has('code')], [error, 'the state', false])
      assert.match(answer.get('error_description') ?? '', /^AADSTS\d+: /)
    })
  }

  for (const [claim, change] of [
    ['an unknown client', { client_id: SERVICE }],
    ['a redirect URI that is not registered', { redirect_uri: 'https://elsewhere.example/console' }],
    ['an unknown response mode', { response_mode: 'web_message' }],
  ] as const) {
    it(`shows ${claim} on a page, without a redirect`, async () => {
      const response = await open(authorizeUrl(change))
      assert.deepEqual([response.status, response.headers.get('location')], [400, null])
      assert.match(await response.text(), /AADSTS\d+/)
    })
  }

  it('refuses a form of another site, and a person who does not exist', async () => {
    assert.equal((await choose(authorizeUrl(), undefined, { origin: 'https://elsewhere.example' })).status, 403)
    assert.equal((await choose(authorizeUrl(), `${TENANT}/${SERVICE}`)).status, 400)
    assert.equal((await choose(authorizeUrl({}, OTHER_TENANT), `${TENANT}/${PERSON}`)).status, 400)
  })

  it('shows user input as text', async () => {
    const body = await (await open(authorizeUrl({ redirect_uri: 'http://x/<script>' }))).text()
    assert.ok(!body.includes('<script>'))
  })

  it('redeems a code once, within ten minutes, for its own redirect URI and verifier', async () => {
    const code = await codeOf()
    for (const [change, number] of [
      [{ code_verifier: 'w'.repeat(43) }, 501481],
      [{ redirect_uri: 'http://localhost:7071/other' }, 50011],
      [{ client_id: SERVICE }, 9002313],
      [{ code: 'made up' }, 9002313],
    ] as const) {
      const { status, body } = await redeem({ ...byCode(code), ...change })
      assert.deepEqual([status, body.error_codes], [400, [number]])
    }
    assert.equal((await redeem(byCode(code))).status, 200)
    assert.deepEqual((await redeem(byCode(code))).body.error_codes, [54005])
    const late = await codeOf()
    nowMs += 10 * 60 * 1000
    assert.deepEqual((await redeem(byCode(late))).body.error_codes, [70008])
  })

  it('redeems codes of a page with an Origin only, and for pages of registered origins only', async () => {
    assert.deepEqual((await redeem(byCode(await codeOf()), null)).body.error_codes, [9002327])
    const { response } = await redeem(byCode(await codeOf()), 'https://elsewhere.example')
    assert.equal(response.headers.get('access-control-allow-origin'), null)
  })

  it('refreshes tokens for 24 hours after the sign-in, however often', async () => {
    let { body } = await redeem(byCode(await codeOf()))
    const refresh = () => redeem({ grant_type: 'refresh_token', refresh_token: String(body.refresh_token) })
    for (let hour = 1; hour <= 23; hour += 1) {
      nowMs = START_MS + hour * HOUR_MS
      const answer = await refresh()
      assert.equal(answer.status, 200)
      body = answer.body
    }
    assert.equal(decodeJwt(String(body.access_token)).oid, PERSON)
    nowMs = START_MS + 24 * HOUR_MS
    assert.deepEqual((await refresh()).body.error_codes, [700084])
  })

  it('issues no refresh token without offline_access', async () => {
    const code = await codeOf(authorizeUrl({ scope: `api://${SERVICE}/.default` }))
    const { body } = await redeem(byCode(code))
    assert.deepEqual([typeof body.access_token, body.refresh_token, body.id_token], ['string', undefined, undefined])
  })

  it('describes endpoints of the address that was asked, with one issuer', async () => {
    const path = `/${TENANT}/v2.0/.well-known/openid-configuration`
    const plain = (await (await fetch(directory.signInUrl + path)).json()) as Record<string, string>
    const secure = (await send(directory, 'GET', path)).body
    assert.equal(plain.issuer, secure.issuer)
    assert.ok(plain.authorization_endpoint?.startsWith(directory.signInUrl))
    assert.ok(secure.token_endpoint.startsWith(directory.url))
  })

  it('serves neither Graph nor the control routes without TLS', async () => {
    for (const path of ['/v1.0/users', '/local/demo']) {
      assert.equal((await fetch(directory.signInUrl + path)).status, 404)
    }
  })
})
