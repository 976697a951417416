import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a signed text is valid for. */
export type SignatureBinding = readonly (string | undefined)[]

export type SignedTexts = {
  sign(text: string, binding: SignatureBinding): string
  /** Undefined for anything that `sign` did not return for the same binding. */
  open(signed: string, binding: SignatureBinding): string | undefined
}

const MAC_BYTES = 32

/**
 * Texts that clients keep and send back. They are readable (plain base64url) but authenticated: a client cannot alter
 * one or use it elsewhere. They survive a restart, and all instances with the same keys accept them.
 * @param prefix Starts each signed text, and names its form.
 * @param keys In base64. The first one signs, all verify, so that keys can be rotated without breaking texts in use.
 */
export function signedTexts(prefix: string, keys: readonly string[]): SignedTexts {
  const [signing, ...others] = keys.map((key) => Buffer.from(key, 'base64'))
  if (signing === undefined) throw new Error('Signed texts need a key')
  return {
    sign(text, binding) {
      const payload = Buffer.from(text)
      return `${prefix}${Buffer.concat([mac(signing, payload, binding), payload]).toString('base64url')}`
    },
    open(signed, binding) {
      const bytes = Buffer.from(signed.slice(prefix.length), 'base64url')
      const payload = bytes.subarray(MAC_BYTES)
      // Decoding ignores invalid characters, so the text is compared too.
      const isExact = signed === `${prefix}${bytes.toString('base64url')}` && bytes.length > MAC_BYTES
      const signature = bytes.subarray(0, MAC_BYTES)
      const isValid =
        isExact && [signing, ...others].some((key) => timingSafeEqual(signature, mac(key, payload, binding)))
      return isValid ? payload.toString() : undefined
    },
  }
}

function mac(key: Buffer, payload: Buffer, binding: SignatureBinding): Buffer {
  const bound = JSON.stringify(binding.map((part) => part ?? null))
  return createHmac('sha256', key).update(`${bound.length}:${bound}`).update(payload).digest()
}
