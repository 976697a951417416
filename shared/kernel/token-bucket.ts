/** Tokens that are used up and refill evenly. The time comes from a monotonic clock. */
export class TokenBucket {
  readonly #capacityCount: number
  readonly #msPerToken: number
  #leftCount: number
  #atMs: number

  /** @param refillMs Milliseconds in which an empty bucket fills up. */
  constructor(
    { capacityCount, refillMs }: { readonly capacityCount: number; readonly refillMs: number },
    nowMs: number,
  ) {
    this.#capacityCount = capacityCount
    this.#msPerToken = refillMs / capacityCount
    this.#leftCount = capacityCount
    this.#atMs = nowMs
  }

  /**
   * Takes tokens if that number is left beyond `keptCount`. More than there can ever be are taken from a full bucket.
   * @returns 0 when they were taken; otherwise the milliseconds after which to try again.
   */
  take(count: number, nowMs: number, keptCount: number): number {
    this.#refill(nowMs)
    const neededCount = Math.min(count + keptCount, this.#capacityCount)
    const missingCount = neededCount - this.#leftCount
    if (missingCount > 0) return Math.ceil(missingCount * this.#msPerToken)
    this.#leftCount -= count
    return 0
  }

  /** Takes tokens for what was done already: fewer than none can be left. A negative count gives tokens back. */
  charge(count: number, nowMs: number): void {
    this.#refill(nowMs)
    this.#leftCount = Math.min(this.#capacityCount, this.#leftCount - count)
  }

  #refill(nowMs: number): void {
    const refilledCount = (nowMs - this.#atMs) / this.#msPerToken
    this.#leftCount = Math.min(this.#capacityCount, this.#leftCount + refilledCount)
    this.#atMs = nowMs
  }
}
