import type { Clocks } from './clocks.ts'

/** A time, as far as it is known: the clocks of the instances are apart. */
export type Span = { readonly earliestMs: number; readonly latestMs: number }

/** The time of the instances, whose clocks are apart. */
export class InstanceTimes {
  readonly #clocks: Pick<Clocks, 'aheadMs'>
  readonly #apartMs: number

  constructor(clocks: Pick<Clocks, 'aheadMs'>, apartMs: number) {
    this.#clocks = clocks
    this.#apartMs = apartMs
  }

  now(): Span {
    const earliestMs = Date.now() + this.#clocks.aheadMs
    return { earliestMs, latestMs: earliestMs + this.#apartMs }
  }

  /** The time during a call that began then. */
  since({ earliestMs }: Span): Span {
    return { earliestMs, latestMs: this.now().latestMs }
  }
}
