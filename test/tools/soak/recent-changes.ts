/** Longer than replicas lag: instances can read the state before a change for that long. */
const SETTLED_AFTER_MS = 3000

/**
 * When people, org units and collections last changed. What depends on a change that is too recent has no certain
 * result: another instance may not read it yet.
 */
export class RecentChanges {
  readonly #atMs = new Map<string, number>()

  note(...keys: readonly string[]): void {
    const nowMs = performance.now()
    for (const key of keys) this.#atMs.set(key, nowMs)
  }

  isSettled(keys: Iterable<string>): boolean {
    const untilMs = performance.now() - SETTLED_AFTER_MS
    return [...keys].every((key) => (this.#atMs.get(key) ?? Number.NEGATIVE_INFINITY) < untilMs)
  }
}

/** The key of an org unit, by external id. People have their national identity number, collections their id. */
export const unitKey = (externalId: string): string => `unit ${externalId}`
