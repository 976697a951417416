import { createHash, randomUUID } from 'node:crypto'
import type { AuthorizationGrants, Grant, RedeemedGrant } from './authorization-grants.ts'
import { equalSecrets, requireProof, TokenRefusal } from './client-proof.ts'
import { GRAPH_AUDIENCE } from './graph/rights.ts'
import type { DirectoryObjects } from './objects.ts'
import type { ApplicationSeed, DirectorySeed, PersonSeed, TenantSeed } from './seed.ts'
import type { Claims, SigningKeys } from './signing-keys.ts'
import { issuerOf } from './signing-keys.ts'

/** Seconds. The lifetime of the identity provider varies between 60 and 90 minutes. */
const TOKEN_LIFETIME_S = 3600

/** OpenID scopes, which do not belong to a resource. */
const SIGN_IN_SCOPES = ['openid', 'profile', 'email', 'offline_access']

export type TokenDependencies = {
  readonly seed: DirectorySeed
  readonly objects: DirectoryObjects
  readonly keys: SigningKeys
  readonly grants: AuthorizationGrants
  readonly authorityUrl: () => string
  readonly apiUrl: () => string
  /** The scope of the service that tokens of people have. */
  readonly apiScope: string
  readonly nowMs: () => number
}

type Resource = 'service' | 'graph'
type Form = { required(name: string): string; optional(name: string): string | undefined }

/** Path segments that stand for all tenants. */
export const ANY_TENANT: readonly string[] = ['common', 'organizations']

/** The tenants of a path. @throws TokenRefusal AADSTS90002 */
export function tenantsNamed(seed: DirectorySeed, name: string): readonly TenantSeed[] {
  return ANY_TENANT.includes(name.toLowerCase()) ? seed.tenants : [tenantNamed(seed, name)]
}

/** The tenant of a path, by ID or domain. @throws TokenRefusal AADSTS90002 */
export function tenantNamed(seed: DirectorySeed, name: string): TenantSeed {
  const tenant = seed.tenants.find(({ tenantId, domain }) => [tenantId, domain].includes(name.toLowerCase()))
  if (tenant !== undefined) return tenant
  throw new TokenRefusal(90002, `Tenant '${name}' not found. Check to make sure you have the correct tenant ID.`)
}

/**
 * Serves `POST /{tenant}/oauth2/v2.0/token`: client credentials for applications; for the users of the seed a password,
 * or the code of a sign-in with a browser and its refresh tokens.
 * @param origin the `Origin` header. Pages redeem with it, programs without.
 * @throws TokenRefusal
 */
export function issueToken(tenantName: string, body: string, origin: string | undefined, deps: TokenDependencies) {
  const form = readForm(body)
  const grant = form.required('grant_type')
  if (grant === 'authorization_code') return codeTokens(tenantName, form, origin, deps)
  if (grant === 'refresh_token') return refreshedTokens(tenantName, form, origin, deps)
  const tenant = tenantNamed(deps.seed, tenantName)
  if (grant === 'client_credentials') return applicationToken(tenant, form, deps)
  if (grant === 'password') return personToken(tenant, form, deps)
  throw new TokenRefusal(70003, `The app requested an unsupported grant type '${grant}'.`)
}

function applicationToken(tenant: TenantSeed, form: Form, deps: TokenDependencies) {
  const clientId = form.required('client_id').toLowerCase()
  const application = tenant.applications.find((known) => known.clientId === clientId)
  if (application === undefined) throw unknownApplication(clientId, tenant)
  const proof = { secret: form.optional('client_secret'), assertion: form.optional('client_assertion') }
  requireProof(application, proof, deps.keys, deps.nowMs())
  const scope = form.required('scope')
  if (!scope.endsWith('/.default')) {
    throw new TokenRefusal(
      1002012,
      `The scope ${scope} is not valid: client credential flows need /.default at its end.`,
    )
  }
  return { ...BEARER, access_token: deps.keys.signed(applicationClaims(tenant, application, scope, deps)) }
}

