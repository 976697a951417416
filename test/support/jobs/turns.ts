import type { SyncDependencies } from '../../../shared/domain/sync/sync-dependencies.ts'

/** Makes the workers' calls one after another in a chosen order, so that a run can be repeated. */
export class Turns {
  readonly #waiting: (() => Promise<void>)[] = []

  get waitingCount(): number {
    return this.#waiting.length
  }

  /** Dependencies whose calls wait for their turn. From call `diesAt` on, they never resolve. */
  worker(deps: SyncDependencies, diesAt: number | undefined, onDeath: () => void): SyncDependencies {
    let callsCount = 0
    const serialize = <T>(call: () => Promise<T>): Promise<T> => {
      callsCount += 1
      if (diesAt !== undefined && callsCount > diesAt) {
        if (callsCount === diesAt + 1) onDeath()
        return new Promise<never>(() => undefined)
      }
      return new Promise<T>((resolve, reject) => {
        this.#waiting.push(() => call().then(resolve, reject))
      })
    }
    const waiting = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(object, name, receiver) {
          const member: unknown = Reflect.get(object, name, receiver)
          if (typeof member !== 'function') return member
          return (...args: unknown[]) => serialize(async () => member.apply(object, args))
        },
      })
    const { links, jobs, settings, removalPlans, directory, collections, messageQueue } = deps
    return {
      ...deps,
      links: waiting(links),
      jobs: waiting(jobs),
      settings: waiting(settings),
      removalPlans: waiting(removalPlans),
      directory: waiting(directory),
      collections: waiting(collections),
      messageQueue: waiting(messageQueue),
    }
  }

  async next(picked: number): Promise<void> {
    const [turn] = this.#waiting.splice(picked % Math.max(this.#waiting.length, 1), 1)
    await turn?.()
    // The worker reaches its next call before another worker makes one.
    await new Promise(setImmediate)
  }

  async end(): Promise<void> {
    while (this.waitingCount > 0) await this.next(0)
  }
}
