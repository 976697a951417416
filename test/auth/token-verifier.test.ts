import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { type Authority, CLIENT, openAuthority, RESOURCE_URI } from '../support/auth/authority-front.ts'
import { OTHER_TENANT, PERSON, SERVICE, TENANT } from '../support/local/directory-fixture.ts'

const SCOPE = 'user_impersonation'
const NOW_S = 1_893_456_000
const MINUTE_S = 60
const HOUR_S = 3600
const DAY_S = 24 * HOUR_S
const USER_ROLE = 'Administrator'
const APP_ROLE = 'collections-criteria.criteria.read.all'

let authority: Authority
let nowS = NOW_S
let verify: (authorization: string | null) => Promise<Caller>

before(async () => {
  authority = await openAuthority()
})
after(() => authority.close())
beforeEach(() => {
  nowS = NOW_S
  authority.behave({ failure: 'none', publish: (keys) => keys })
  verify = newVerifier()
})

const newVerifier = () =>
  tokenVerifier({ authorityUrl: authority.url, audiences: [SERVICE, RESOURCE_URI], scope: SCOPE }, () => nowS * 1000)

type Claims = Record<string, unknown>

const userClaims = (claims: Claims = {}): Claims => ({
  ver: '2.0',
  iss: `${authority.url}/${TENANT}/v2.0`,
  aud: SERVICE,
  tid: TENANT,
  oid: PERSON,
  sub: 'pairwise',
  azp: CLIENT,
  scp: SCOPE,
  roles: [USER_ROLE],
  iat: NOW_S,
  nbf: NOW_S,
  exp: NOW_S + HOUR_S,
  ...claims,
})
const appClaims = (claims: Claims = {}): Claims =>
  userClaims({ scp: undefined, sub: PERSON, roles: [APP_ROLE], ...claims })
const versionOne = (claims: Claims): Claims => ({
  ...claims,
  ver: '1.0',
  iss: `https://sts.windows.net/${TENANT}/`,
  azp: undefined,
  appid: CLIENT,
})

const callerOf = async (claims: Claims) => verify(`Bearer ${await authority.signed(claims)}`)

async function refusalOf(authorization: string | null): Promise<string> {
  try {
    await verify(authorization)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return error.code
  }
  return 'accepted'
}

async function refused(...token: Parameters<Authority['signed']>): Promise<void> {
  assert.equal(await refusalOf(`Bearer ${await authority.signed(...token)}`), 'TokenInvalid')
}

describe('the caller of a token', () => {
  it('is the same in both versions', async () => {
    for (const claims of [userClaims(), versionOne(userClaims())]) {
      const { roles, ...caller } = await callerOf(claims)
      assert.deepEqual(caller, { kind: 'user', tenantId: TENANT, objectId: PERSON, clientId: CLIENT })
      assert.deepEqual([...roles], [USER_ROLE])
    }
  })

  for (const [claim, claims, kind] of [
    ['an application by idtyp', { idtyp: 'app', sub: 'other' }, 'application'],
    ['an application by sub and the lack of scp', { idtyp: undefined }, 'application'],
    ['a user when idtyp says so', { idtyp: 'user', scp: SCOPE }, 'user'],
    ['a user when there is a scp', { scp: SCOPE }, 'user'],
    ['a user with several scopes', { sub: 'pairwise', scp: `profile ${SCOPE} email` }, 'user'],
  ] as const) {
    it(`is ${claim}`, async () => assert.equal((await callerOf(appClaims(claims))).kind, kind))
  }

  it('has only the roles of its kind of caller', async () => {
    const both = [USER_ROLE, APP_ROLE, 'User', 'made-up', 7, null]
    assert.deepEqual([...(await callerOf(userClaims({ roles: both }))).roles], [USER_ROLE, 'User'])
    assert.deepEqual([...(await callerOf(appClaims({ roles: both }))).roles], [APP_ROLE])
    assert.deepEqual([...(await callerOf(userClaims({ roles: USER_ROLE }))).roles], [])
  })

  it('has no client when azp is no text', async () =>
    assert.equal((await callerOf(userClaims({ azp: 7 }))).clientId, undefined))

  it('has its ids in lower case', async () => {
    const upper = TENANT.toUpperCase()
    const iss = `${authority.url}/${upper}/v2.0`
    const caller = await callerOf(userClaims({ tid: upper, iss, oid: PERSON.toUpperCase() }))
    assert.deepEqual([caller.tenantId, caller.objectId], [TENANT, PERSON])
  })
})

describe('the audience', () => {
  for (const aud of [SERVICE, RESOURCE_URI, `${RESOURCE_URI}/`]) {
    it(`may be ${aud}, in both versions`, async () => {
      await callerOf(userClaims({ aud }))
      await callerOf(versionOne(userClaims({ aud })))
    })
  }
  for (const aud of [CLIENT, `${SERVICE}/`, `${RESOURCE_URI}//`, 'https://graph.microsoft.com', '', undefined, 7]) {
    it(`may not be ${JSON.stringify(aud)}`, () => refused(userClaims({ aud })))
  }
})

