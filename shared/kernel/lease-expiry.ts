/**
 * Milliseconds for which the holder of a lease may still act under it; zero when another worker may acquire it now. The
 * holder stops at `untilMs` by its own clock, which can be behind that of the other worker.
 * @param untilMs The end of the lease by its holder's clock; zero for a released lease.
 * @param clockDifferenceMs The clocks of two workers differ by less.
 */
export function heldForMs(untilMs: number, clockDifferenceMs: number, nowMs: number): number {
  return Math.max(0, untilMs + clockDifferenceMs - nowMs)
}

/**
 * Milliseconds before the next attempt to acquire a lease that is held for `forMs`. A holder usually releases its lease
 * early. One that has not renewed it in time has probably crashed, so that attempts before the end would be in vain.
 */
export function retryDelayMs(forMs: number, clockDifferenceMs: number, usualDelayMs: number): number {
  return forMs > clockDifferenceMs ? Math.min(usualDelayMs, forMs) : forMs
}
