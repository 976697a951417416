import { Refusal } from './refusal.ts'

/** Attempts of one change before the caller is told that others are faster. */
const ATTEMPTS_AT_MOST = 5

/** Reads, decides and writes again when someone else has written in between. */
export async function whileStale<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isStale(error) || attempts === ATTEMPTS_AT_MOST) throw error
    }
  }
}

/** Whether someone else was first. */
export function isStale(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'StaleVersion'
}