describe('a token', () => {
  for (const name of ['exp', 'iat', 'oid', 'tid', 'iss', 'ver'] as const) {
    it(`is refused without ${name}`, () => refused(userClaims({ [name]: undefined })))
  }
  for (const [claim, claims] of [
    ['an oid that is no GUID', { oid: 'me' }],
    ['a tid that is no GUID', { tid: 'common' }],
    ['an iss of another tenant', { tid: OTHER_TENANT }],
    ['the iss of the other version', { iss: `https://sts.windows.net/${TENANT}/` }],
    ['the iss of another authority', { iss: `https://login.example/${TENANT}/v2.0` }],
    ['an unknown version', { ver: '3.0' }],
    ['a version that names a member of every object', { ver: 'constructor' }],
    ['a version that is a number', { ver: 2 }],
    ['a version that is a list', { ver: ['2.0'] }],
    ['an exp that is text', { exp: 'tomorrow' }],
    ['no scope for a user', { scp: undefined }],
    ['no scope where idtyp says that it is a user', { scp: undefined, sub: PERSON, idtyp: 'user' }],
    ['another scope', { scp: 'access_as_user' }],
    ['a scope of which ours is only a part', { scp: `${SCOPE}.read` }],
    ['our scope in other letters', { scp: SCOPE.toUpperCase() }],
    ['a list of scopes', { scp: [SCOPE] }],
    ['no scope and no client, where sub is oid', { scp: undefined, sub: PERSON, azp: undefined }],
    [
      'the shape of an ID token',
      { scp: undefined, azp: undefined, nonce: 'n', name: 'Ada', preferred_username: 'a@b' },
    ],
    ['the shape of an ID token for the subject oid', { scp: undefined, sub: PERSON, nonce: 'n' }],
    ['a claim of ID tokens beside the scope', { at_hash: 'x' }],
  ] as const) {
    it(`is refused with ${claim}`, () => refused(userClaims(claims)))
  }

  it('is refused when alg is none, HS256 with the public key, or anything but RS256', async () => {
    for (const alg of ['none', 'HS256', 'RS512', 'PS256', 'ES256']) await refused(userClaims(), 'current', { alg })
  })

  it('is refused when its key is not the one of its header, belongs to another issuer, or has no id', async () => {
    await refused(userClaims(), 'unpublished')
    await refused(userClaims(), 'otherIssuer')
    await refused(versionOne(userClaims()), 'otherIssuer')
    await refused(userClaims(), 'current', { kid: null })
    await refused(userClaims(), 'current', { kid: 7 })
    const { kid } = JSON.parse(atob((await authority.signed(userClaims())).split('.')[0] ?? ''))
    await refused(userClaims(), 'unpublished', { kid })
  })

  it('is refused with an unknown critical header', () => refused(userClaims(), 'current', { crit: ['x'], x: 1 }))

  it('is refused with an iss of another tenant, also when its key has no issuer', async () => {
    authority.behave({ publish: (keys) => keys.map(({ issuer: _issuer, ...key }) => key) })
    await callerOf(userClaims())
    await refused(userClaims({ tid: OTHER_TENANT }))
    await refused(userClaims({ iss: `https://login.example/${TENANT}/v2.0` }))
    await refused({ ...versionOne(userClaims()), iss: userClaims().iss })
  })

  it('is refused without a tenant id, also when its iss matches', () =>
    refused(userClaims({ tid: 'common', iss: `${authority.url}/common/v2.0` })))

  it('is refused when its key id is a number, also when a key has the same digits as id', async () => {
    const { kid: current } = JSON.parse(atob((await authority.signed(userClaims())).split('.')[0] ?? ''))
    authority.behave({ publish: (keys) => keys.map((key) => (key.kid === current ? { ...key, kid: '7' } : key)) })
    await refused(userClaims(), 'current', { kid: 7 })
    assert.equal(
      (await verify(`Bearer ${await authority.signed(userClaims(), 'current', { kid: '7' })}`)).objectId,
      PERSON,
    )
  })

  it('is refused when its claims or signature were changed', async () => {
    const [header, claims, signature] = (await authority.signed(userClaims({ roles: [] }))).split('.')
    const forged = Buffer.from(JSON.stringify(userClaims({ roles: ['Administrator'] }))).toString('base64url')
    assert.equal(await refusalOf(`Bearer ${header}.${forged}.${signature}`), 'TokenInvalid')
    assert.equal(await refusalOf(`Bearer ${header}.${claims}.`), 'TokenInvalid')
  })

  it('is accepted up to a minute after its end and before its start, and refused beyond', async () => {
    await callerOf(userClaims({ exp: NOW_S - MINUTE_S + 1 }))
    await refused(userClaims({ exp: NOW_S - MINUTE_S }))
    await callerOf(userClaims({ nbf: NOW_S + MINUTE_S }))
    await refused(userClaims({ nbf: NOW_S + MINUTE_S + 1 }))
  })
})

