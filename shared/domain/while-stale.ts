import { Refusal } from './refusal.ts'

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
