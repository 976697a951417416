import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { UsernamePasswordCredential } from '@azure/identity'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  credential,
  GRAPH_SCOPE,
  OTHER_TENANT,
  openDirectory,
  PERSON,
  PRINCIPAL,
  PUBLIC_CLIENT,
  READER,
  SERVICE,
  SERVICE_SCOPE,
  send,
  TENANT,
  UNCONSENTED_TENANT,
} from '../support/local/directory-fixture.ts'

const RIGHT = {
  grant_type: 'client_credentials',
  client_id: READER,
  client_secret: 'reader-secret',
  scope: SERVICE_SCOPE,
}
const SIGN_IN = {
  grant_type: 'password',
  client_id: PUBLIC_CLIENT,
  username: 'admin@one.example',
  password: 'right',
  scope: SERVICE_SCOPE,
}

describe('The local identity provider', () => {
  let directory: LocalDirectory
  after(() => directory.close())
  before(async () => {
    directory = await openDirectory()
  })

  async function ask(form: Record<string, string>, tenant = TENANT) {
    const response = await fetch(`${directory.url}/${tenant}/oauth2/v2.0/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  const verify = (token: string, keysPath = '/common/discovery/v2.0/keys') =>
    jwtVerify(token, createRemoteJWKSet(new URL(directory.url + keysPath)), {
      algorithms: ['RS256'],
      audience: SERVICE,
    })

  for (const scope of [
    SERVICE_SCOPE,
    `${SERVICE}/.default`,
    'http://localhost:7071/.default',
    'http://localhost:7071//.default',
  ]) {
    it(`issues a token for the service to an application with the scope ${scope}`, async () => {
      const { token } = await credential(directory, READER, 'reader-secret').getToken(scope)
      const { payload } = await verify(token)
      const { iat = 0, nbf, exp, uti, ...claims } = payload
      assert.deepEqual(claims, {
        aud: SERVICE,
        iss: `${directory.url}/${TENANT}/v2.0`,
        tid: TENANT,
        ver: '2.0',
        azp: READER,
        azpacr: '1',
        idtyp: 'app',
        oid: PRINCIPAL,
        sub: PRINCIPAL,
        roles: ['collections-criteria.criteria.read.all'],
      })
      assert.equal(nbf, iat)
      assert.equal(exp, iat + 3600)
      assert.equal(typeof uti, 'string')
    })
  }

  it('issues a token to a person with a password, through the SDK credential', async () => {
    const source = new UsernamePasswordCredential(TENANT, PUBLIC_CLIENT, 'admin@one.example', 'right', {
      authorityHost: directory.url,
      disableInstanceDiscovery: true,
    })
    const { payload } = await verify((await source.getToken(SERVICE_SCOPE)).token)
    const { oid, scp, azp, name, preferred_username, roles, idtyp } = payload
    assert.deepEqual(
      { oid, scp, azp, name, preferred_username, roles, idtyp },
      {
        oid: PERSON,
        scp: 'user_impersonation',
        azp: PUBLIC_CLIENT,
        name: 'Ada Åsheim',
        preferred_username: 'admin@one.example',
        roles: ['Administrator'],
        idtyp: undefined,
      },
    )
    assert.notEqual(payload.sub, payload.oid)
  })

  it('omits the roles claim for an application without roles', async () => {
    const { body } = await ask({ ...RIGHT, client_id: SERVICE, client_secret: 'service-secret' })
    assert.equal('roles' in decodeJwt(String(body.access_token)), false)
  })

  it('issues a version 1 token for Graph with its Graph role to the service', async () => {
    const { token } = await credential(directory, SERVICE, 'service-secret').getToken(GRAPH_SCOPE)
    const { aud, iss, ver, roles, appid } = decodeJwt(token)
    assert.deepEqual(
      { aud, iss, ver, roles, appid },
      {
        aud: 'https://graph.microsoft.com',
        iss: `https://sts.windows.net/${TENANT}/`,
        ver: '1.0',
        roles: ['GroupMember.ReadWrite.All'],
        appid: SERVICE,
      },
    )
  })

  const unknownTenant = '99999999-0000-4000-8000-000000000009'
  for (const [claim, form, tenant, status, error, number] of [
    ['a wrong secret', { ...RIGHT, client_secret: 'wrong' }, TENANT, 401, 'invalid_client', 7000215],
    ['a missing secret', { ...RIGHT, client_secret: '' }, TENANT, 401, 'invalid_client', 7000218],
    ['an unknown application', { ...RIGHT, client_id: PERSON }, TENANT, 400, 'unauthorized_client', 700016],
    ['an unknown tenant', RIGHT, unknownTenant, 400, 'invalid_request', 90002],
    ['an unknown resource', { ...RIGHT, scope: 'api://x/.default' }, TENANT, 400, 'invalid_resource', 500011],
    ['a scope that is not .default', { ...RIGHT, scope: `api://${SERVICE}/x` }, TENANT, 400, 'invalid_scope', 1002012],
    ['a missing scope', { ...RIGHT, scope: '' }, TENANT, 400, 'invalid_request', 900144],
    ['an unknown grant', { ...RIGHT, grant_type: 'device_code' }, TENANT, 400, 'unsupported_grant_type', 70003],
    ['a wrong password', { ...SIGN_IN, password: 'wrong' }, TENANT, 400, 'invalid_grant', 50126],
    ['an unknown person', { ...SIGN_IN, username: 'x@one.example' }, TENANT, 400, 'invalid_grant', 50034],
    ['a person of another tenant', SIGN_IN, OTHER_TENANT, 400, 'invalid_grant', 50034],
    ['a tenant without consent', RIGHT, UNCONSENTED_TENANT, 400, 'invalid_resource', 500011],
    [
      'the service itself in a tenant without consent',
      { ...RIGHT, client_id: SERVICE, client_secret: 'service-secret', scope: GRAPH_SCOPE },
      UNCONSENTED_TENANT,
      400,
      'unauthorized_client',
      700016,
    ],
  ] as const) {
    it(`refuses ${claim} in the format of the real service`, async () => {
      const answer = await ask(form, tenant)
      assert.equal(answer.status, status)
      assert.equal(answer.body.error, error)
      assert.deepEqual(answer.body.error_codes, [number])
      assert.match(
        String(answer.body.error_description),
        new RegExp(`^AADSTS${number}: .+ Trace ID: .+ Timestamp: .+Z$`),
      )
    })
  }

  it('returns errors that the SDK credential reports', async () => {
    await assert.rejects(credential(directory, READER, 'wrong').getToken(SERVICE_SCOPE), /AADSTS7000215/)
  })

  it('publishes keys with the issuer they sign for, and without an algorithm', async () => {
    for (const [path, issuer] of [
      ['/common/discovery/v2.0/keys', `${directory.url}/{tenantid}/v2.0`],
      ['/common/discovery/keys', 'https://sts.windows.net/{tenantid}/'],
    ] as const) {
      const { body } = await send(directory, 'GET', path)
      const [current, other] = body.keys
      assert.equal(current.issuer, issuer)
      assert.notEqual(other.issuer, issuer)
      assert.equal(
        body.keys.some((key: object) => 'alg' in key || 'd' in key),
        false,
      )
    }
  })

  it('describes itself for a tenant and for any', async () => {
    const one = await send(directory, 'GET', `/${TENANT}/v2.0/.well-known/openid-configuration`)
    const any = await send(directory, 'GET', '/common/v2.0/.well-known/openid-configuration')
    const none = await send(directory, 'GET', `/${unknownTenant}/v2.0/.well-known/openid-configuration`)
    assert.equal(one.body.issuer, `${directory.url}/${TENANT}/v2.0`)
    assert.equal(one.body.jwks_uri, `${directory.url}/common/discovery/v2.0/keys`)
    assert.equal(any.body.issuer, `${directory.url}/{tenantid}/v2.0`)
    assert.equal(none.status, 400)
  })

  it('signs any claims with the requested key', async () => {
    const claims = { aud: SERVICE, iss: 'anybody', sub: 'x' }
    const sign = async (key: string, header?: object) =>
      (await send(directory, 'POST', '/local/tokens', { claims, header, key })).body.token as string
    assert.deepEqual((await verify(await sign('current'), '/common/discovery/keys')).payload, claims)
    await assert.rejects(verify(await sign('unpublished')), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
    const other = await sign('otherIssuer')
    assert.deepEqual((await verify(other)).payload, claims)
    const { body } = await send(directory, 'GET', '/common/discovery/v2.0/keys')
    const { kid } = decodeProtectedHeader(other)
    assert.equal(
      body.keys.find((key: { kid: string }) => key.kid === kid).issuer,
      `${directory.url}/00000000-0000-4000-8000-000000000bad/v2.0`,
    )
    assert.match(await sign('current', { alg: 'none' }), /^[\w-]+\.[\w-]+\.$/)
  })

  for (const [claim, body] of [
    ['an unknown key', { claims: {}, key: 'mine' }],
    ['claims that are no object', { claims: 'x', key: 'current' }],
    ['an unknown member', { claims: {}, keys: 'current' }],
    ['no JSON', 'x'],
  ] as const) {
    it(`refuses to sign for ${claim}, with the reason`, async () => {
      const answer = await send(directory, 'POST', '/local/tokens', body)
      assert.equal(answer.status, 400)
      assert.equal(typeof answer.body.message, 'string')
    })
  }
})
