import { createHash, timingSafeEqual } from 'node:crypto'
import type { ApplicationSeed } from './seed.ts'
import type { SigningKeys } from './signing-keys.ts'
import { TokenRefusal } from './token-refusal.ts'

/** Audience of the token of a federated credential. https://learn.microsoft.com/graph/api/resources/federatedidentitycredential */
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
export function equalSecrets(given: string, known: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(known))
}