function applicationClaims(tenant: TenantSeed, application: ApplicationSeed, scope: string, deps: TokenDependencies) {
  const { clientId, objectId } = application
  const resource = resourceOf(scope, tenant, deps)
  const roles = resource === 'graph' ? application.graphRoles : application.roles
  const claims = { idtyp: 'app', oid: objectId, sub: objectId, ...rolesClaim(roles) }
  return resource === 'graph'
    ? graphClaims(tenant, clientId, claims, deps)
    : { ...serviceClaims(tenant, deps.seed.serviceClientId, deps), azp: clientId, azpacr: '1', ...claims }
}

function personToken(tenant: TenantSeed, form: Form, deps: TokenDependencies) {
  const clientId = publicClient(tenant, form, deps)
  const person = signedInPerson(tenant, form, deps)
  const scopes = scopesOf(form.required('scope'))
  return personTokens({ tenant, person, clientId, scopes, nonce: undefined }, deps)
}

/** RFC 6749, section 4.1.3. */
function codeTokens(tenantName: string, form: Form, origin: string | undefined, deps: TokenDependencies) {
  const tenants = tenantsNamed(deps.seed, tenantName)
  const clientId = clientWithoutSecret(form)
  const [redirectUri, verifier] = [form.required('redirect_uri'), form.required('code_verifier')]
  const redeemed = deps.grants.redeemCode(form.required('code'), { clientId, origin, redirectUri, verifier })
  return signInTokens(redeemed, tenants, redeemed.grant.scopes, deps)
}

/** RFC 6749, section 6. */
function refreshedTokens(tenantName: string, form: Form, origin: string | undefined, deps: TokenDependencies) {
  const tenants = tenantsNamed(deps.seed, tenantName)
  const clientId = clientWithoutSecret(form)
  const redeemed = deps.grants.redeemRefreshToken(form.required('refresh_token'), { clientId, origin })
  const scope = form.optional('scope')
  return signInTokens(redeemed, tenants, scope === undefined ? redeemed.grant.scopes : scopesOf(scope), deps)
}

/** @throws TokenRefusal AADSTS700025 */
function clientWithoutSecret(form: Form): string {
  if (form.optional('client_secret') === undefined && form.optional('client_assertion') === undefined) {
    return form.required('client_id').toLowerCase()
  }
  throw new TokenRefusal(700025, "The client is public: it has no 'client_assertion' and no 'client_secret'.")
}

function signInTokens(
  redeemed: RedeemedGrant,
  tenants: readonly TenantSeed[],
  scopes: readonly string[],
  deps: TokenDependencies,
) {
  const { grant } = redeemed
  const { tenant, person } = grant
  if (!tenants.includes(tenant) || deps.objects.find(tenant.tenantId, person.objectId) === undefined) {
    throw unknownAccount(tenant)
  }
  const refresh = scopes.includes('offline_access') ? { refresh_token: deps.grants.issueRefreshToken(redeemed) } : {}
  return { ...personTokens({ ...grant, scopes }, deps), ...refresh }
}

function personTokens({ tenant, person, clientId, scopes, nonce }: Omit<Grant, 'platform'>, deps: TokenDependencies) {
  const resourceScope = scopes.find((scope) => !SIGN_IN_SCOPES.includes(scope))
  if (resourceScope === undefined) {
    throw new TokenRefusal(70011, 'The provided request must include a scope of one resource.')
  }
  const asUser = {
    oid: person.objectId,
    // Pairwise: different for each application, never the object ID.
    sub: createHash('sha256').update(`${person.objectId} ${deps.seed.serviceClientId}`).digest('base64url'),
    name: person.displayName,
    preferred_username: person.username,
  }
  const service = { ...serviceClaims(tenant, deps.seed.serviceClientId, deps), azp: clientId, azpacr: '0', ...asUser }
  const claims =
    resourceOf(resourceScope, tenant, deps) === 'graph'
      ? graphClaims(tenant, clientId, { ...asUser, scp: 'User.Read', idtyp: 'user' }, deps)
      : { ...service, scp: deps.apiScope, ...rolesClaim(person.roles) }
  const identity = { ...serviceClaims(tenant, clientId, deps), ...asUser, ...(nonce === undefined ? {} : { nonce }) }
  return {
    ...BEARER,
    scope: resourceScope,
    access_token: deps.keys.signed(claims),
    ...(scopes.includes('openid') ? { id_token: deps.keys.signed(identity) } : {}),
    client_info: Buffer.from(JSON.stringify({ uid: person.objectId, utid: tenant.tenantId })).toString('base64url'),
  }
}

