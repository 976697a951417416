/**
 * The clocks of all processes of a run. They are apart by a fixed difference for each host, and can be advanced
 * together: leases, message locks and delays then end without a wait.
 */
export class Clocks {
  /** By which all clocks are ahead of real time. */
  aheadMs = 0
  readonly #followers = new Set<(aheadMs: number) => void>()

  /** @param follow receives the time by which all clocks are ahead, now and after each advance */
  follow(follow: (aheadMs: number) => void): void {
    this.#followers.add(follow)
    follow(this.aheadMs)
  }

  advance(durationMs: number): void {
    this.aheadMs += durationMs
    for (const follow of this.#followers) follow(this.aheadMs)
  }
}
