import { Refusal } from './refusals.ts'

/** A record as read, with the version that a later write must specify. */
export type Versioned<T> = { readonly value: T; readonly version: string }

/** One page of an ordered list. `continueAfter` is absent on the last page. */
export type Page<T> = { readonly items: readonly T[]; readonly continueAfter?: string }

/** Which page is asked for: the one after the position of an item, and how many items it may have. */
export type PageRange = { readonly after: string | undefined; readonly size: number }

/** The page of what was found, which is one item more where the list goes on. @param positionOf The position of an item. */
export function pageFrom<T>(
  found: readonly T[],
  size: number,
  positionOf: (item: T) => string,
  isMore = found.length > size,
): Page<T> {
  const items = found.slice(0, size)
  const last = items.at(-1)
  return isMore && last !== undefined ? { items, continueAfter: positionOf(last) } : { items }
}

/** Attempts of one change, after which `StaleVersion` is thrown. */
const MAX_ATTEMPTS = 20

/**
 * Repeats an attempt (read, decide, write) that fails with a conflict.
 * @param serialize Runs the repeated attempts one after the other, so that concurrent ones do not conflict again.
 */
export async function retryOnConflict<T>(
  attempt: () => Promise<T>,
  serialize: (run: () => Promise<T>) => Promise<T> = (run) => run(),
): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isConflict(error)) throw error
  }
  return serialize(async () => {
    for (let attempts = 2; ; attempts += 1) {
      try {
        return await attempt()
      } catch (error) {
        if (!isConflict(error) || attempts === MAX_ATTEMPTS) throw error
      }
    }
  })
}

export function isConflict(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'StaleVersion'
}

/**
 * RFC 9110, section 13.1.1, with strong comparison.
 * @throws Refusal `PreconditionFailed` when `If-Match` does not contain the current version.
 */
export function requireIfMatch(version: string, ifMatch: string | undefined): void {
  if (!isMatch(version, ifMatch)) throw new Refusal('PreconditionFailed')
}

/** The entity tag of a record that counts its changes, quoted as in RFC 9110, section 8.8.3. */
export function revisionETag({ revision }: { readonly revision: number }): string {
  return `"${revision}"`
}

/** Whether `If-Match` contains the version, or is absent. */
export function isMatch(version: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined) return true
  return ifMatch
    .split(',')
    .map((tag) => tag.trim())
    .includes(version)
}
