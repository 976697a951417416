import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { ApplicationSeed } from './seed.ts'
import type { SigningKeys } from './signing-keys.ts'

/**
 * Audience of the token of a federated credential.
 * https://learn.microsoft.com/graph/api/resources/federatedidentitycredential
 */
const EXCHANGE_AUDIENCE = 'api://AzureADTokenExchange'

export type ClientProof = { readonly secret: string | undefined; readonly assertion: string | undefined }

/**
 * Authenticates an application by its secret, or by the token of a trusted managed identity.
 * @throws TokenRefusal AADSTS7000218, 7000215, 700027, 700024, 700212, 700213
 */
export function requireProof(
  application: ApplicationSeed,
  { secret, assertion }: ClientProof,
  keys: SigningKeys,
  nowMs: number,
): void {
  if (assertion !== undefined) {
    requireAssertion(application, assertion, keys, nowMs)
    return
  }
  if (secret === undefined) {
    throw new TokenRefusal(7000218, "The request body must contain 'client_assertion' or 'client_secret'.")
  }
  if (equalSecrets(secret, application.clientSecret)) return
  throw new TokenRefusal(7000215, `Invalid client secret provided for app '${application.clientId}'.`)
}

function requireAssertion(
  { clientId, federatedSubject }: ApplicationSeed,
  assertion: string,
  keys: SigningKeys,
  nowMs: number,
): void {
  const claims = keys.verified(assertion)
  if (claims === undefined) throw new TokenRefusal(700027, 'Client assertion failed signature validation.')
  if (Number(claims.exp) * 1000 <= nowMs) {
    throw new TokenRefusal(700024, 'Client assertion is not within its valid time range.')
  }
  if (claims.aud !== EXCHANGE_AUDIENCE) {
    throw new TokenRefusal(700212, 'No matching federated identity record found for presented assertion audience.')
  }
  if (federatedSubject === undefined || claims.sub !== federatedSubject) {
    throw new TokenRefusal(
      700213,
      `'${clientId}' has no federated identity record for subject '${String(claims.sub)}'.`,
    )
  }
}

/** Compares in constant time. */
export function equalSecrets(presented: string, known: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(presented), digest(known))
}

/** The numbers of the supported AADSTS errors by OAuth error. RFC 6749, section 5.2. */
const ERRORS = {
  invalid_client: [700024, 700025, 700027, 700212, 700213, 7000215, 7000218],
  invalid_grant: [50034, 50126, 54005, 70008, 501481, 700082, 700084, 9002313],
  invalid_request: [50011, 90002, 900144, 9002325, 9002326, 9002327],
  invalid_resource: [500011],
  invalid_scope: [70011, 1002012],
  login_required: [50058],
  unauthorized_client: [700016],
  unsupported_grant_type: [70003],
  unsupported_response_type: [700054],
} as const

type ErrorCode = keyof typeof ERRORS
type ErrorNumber = (typeof ERRORS)[ErrorCode][number]

/**
 * A rejected token or authorization request. https://learn.microsoft.com/entra/identity-platform/reference-error-codes
 */
export class TokenRefusal extends Error {
  readonly number: ErrorNumber

  constructor(number: ErrorNumber, message: string) {
    super(message)
    this.number = number
  }

  get status(): number {
    return this.code === 'invalid_client' ? 401 : 400
  }

  /** The OAuth error. */
  get code(): ErrorCode {
    const codes = Object.keys(ERRORS) as ErrorCode[]
    return codes.find((code) => ERRORS[code].some((number) => number === this.number)) ?? 'invalid_request'
  }

  /** The response body of the identity provider. */
  body(nowMs: number) {
    const timestamp = new Date(nowMs).toISOString().replace('T', ' ').replace(/\.\d+/, '')
    const [traceId, correlationId] = [randomUUID(), randomUUID()]
    return {
      error: this.code,
      error_description: `AADSTS${this.number}: ${this.message} Trace ID: ${traceId} Correlation ID: ${correlationId} Timestamp: ${timestamp}`,
      error_codes: [this.number],
      timestamp,
      trace_id: traceId,
      correlation_id: correlationId,
    }
  }
}
