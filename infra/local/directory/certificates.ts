import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder } from '../private-files.ts'
import * as der from './der.ts'

export type ServerCertificate = {
  /** Certificate authority that clients must trust. */
  readonly caPem: string
  readonly certificatePem: string
  readonly keyPem: string
}

type Authority = { readonly pem: string; readonly key: KeyObject }

const DAY_MS = 24 * 60 * 60 * 1000
const AUTHORITY_DAYS = 3650
/** Clients reject server certificates with a longer lifetime. CA/Browser Forum baseline requirements, section 6.3.2. */
const SERVER_DAYS = 397
const RENEWED_BEFORE_END_DAYS = 30
const AUTHORITY_NAME = 'Local directory authority'

/**
 * Issues a certificate for `localhost`, 127.0.0.1 and ::1. Creates the certificate authority at the first start and
 * before it expires (`ca.pem`, `ca-key.pem`). Without a folder the authority is in memory only.
 * @throws Error that names the damaged file
 */
export function serverCertificate(folder: string | undefined, nowMs: number): ServerCertificate {
  const authority = keptAuthority(folder, nowMs) ?? newAuthority(folder, nowMs)
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificatePem = certificate({
    subject: 'localhost',
    publicKey,
    signer: authority.key,
    authorityKey: publicDer(authority.key),
    nowMs,
    days: SERVER_DAYS,
    extensions: [
      extension('2.5.29.19', der.sequence(), true),
      extension('2.5.29.15', der.bitString(Buffer.from([0x80]), 7), true),
      extension('2.5.29.37', der.sequence(der.objectIdentifier('1.3.6.1.5.5.7.3.1'))),
      extension('2.5.29.17', SERVER_NAMES),
    ],
  })
  return {
    caPem: authority.pem,
    certificatePem,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** GeneralName choices of RFC 5280, section 4.2.1.6: 2 is a DNS name, 7 an address. */
const SERVER_NAMES = der.sequence(
  der.taggedPrimitive(2, Buffer.from('localhost')),
  der.taggedPrimitive(7, Buffer.from([127, 0, 0, 1])),
  der.taggedPrimitive(7, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
)

function keptAuthority(folder: string | undefined, nowMs: number): Authority | undefined {
  if (folder === undefined) return undefined
  const [certificateFile, keyFile] = authorityFiles(folder)
  if (!existsSync(certificateFile) || !existsSync(keyFile)) return undefined
  const pem = readFileSync(certificateFile, 'utf8')
  const parsed = parsedFile(certificateFile, () => new X509Certificate(pem))
  const key = parsedFile(keyFile, () => createPrivateKey(readFileSync(keyFile)))
  if (!parsed.checkPrivateKey(key))
    throw new Error(`${keyFile} is not the key of ${certificateFile}. Delete both files`)
  const endMs = Date.parse(parsed.validTo)
  return endMs - nowMs > RENEWED_BEFORE_END_DAYS * DAY_MS ? { pem, key } : undefined
}

function newAuthority(folder: string | undefined, nowMs: number): Authority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = certificate({
    subject: AUTHORITY_NAME,
    publicKey,
    signer: privateKey,
    authorityKey: publicDer(privateKey),
    nowMs,
    days: AUTHORITY_DAYS,
    extensions: [
      extension('2.5.29.19', der.sequence(der.boolean(true)), true),
      extension('2.5.29.15', der.bitString(Buffer.from([0x06]), 1), true),
    ],
  })
  if (folder !== undefined) {
    const [certificateFile, keyFile] = authorityFiles(folder)
    makePrivateFolder(folder)
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    writeFileSync(certificateFile, pem)
  }
  return { pem, key: privateKey }
}

const authorityFiles = (folder: string) => [join(folder, 'ca.pem'), join(folder, 'ca-key.pem')] as const

function parsedFile<T>(file: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    throw new Error(`${file} is damaged. Delete it to create a new one`, { cause })
  }
}

type CertificateRequest = {
  readonly subject: string
  readonly publicKey: KeyObject
  readonly signer: KeyObject
  readonly authorityKey: Buffer
  readonly nowMs: number
  readonly days: number
  readonly extensions: readonly Buffer[]
}

/** A version 3 certificate, signed with ECDSA and SHA-256. RFC 5280, section 4.1. */
function certificate(request: CertificateRequest): string {
  const algorithm = der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2'))
  const publicKey = request.publicKey.export({ type: 'spki', format: 'der' })
  const authorityKeyId = der.taggedPrimitive(0, keyId(request.authorityKey))
  const toSign = der.sequence(
    der.tagged(0, der.integer(Buffer.from([2]))),
    der.integer(randomBytes(16)),
    algorithm,
    name(AUTHORITY_NAME),
    // Starts a day earlier for clients with a slow clock.
    der.sequence(der.time(request.nowMs - DAY_MS), der.time(request.nowMs + request.days * DAY_MS)),
    name(request.subject),
    publicKey,
    der.tagged(
      3,
      der.sequence(
        ...request.extensions,
        extension('2.5.29.14', der.octetString(keyId(publicKey))),
        extension('2.5.29.35', der.sequence(authorityKeyId)),
      ),
    ),
  )
  const whole = der.sequence(toSign, algorithm, der.bitString(sign('sha256', toSign, request.signer)))
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function extension(identifier: string, content: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [der.boolean(true)] : []
  return der.sequence(der.objectIdentifier(identifier), ...critical, der.octetString(content))
}

const name = (commonName: string): Buffer =>
  der.sequence(der.set(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(commonName))))

const keyId = (publicKey: Buffer): Buffer => createHash('sha1').update(publicKey).digest()

const publicDer = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' })
