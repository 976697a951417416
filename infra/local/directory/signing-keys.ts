import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

export const KEY_NAMES = ['current', 'unpublished', 'otherIssuer'] as const
/** `otherIssuer` is published for the tenant `OTHER_TENANT_ID` only. */
type KeyName = (typeof KEY_NAMES)[number]

/** The only tenant of the key `otherIssuer`. It is not in the seed. */
const OTHER_TENANT_ID = '00000000-0000-4000-8000-000000000bad'

export type Claims = Readonly<Record<string, unknown>>

type SigningKey = { readonly kid: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject }

/** Stores the keys, so that tokens stay valid after a restart. */
export type KeyArchive = { read(name: KeyName): string | undefined; write(name: KeyName, pem: string): void }

export type SigningKeys = {
  /** Signs any claims. `header` can replace `kid` and `alg`; `none` and `HS256` create forged tokens. */
  signed(claims: Claims, key?: KeyName, header?: Claims): string
  /** The claims of a token signed by `current`, otherwise undefined. Does not check times. */
  verified(token: string): Claims | undefined
  /** RFC 7517, without `alg`, with the additional member `issuer` of the identity provider. */
  keySet(version: TokenVersion, authorityUrl: string): { keys: Claims[] }
}

/** The stored keys. Each is created when it is first used, which takes a tenth of a second. */
export function signingKeys(archive: KeyArchive): SigningKeys {
  const used = new Map<KeyName, SigningKey>()
  const keyNamed = (name: KeyName): SigningKey => {
    const key = used.get(name) ?? fromPem(archive.read(name) ?? made(archive, name))
    used.set(name, key)
    return key
  }
  return {
    signed: (claims, key = 'current', header = {}) => signedToken(keyNamed(key), claims, header),
    verified: (token) => verifiedClaims(keyNamed('current'), token),
    keySet: (version, authorityUrl) => ({
      keys: [
        publicJwk(keyNamed('current'), issuerTemplate(version, authorityUrl)),
        publicJwk(keyNamed('otherIssuer'), issuerOf(version, authorityUrl, OTHER_TENANT_ID)),
      ],
    }),
  }
}

/** The keys that this process has made: its directories share them. */
const madeKeys = new Map<KeyName, string>()

function made(archive: KeyArchive, name: KeyName): string {
  const pem = madeKeys.get(name) ?? newKey()
  madeKeys.set(name, pem)
  archive.write(name, pem)
  return pem
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function fromPem(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem)
  const publicKey = createPublicKey(privateKey)
  const kid = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { kid: kid.slice(0, 27), privateKey, publicKey }
}

function publicJwk(key: SigningKey, issuer: string): Claims {
  const { kty, n, e } = key.publicKey.export({ format: 'jwk' })
  return { kty, use: 'sig', kid: key.kid, n, e, issuer }
}

const encodedJson = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function signedToken(key: SigningKey, claims: Claims, header: Claims): string {
  const protectedHeader = { typ: 'JWT', alg: 'RS256', kid: key.kid, ...header }
  const content = `${encodedJson(protectedHeader)}.${encodedJson(claims)}`
  return `${content}.${signature(key, protectedHeader.alg, Buffer.from(content)).toString('base64url')}`
}

function signature(key: SigningKey, algorithm: unknown, content: Buffer): Buffer {
  if (algorithm === 'none') return Buffer.alloc(0)
  // Signs with the public key as shared secret, which a verifier accepts if it trusts the header.
  if (algorithm === 'HS256') {
    return createHmac('sha256', key.publicKey.export({ type: 'spki', format: 'pem' }))
      .update(content)
      .digest()
  }
  return sign('sha256', content, key.privateKey)
}

function verifiedClaims(key: SigningKey, token: string): Claims | undefined {
  const [header, claims, signed, ...rest] = token.split('.')
  if (header === undefined || claims === undefined || signed === undefined || rest.length > 0) return undefined
  const isSound = verify('sha256', Buffer.from(`${header}.${claims}`), key.publicKey, Buffer.from(signed, 'base64url'))
  return isSound ? (JSON.parse(Buffer.from(claims, 'base64url').toString()) as Claims) : undefined
}

export type TokenVersion = '1.0' | '2.0'

/** Placeholder of the tenant ID in an issuer, as in the key sets of the identity provider. */
const TENANT_PLACE = '{tenantid}'

/**
 * The issuer by token version, with `{tenantid}` for the tenant. The issuer of version 1 has the same host in every
 * environment. The issuer of version 2 is the authority.
 */
export const issuerTemplate = (version: TokenVersion, authorityUrl: string): string =>
  version === '1.0' ? `https://sts.windows.net/${TENANT_PLACE}/` : `${authorityUrl}/${TENANT_PLACE}/v2.0`

/** `iss` claim of the tokens of a tenant. */
export const issuerOf = (version: TokenVersion, authorityUrl: string, tenantId: string): string =>
  issuerTemplate(version, authorityUrl).replace(TENANT_PLACE, tenantId)
