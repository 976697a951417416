import { Refusal } from './refusals.ts'

/** A record as read, with the version that a later write must quote. */
export type Versioned<T> = { readonly value: T; readonly version: string }

/** One page of an ordered list. `continueAfter` is absent on the last page. */
export type Page<T> = { readonly items: readonly T[]; readonly continueAfter?: string }

/** Attempts of one change before the caller is told that others are faster. */
const ATTEMPTS_AT_MOST = 20

/**
 * Reads, decides and writes again when someone else has written in between.
 * @param inTurn has whoever was overtaken once wait for the others that were: many at once then do not overtake each
 * other again and again.
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
        if (!isConflict(error) || attempts === ATTEMPTS_AT_MOST) throw error
      }
    }
  })
}

/** Whether someone else was first. */
export function isConflict(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'StaleVersion'
}

/**
 * RFC 9110, section 13.1.1: a write that names versions is made to one of these alone; strong comparison.
 * @throws Refusal `PreconditionFailed` when the caller named versions and the current one is not among them.
 */
export function requireIfMatch(version: string, ifMatch: string | undefined): void {
  if (ifMatch === undefined) return
  const named = ifMatch.split(',').map((tag) => tag.trim())
  if (!named.includes(version)) throw new Refusal('PreconditionFailed')
}
