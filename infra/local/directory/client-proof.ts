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
    const missing = "The request body must contain the following parameter: 'client_assertion' or 'client_secret'."
    throw new TokenRefusal(7000218, missing)
  }
  if (equalSecrets(secret, application.clientSecret)) return
  throw new TokenRefusal(
    7000215,
    `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${application.clientId}'.`,
  )
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
    throw new TokenRefusal(700212, `No matching federated identity record found for presented assertion audience.`)
  }
  if (federatedSubject === undefined || claims.sub !== federatedSubject) {
    throw new TokenRefusal(
      700213,
      `No matching federated identity record found for presented assertion subject '${String(claims.sub)}' of application '${clientId}'.`,
    )
  }
}

/** Compares in constant time. */
export function equalSecrets(presented: string, known: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(presented), digest(known))
}

/** OAuth errors and numbers of the supported AADSTS errors. RFC 6749, section 5.2. */
const ERRORS = {
  50011: { status: 400, error: 'invalid_request' },
  50034: { status: 400, error: 'invalid_grant' },
  50058: { status: 400, error: 'login_required' },
  50126: { status: 400, error: 'invalid_grant' },
  54005: { status: 400, error: 'invalid_grant' },
  70003: { status: 400, error: 'unsupported_grant_type' },
  70008: { status: 400, error: 'invalid_grant' },
  70011: { status: 400, error: 'invalid_scope' },
  90002: { status: 400, error: 'invalid_request' },
  500011: { status: 400, error: 'invalid_resource' },
  501481: { status: 400, error: 'invalid_grant' },
  700016: { status: 400, error: 'unauthorized_client' },
  700024: { status: 401, error: 'invalid_client' },
  700025: { status: 401, error: 'invalid_client' },
  700027: { status: 401, error: 'invalid_client' },
  700054: { status: 400, error: 'unsupported_response_type' },
  700082: { status: 400, error: 'invalid_grant' },
  700084: { status: 400, error: 'invalid_grant' },
  700212: { status: 401, error: 'invalid_client' },
  700213: { status: 401, error: 'invalid_client' },
  900144: { status: 400, error: 'invalid_request' },
  1002012: { status: 400, error: 'invalid_scope' },
  7000215: { status: 401, error: 'invalid_client' },
  7000218: { status: 401, error: 'invalid_client' },
  9002313: { status: 400, error: 'invalid_grant' },
  9002325: { status: 400, error: 'invalid_request' },
  9002326: { status: 400, error: 'invalid_request' },
  9002327: { status: 400, error: 'invalid_request' },
} as const

/**
 * A rejected token or authorization request. https://learn.microsoft.com/entra/identity-platform/reference-error-codes
 */
export class TokenRefusal extends Error {
  readonly number: keyof typeof ERRORS

  constructor(number: keyof typeof ERRORS, message: string) {
    super(message)
    this.number = number
  }

  get status(): number {
    return ERRORS[this.number].status
  }

  /** The OAuth error. */
  get code(): string {
    return ERRORS[this.number].error
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
