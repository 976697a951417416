// The only place that reads the clock.

/** Milliseconds since 1970, UTC. */
export const nowMs = (): number => Date.now()

/** Does not jump when the clock is set. */
export const elapsedMs = (): number => performance.now()
