import { setTimeout as pause } from 'node:timers/promises'
import type { CriteriaProcess, CriteriaService } from '../api/criteria-service.ts'

/** What a process that was killed, or did not hear an answer, comes to grief with. */
class Trouble extends Error {}

export function isTrouble(error: unknown): boolean {
  return error instanceof Trouble
}

/** How a process fares with the calls that it makes to the database. */
export class Life {
  readonly #pausesMs: readonly number[]
  #callCount = 0
  #lastCall = Number.POSITIVE_INFINITY
  #unansweredCall = Number.POSITIVE_INFINITY

  /** @param pausesMs before its calls, over and over. */
  constructor(pausesMs: readonly number[]) {
    this.#pausesMs = pausesMs
  }

  get hasEnded(): boolean {
    return this.#callCount > this.#lastCall
  }

  /** Killed so many calls from now: the call is made, or not, and nobody hears of its answer. */
  endAfter(callCount: number): void {
    this.#lastCall = this.#callCount + callCount
  }

  /** One call is made, so many from now, whose answer is lost. */
  loseAnswerAfter(callCount: number): void {
    this.#unansweredCall = this.#callCount + callCount
  }

  async make<T>(call: () => Promise<T>): Promise<T> {
    const number = this.#callCount
    this.#step()
    await pause(this.#pausesMs[number % this.#pausesMs.length] ?? 0)
    const answer = await call()
    this.#step()
    if (number <= this.#unansweredCall && this.#callCount > this.#unansweredCall) {
      this.#unansweredCall = Number.POSITIVE_INFINITY
      throw new Trouble('The answer was lost')
    }
    return answer
  }

  #step(): void {
    this.#callCount += 1
    if (this.hasEnded) throw new Trouble('The process was killed')
  }
}

/** A process of the service whose stores are called as its life allows. */
export function mortalProcess(service: CriteriaService, life: Life, clockAheadMs: number): CriteriaProcess {
  const { collections, memberships, evaluationLeases, joined } = service.process
  return service.newProcess({
    collections: calledBy(life, collections),
    memberships: calledBy(life, memberships),
    evaluationLeases: calledBy(life, evaluationLeases),
    joined: calledBy(life, joined),
    nowMs: () => service.clock.nowMs + clockAheadMs,
  })
}

function calledBy<Store extends object>(life: Life, store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => life.make(() => Reflect.apply(member, target, given))
    },
  })
}