function publicClient(tenant: TenantSeed, form: Form, { seed }: TokenDependencies): string {
  const clientId = form.required('client_id').toLowerCase()
  if (clientId !== seed.publicClientId) throw unknownApplication(clientId, tenant)
  return clientId
}

const scopesOf = (scope: string): string[] => scope.split(/\s+/).filter(Boolean)

function signedInPerson(tenant: TenantSeed, form: Form, { objects }: TokenDependencies): PersonSeed {
  const username = form.required('username').toLowerCase()
  const password = form.required('password')
  const person = tenant.people.find((known) => known.username.toLowerCase() === username)
  if (person === undefined || objects.find(tenant.tenantId, person.objectId) === undefined) throw unknownAccount(tenant)
  if (equalSecrets(password, person.password)) return person
  throw new TokenRefusal(50126, 'Error validating credentials due to invalid username or password.')
}

const BEARER = { token_type: 'Bearer', expires_in: TOKEN_LIFETIME_S - 1, ext_expires_in: TOKEN_LIFETIME_S - 1 }

/** The claim is absent without roles. */
const rolesClaim = (roles: readonly string[]): Claims => (roles.length === 0 ? {} : { roles })

function times(nowMs: number) {
  const issuedAtS = Math.floor(nowMs / 1000)
  return { iat: issuedAtS, nbf: issuedAtS, exp: issuedAtS + TOKEN_LIFETIME_S, uti: randomUUID() }
}

function serviceClaims({ tenantId }: TenantSeed, audience: string, deps: TokenDependencies): Claims {
  const iss = issuerOf('2.0', deps.authorityUrl(), tenantId)
  return { aud: audience, iss, ...times(deps.nowMs()), tid: tenantId, ver: '2.0' }
}

/** Tokens for Graph have version 1. */
function graphClaims({ tenantId }: TenantSeed, appid: string, claims: Claims, deps: TokenDependencies): Claims {
  const iss = issuerOf('1.0', deps.authorityUrl(), tenantId)
  return { aud: GRAPH_AUDIENCE, iss, ...times(deps.nowMs()), appid, ...claims, tid: tenantId, ver: '1.0' }
}

/** @throws TokenRefusal AADSTS500011 for a resource without service principal in the tenant */
function resourceOf(scope: string, tenant: TenantSeed, deps: TokenDependencies): Resource {
  const { serviceClientId } = deps.seed
  // `https://host//.default` requests the resource `https://host/`, which is the same.
  const resource = scope.slice(0, scope.lastIndexOf('/')).replace(/\/$/, '')
  if (resource === GRAPH_AUDIENCE) return 'graph'
  const names = [serviceClientId, `api://${serviceClientId}`, deps.apiUrl().replace(/\/$/, '')]
  const isConsented = tenant.applications.some(({ clientId }) => clientId === serviceClientId)
  if (isConsented && names.includes(resource)) return 'service'
  const name = resource || scope
  throw new TokenRefusal(500011, `The resource principal named ${name} was not found in tenant ${tenant.tenantId}.`)
}

const unknownAccount = ({ tenantId }: TenantSeed) =>
  new TokenRefusal(50034, `The user account {EUII Hidden} does not exist in the ${tenantId} directory.`)

const unknownApplication = (clientId: string, { tenantId }: TenantSeed) =>
  new TokenRefusal(700016, `Application with identifier '${clientId}' was not found in the directory '${tenantId}'.`)

function readForm(body: string): Form {
  const fields = new URLSearchParams(body)
  const optional = (name: string) => fields.get(name) || undefined
  return {
    optional,
    required(name) {
      const value = optional(name)
      if (value !== undefined) return value
      throw new TokenRefusal(900144, `The request body must contain the following parameter: '${name}'.`)
    },
  }
}
