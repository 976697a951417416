import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, seededRandom } from '../../../infra/local/demo/seeded-random.ts'
import { pickWeighted } from './picks.ts'

type WeightedAction = { readonly weight: number; readonly run: (random: Random) => Promise<void> }

/** Longest pause of a worker between two actions. */
const PAUSE_MS = 60
const POLL_MS = 100

/** Runs random actions concurrently. Each worker decides by its own random numbers. */
export class Workers {
  actionCount = 0
  readonly #actions: readonly WeightedAction[]
  readonly #randoms: readonly Random[]
  readonly #failures: string[] = []
  #isPaused = true
  #running: Promise<unknown> = Promise.resolve()

  constructor(
    actions: readonly WeightedAction[],
    { seed, workerCount }: { readonly seed: number; readonly workerCount: number },
  ) {
    this.#actions = actions
    this.#randoms = Array.from({ length: workerCount }, (_, index) => seededRandom(seed, 'worker', index))
  }

  resume(): void {
    this.#isPaused = false
    this.#running = Promise.all(this.#randoms.map((random) => this.#work(random)))
  }

  /** Waits until the condition holds, or an action fails. */
  async untilFailureOr(condition: () => boolean): Promise<void> {
    while (this.#failures.length === 0 && !condition()) await sleep(POLL_MS)
  }

  /** Waits for the running actions. @returns the failures */
  async pause(): Promise<string[]> {
    this.#isPaused = true
    await this.#running
    return this.#failures.splice(0)
  }

  async #work(random: Random): Promise<void> {
    while (!this.#isPaused) {
      try {
        await pickWeighted(random, this.#actions).run(random)
        this.actionCount += 1
      } catch (error) {
        this.#failures.push((error as Error).stack ?? String(error))
        return
      }
      await sleep(random.below(PAUSE_MS))
    }
  }
}