describe('the Authorization header', () => {
  it('is missing when it is absent or blank', async () => {
    for (const header of [null, '', '  ']) assert.equal(await refusalOf(header), 'TokenMissing')
  })

  it('takes the scheme in any case and several spaces', async () => {
    await verify(`bEARER   ${await authority.signed(userClaims())} `)
  })

  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const named = encoded({ alg: 'RS256', kid: 'x' })
  for (const header of [
    'Bearer',
    'Basic YTpi',
    'Bearer a b',
    'Bearer åæø',
    'Bearer .',
    'Bearer ..',
    'Bearer a.b.c',
    'Bearer a.b.c.d.e',
    `Bearer ${encoded({})}.${encoded(null)}.x`,
    `Bearer ${named}.${encoded(['2.0'])}.x`,
    `Bearer ${named}.${encoded({ ver: '2.0' })}.x`,
    `Bearer ${encoded(null)}.${encoded({ ver: '2.0' })}.x`,
    `Bearer ${encoded({ alg: 'RS256', kid: '__proto__' })}.${encoded({ ver: '2.0' })}.x`,
    `Bearer ${'='.repeat(16_000)}`,
    `Bearer ${'a.'.repeat(8_000)}`,
  ]) {
    it(`is refused when it reads ${header.slice(0, 40)}`, async () =>
      assert.equal(await refusalOf(header), 'TokenInvalid'))
  }
})

describe('the keys of the authority', () => {
  it('are loaded once for many tokens, and again for an unknown id after half a minute only', async () => {
    const startCount = authority.requests()
    await callerOf(userClaims())
    await refused(userClaims(), 'unpublished')
    await refused(userClaims(), 'unpublished', { kid: 'made-up' })
    assert.equal(authority.requests() - startCount, 1)
    nowS += 30
    await refused(userClaims(), 'unpublished')
    await refused(userClaims(), 'unpublished')
    assert.equal(authority.requests() - startCount, 2)
  })

  it('are loaded once for two tokens that a new key signs at the same time, and both are accepted', async () => {
    authority.behave({ publish: (keys) => keys.slice(1) })
    await refused(userClaims())
    authority.behave({ publish: (keys) => keys })
    nowS += 30
    const startCount = authority.requests()
    await Promise.all([callerOf(userClaims()), callerOf(userClaims({ sub: 'another' }))])
    assert.equal(authority.requests() - startCount, 1)
  })

  it('are requested once in half a minute for unknown ids, also when the load fails', async () => {
    await callerOf(userClaims())
    authority.behave({ failure: 'down' })
    nowS += 30
    const startCount = authority.requests()
    for (const kid of ['one', 'two', 'three']) await refused(userClaims(), 'unpublished', { kid })
    assert.equal(authority.requests() - startCount, 1)
  })

  it('can be new ones: accepted half a minute later', async () => {
    authority.behave({ publish: (keys) => keys.slice(1) })
    await refused(userClaims())
    authority.behave({ publish: (keys) => keys })
    nowS += 30
    await callerOf(userClaims())
  })

  it('are no longer trusted an hour after their withdrawal, when the background load is done', async () => {
    await callerOf(userClaims())
    authority.behave({ publish: (keys) => keys.slice(1) })
    nowS += HOUR_S
    const late = { iat: nowS, exp: nowS + HOUR_S }
    const startCount = authority.requests()
    await callerOf(userClaims(late))
    while (authority.requests() === startCount) await new Promise(setImmediate)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await refused(userClaims({ ...late, sub: 'another' }))
  })

  it('stay usable for a day while their endpoint is down, and no longer', async () => {
    await callerOf(userClaims())
    authority.behave({ failure: 'down' })
    for (const ageS of [2 * HOUR_S, 12 * HOUR_S, DAY_S - 1]) {
      nowS = NOW_S + ageS
      await callerOf(userClaims({ iat: nowS, exp: nowS + HOUR_S }))
    }
    await refused(userClaims({ iat: nowS, exp: nowS + HOUR_S }), 'unpublished')
    nowS = NOW_S + DAY_S
    const token = await authority.signed(userClaims({ iat: nowS, exp: nowS + HOUR_S }))
    assert.equal(await refusalOf(`Bearer ${token}`), 'TokenNotVerified')
    authority.behave({ failure: 'none' })
    await verify(`Bearer ${token}`)
  })

  it('are the RSA signing keys: other keys of the set are ignored', async () => {
    const curve = { kid: 'curve', kty: 'EC', crv: 'P-256' }
    authority.behave({ publish: (keys) => [curve, ...keys] })
    await callerOf(userClaims())
    authority.behave({ publish: (keys) => keys.map((key) => ({ ...key, use: 'enc' })) })
    verify = newVerifier()
    await refused(userClaims())
  })

  it('are usable when another key of the set is unreadable', async () => {
    authority.behave({
      publish: (keys) => [{ kid: 'broken', kty: 'RSA' }, ...keys, { kid: 'odd', kty: 'RSA', n: '?' }],
    })
    await callerOf(userClaims())
  })

  it('are not replaced by a set without a readable key', async () => {
    await callerOf(userClaims())
    authority.behave({ publish: () => [{ kid: 'broken', kty: 'RSA' }] })
    nowS += HOUR_S
    const late = { iat: nowS, exp: nowS + HOUR_S }
    const startCount = authority.requests()
    await callerOf(userClaims(late))
    while (authority.requests() === startCount) await new Promise(setImmediate)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await callerOf(userClaims({ ...late, sub: 'another' }))
    verify = newVerifier()
    assert.equal(await refusalOf(`Bearer ${await authority.signed(userClaims(late))}`), 'TokenNotVerified')
  })

  it('are not loaded through a redirect', async () => {
    authority.behave({ failure: 'elsewhere' })
    assert.equal(await refusalOf(`Bearer ${await authority.signed(userClaims())}`), 'TokenNotVerified')
  })

  it('are requested with a timeout of five seconds', async (context) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const waits = context.mock.method(AbortSignal, 'timeout', (delayMs: number) => timeout(delayMs / 100))
    authority.behave({ failure: 'silent' })
    assert.equal(await refusalOf(`Bearer ${await authority.signed(userClaims())}`), 'TokenNotVerified')
    assert.deepEqual(
      waits.mock.calls.map(({ arguments: [delayMs] }) => delayMs),
      [5_000],
    )
  })

  it('are reported as unavailable when their endpoint was never reached; a token without a key is still refused', async () => {
    authority.behave({ failure: 'down' })
    assert.equal(await refusalOf(`Bearer ${await authority.signed(userClaims())}`), 'TokenNotVerified')
    await refused(userClaims(), 'current', { alg: 'none' })
  })
})

