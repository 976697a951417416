import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import { openDirectory, PERSON, PUBLIC_CLIENT, SERVICE, TENANT } from '../support/local/directory-fixture.ts'
import { peopleOn, postedForm } from '../support/local/signing-in-browser.ts'

const LOOPBACK = 'http://localhost:49152/'
const CONSOLE = 'http://localhost:7071/console'
const VERIFIER = 'v'.repeat(43)
const START_MS = Date.parse('2030-01-01T08:00:00Z')
const DAY_MS = 24 * 60 * 60 * 1000

const REQUEST: Readonly<Record<string, string>> = {
  client_id: PUBLIC_CLIENT,
  redirect_uri: LOOPBACK,
  response_type: 'code',
  scope: `openid profile offline_access api://${SERVICE}/.default`,
  state: 'the state',
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
}

describe('Sign-in of a program with a redirect to localhost', () => {
  let directory: LocalDirectory
  let nowMs = START_MS
  before(async () => {
    directory = await openDirectory({ nowMs: () => nowMs })
  })
  after(() => directory.close())
  beforeEach(() => {
    nowMs = START_MS
  })

  const authorizeUrl = (change: Record<string, string> = {}) =>
    `${directory.signInUrl}/organizations/oauth2/v2.0/authorize?${new URLSearchParams({ ...REQUEST, ...change })}`
  const choose = (change: Record<string, string> = {}) =>
    fetch(authorizeUrl(change), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ person: `${TENANT}/${PERSON}` }),
    })
  const locationOf = async (change: Record<string, string>) =>
    new URL((await choose(change)).headers.get('location') ?? '')
  const codeFor = async (redirect_uri = LOOPBACK) => (await locationOf({ redirect_uri })).searchParams.get('code') ?? ''
  const byCode = async (redirect_uri = LOOPBACK) => ({
    grant_type: 'authorization_code',
    code: await codeFor(redirect_uri),
    redirect_uri,
    code_verifier: VERIFIER,
  })

  async function redeem(form: Record<string, string>, headers: Record<string, string> = {}) {
    const response = await fetch(`${directory.signInUrl}/organizations/oauth2/v2.0/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ client_id: PUBLIC_CLIENT, ...form }),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  it('lists the people on the sign-in page, each with the value that chooses them', async () => {
    const people = peopleOn(await (await fetch(authorizeUrl())).text())
    assert.equal(people.get('admin@one.example'), `${TENANT}/${PERSON}`)
  })

  for (const [redirectUri, returnedTo] of [
    ['http://localhost', 'http://localhost/'],
    ['http://localhost:49152', 'http://localhost:49152/'],
    ['http://localhost:8400/signed-in/here', 'http://localhost:8400/signed-in/here'],
  ] as const) {
    it(`returns the code to ${redirectUri}, and issues tokens for it without an Origin header`, async () => {
      const { origin, pathname, searchParams } = await locationOf({ redirect_uri: redirectUri })
      assert.deepEqual([origin + pathname, searchParams.get('state')], [returnedTo, 'the state'])
      const { status, body } = await redeem(await byCode(redirectUri))
      assert.equal(status, 200)
      const { oid, aud, azp, azpacr, scp } = decodeJwt(String(body.access_token))
      assert.deepEqual([oid, aud, azp, azpacr, scp], [PERSON, SERVICE, PUBLIC_CLIENT, '0', 'user_impersonation'])
      assert.equal(typeof body.refresh_token, 'string')
    })
  }

  it('posts the code to the program where it asks for form_post', async () => {
    const response = await choose({ response_mode: 'form_post', state: '"><b>' })
    const page = await response.text()
    const { action, values } = postedForm(page)
    assert.deepEqual([response.status, action, values.get('state')], [200, LOOPBACK, '"><b>'])
    assert.ok(!page.includes('"><b>'))
    const { status } = await redeem({ ...(await byCode()), code: values.get('code') ?? '' })
    assert.equal(status, 200)
    const script = /<script>(.*)<\/script>/.exec(page)?.[1] ?? ''
    const hash = createHash('sha256').update(script).digest('base64')
    assert.ok(response.headers.get('content-security-policy')?.includes(`script-src 'sha256-${hash}'`))
  })

  for (const redirectUri of [
    'https://localhost:49152/',
    'http://127.0.0.1:49152/',
    'http://[::1]:49152/',
    'http://localhost.example:49152/',
    'http://localhost@elsewhere.example/',
    'http://localhost:49152@elsewhere.example/',
    'http://localhost\\@elsewhere.example/',
    'http://localhost:99999/',
    'http://localhost:49152/?next=here',
    'http://localhost:49152/#here',
    'http://elsewhere.example/',
    '',
  ]) {
    it(`shows AADSTS50011 on a page for the redirect URI '${redirectUri}'`, async () => {
      const response = await choose({ redirect_uri: redirectUri })
      assert.deepEqual([response.status, response.headers.get('location')], [400, null])
      assert.match(await response.text(), /AADSTS50011/)
    })
  }

  it('returns AADSTS9002325 for a request without a code challenge', async () => {
    const { searchParams } = await locationOf({ code_challenge: '' })
    assert.equal(searchParams.get('error'), 'invalid_request')
    assert.match(searchParams.get('error_description') ?? '', /^AADSTS9002325: /)
  })

  it('refuses a code without verifier, with another one, for another port, and a second time', async () => {
    const form = await byCode()
    const { code_verifier: _, ...withoutVerifier } = form
    const refused: readonly (readonly [Record<string, string>, number])[] = [
      [withoutVerifier, 900144],
      [{ ...form, code_verifier: 'w'.repeat(43) }, 501481],
      [{ ...form, redirect_uri: 'http://localhost:49153/' }, 50011],
    ]
    for (const [changed, number] of refused) assert.deepEqual((await redeem(changed)).body.error_codes, [number])
    assert.equal((await redeem(form)).status, 200)
    assert.deepEqual((await redeem(form)).body.error_codes, [54005])
  })

  it('refuses a secret of a public client', async () => {
    const { status, body } = await redeem({ ...(await byCode()), client_secret: 'secret' })
    assert.deepEqual([status, body.error, body.error_codes], [401, 'invalid_client', [700025]])
  })

  it('redeems codes and refresh tokens of a program without Origin only, those of a page with it only', async () => {
    const page = { origin: 'http://localhost:7071' }
    const form = await byCode()
    assert.deepEqual((await redeem(form, page)).body.error_codes, [9002326])
    const { body } = await redeem(form)
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token) }
    assert.deepEqual((await redeem(refresh, page)).body.error_codes, [9002326])
    assert.equal((await redeem(refresh)).status, 200)

    const ofPage = await byCode(CONSOLE)
    assert.deepEqual((await redeem(ofPage)).body.error_codes, [9002327])
    assert.equal((await redeem(ofPage, page)).status, 200)
  })

  it('refreshes tokens of a program until 90 days have passed without use', async () => {
    let { body } = await redeem(await byCode())
    const refresh = () => redeem({ grant_type: 'refresh_token', refresh_token: String(body.refresh_token) })
    for (const day of [89, 178, 267]) {
      nowMs = START_MS + day * DAY_MS
      const answer = await refresh()
      assert.equal(answer.status, 200)
      body = answer.body
    }
    nowMs = START_MS + 357 * DAY_MS
    assert.deepEqual((await refresh()).body.error_codes, [700082])
  })
})
