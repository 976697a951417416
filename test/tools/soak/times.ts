import type { Clocks } from './clocks.ts'
import type { Span } from './end-model.ts'

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