describe('a fault while a token is verified', () => {
  it('is not taken for a refusal of the token', async () => {
    const fault = new TypeError('A mistake of the program')
    const ready = async () => undefined
    const keys = { get: () => Promise.reject(fault), version: () => ({}), ready }
    const settings = { authorityUrl: authority.url, audiences: [SERVICE], scope: SCOPE }
    const faulty = tokenVerifier(settings, () => nowS * 1000, { version1: keys, version2: keys, ready })
    await assert.rejects(faulty(`Bearer ${await authority.signed(userClaims())}`), (error) => error === fault)
  })
})

describe('a verified token', () => {
  it('is not verified again in 10,000 requests', async (context) => {
    const signatures = context.mock.method(crypto.subtle, 'verify')
    const header = `Bearer ${await authority.signed(userClaims())}`
    for (let request = 0; request < 10_000; request += 1) await verify(header)
    assert.equal(signatures.mock.callCount(), 1)
  })

  it('is not trusted after the key that signed it was withdrawn, when the background load is done', async () => {
    const header = `Bearer ${await authority.signed(userClaims({ exp: NOW_S + DAY_S }))}`
    await verify(header)
    authority.behave({ publish: (keys) => keys.slice(1) })
    nowS += HOUR_S
    const startCount = authority.requests()
    await verify(header)
    while (authority.requests() === startCount) await new Promise(setImmediate)
    while ((await refusalOf(header)) === 'accepted') await new Promise(setImmediate)
    assert.equal(await refusalOf(header), 'TokenInvalid')
    assert.equal(authority.requests() - startCount, 1)
  })

  it('is not trusted when the keys could not be loaded for a day', async () => {
    const header = `Bearer ${await authority.signed(userClaims({ exp: NOW_S + 2 * DAY_S }))}`
    await verify(header)
    authority.behave({ failure: 'down' })
    nowS += DAY_S - 1
    await verify(header)
    nowS += 1
    assert.equal(await refusalOf(header), 'TokenNotVerified')
  })

  it('is not verified again until a minute after its end, and not trusted then', async (context) => {
    const signatures = context.mock.method(crypto.subtle, 'verify')
    const header = `Bearer ${await authority.signed(userClaims({ exp: NOW_S + 10 }))}`
    await verify(header)
    nowS += 10 + MINUTE_S - 1
    await verify(header)
    assert.equal(signatures.mock.callCount(), 1)
    nowS += 1
    assert.equal(await refusalOf(header), 'TokenInvalid')
  })
})
