import { hash } from 'node:crypto'

/** A GUID made of texts by SHA-256: the same for the same list of texts, another for any other list. */
export function derivedId(...parts: string[]): string {
  // Version 8 and variant 10 mark ids made by a rule of one's own: RFC 9562, section 5.8.
  const digest = hash('sha256', JSON.stringify(parts), 'hex')
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}
