import { createHmac } from 'node:crypto'

/** Before the key of a secret, in base64: Standard Webhooks, "Symmetric signatures". */
export const SECRET_PREFIX = 'whsec_'

/** The value of `webhook-signature`: a signature with each secret. https://www.standardwebhooks.com */
export function signaturesOf(secrets: readonly string[], id: string, timestampS: number, body: string): string {
  return secrets.map((secret) => `v1,${hmac(secret, `${id}.${timestampS}.${body}`)}`).join(' ')
}

function hmac(secret: string, signed: string): string {
  return createHmac('sha256', Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
    .update(signed)
    .digest('base64')
}
