import { setTimeout as pause } from 'node:timers/promises'
import type { CriteriaProcess, CriteriaService } from '../api/criteria-service.ts'

/** Thrown in a process that was killed or whose call lost its response. */
class Trouble extends Error {}

export function isTrouble(error: unknown): boolean {
  return error instanceof Trouble
}

/** The faults that a process meets in its calls to the database, the directory and the queues. */
export class Life {
  readonly #pausesMs: readonly number[]
  #callCount = 0
  #lastCall = Number.POSITIVE_INFINITY
  #unansweredCall = Number.POSITIVE_INFINITY
  /** Whether a call has failed in a process that went on. */
  hasFailedCall = false
  #refusedCalls = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
  /** Whether one of its calls waits for the end of something else. */
  isInterrupted = false
  #interruption: { readonly beforeCall: number; work(): Promise<void> } | undefined

  /** @param pausesMs delays before its calls, repeated from the start when used up. None at all by default. */
  constructor(pausesMs: readonly number[] = []) {
    this.#pausesMs = pausesMs
  }

  get hasEnded(): boolean {
    return this.#callCount > this.#lastCall
  }

  /** Kills the process this many calls from now, before or after the call takes effect. The response is lost. */
  endAfter(callCount: number): void {
    this.#lastCall = this.#callCount + callCount
  }

  /** The call this many calls from now takes effect, but its response is lost. */
  loseAnswerAfter(callCount: number): void {
    this.#unansweredCall = this.#callCount + callCount
  }

  /** After `callCount` more calls, the next `count` fail without an effect: an outage of what is called. */
  refuseAfter(callCount: number, count: number): void {
    const from = this.#callCount + callCount
    this.#refusedCalls = { from, until: from + count }
  }

  /** Before the call this many calls from now, something else is done from beginning to end. */
  interruptAfter(callCount: number, work: () => Promise<void>): void {
    this.#interruption = { beforeCall: this.#callCount + callCount, work }
  }

  /** What was to be done at a call that has not been made is not done. */
  forgetInterruption(): void {
    this.#interruption = undefined
  }

  /** From now on, there are no faults. A process that was killed stays so. */
  meetNoMoreFaults(): void {
    if (!this.hasEnded) this.#lastCall = Number.POSITIVE_INFINITY
    this.#unansweredCall = Number.POSITIVE_INFINITY
    this.#refusedCalls = { from: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY }
    this.forgetInterruption()
  }

  async make<T>(call: () => Promise<T>): Promise<T> {
    const number = this.#callCount
    this.#step()
    if (this.#pausesMs.length > 0) await pause(this.#pausesMs[number % this.#pausesMs.length])
    const interruption = this.#interruption
    if (interruption !== undefined && number >= interruption.beforeCall) {
      this.#interruption = undefined
      this.isInterrupted = true
      await interruption.work().finally(() => {
        this.isInterrupted = false
      })
    }
    if (number >= this.#refusedCalls.from && number < this.#refusedCalls.until) {
      this.hasFailedCall = true
      throw new Trouble('The call was refused')
    }
    const answer = await call()
    this.#step()
    if (number <= this.#unansweredCall && this.#callCount > this.#unansweredCall) {
      this.#unansweredCall = Number.POSITIVE_INFINITY
      this.hasFailedCall = true
      throw new Trouble('The answer was lost')
    }
    return answer
  }

  #step(): void {
    this.#callCount += 1
    if (this.hasEnded) throw new Trouble('The process was killed')
  }
}

/** A process of the service with these faults in its calls to the stores. */
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
      return (...args: unknown[]) => life.make(() => Reflect.apply(member, target, args))
    },
  })
}
