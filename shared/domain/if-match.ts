import { Refusal } from './refusal.ts'

/**
 * RFC 9110, section 13.1.1: a write that names versions is made to one of these alone; strong comparison.
 * @throws Refusal `PreconditionFailed` when the caller named versions and the current one is not among them.
 */
export function requireIfMatch(version: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return
  const named = ifMatch.split(',').map((tag) => tag.trim())
  if (!named.includes(version)) throw new Refusal('PreconditionFailed')
}
