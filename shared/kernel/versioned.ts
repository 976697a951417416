import { Refusal } from './refusals.ts'

/** A record as read, with the version that a later write must specify. */
export type Versioned<T> = { readonly value: T; readonly version: string }

/** One page of an ordered list. `continueAfter` is absent on the last page. */
export type Page<T> = { readonly items: readonly T[]; readonly continueAfter?: string }

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

/** Whether `If-Match` contains the version, or is absent. */
export function isMatch(version: string, ifMatch: string | undefined): boolean {
  if (ifMatch === undefined) return true
  return ifMatch
    .split(',')
    .map((tag) => tag.trim())
    .includes(version)
}
