import type { Task } from '../../kernel/cooperative-scheduler.ts'

/** Whether an object is a member of a collection, found by a task of its own. */
type Test = { readonly key: string; readonly task: Task<boolean> }

/**
 * The members of collections, tested one by one when a condition asks for them. A test can ask for the members of
 * further collections, through a chain of as many collections as a tenant has. Tests that wait for others are therefore
 * kept in a list: each step of a test is a step of the thread, and a long chain needs no deep stack.
 */
export class LazyMembers {
  readonly #results = new Map<string, boolean>()
  readonly #testOf: (collectionId: string, id: string) => Task<boolean>
  #asked: Test | undefined

  /** @param testOf Tests an object. May ask for members before a step ends. */
  constructor(testOf: (collectionId: string, id: string) => Task<boolean>) {
    this.#testOf = testOf
  }

  /** Asks whether an object is a member. True when this is not known before the next step. */
  asksFor(collectionId: string, id: string): boolean {
    const key = `${collectionId}:${id}`
    if (this.#results.has(key)) return false
    this.#asked = { key, task: this.#testOf(collectionId, id) }
    return true
  }

  /** The members of a collection. The set supports `has` only, for objects that were asked for. */
  of(collectionId: string): ReadonlySet<string> {
    return new KnownMembers((id) => {
      const isMember = this.#results.get(`${collectionId}:${id}`)
      if (isMember === undefined) throw new Error(`Nothing has asked whether ${id} is in collection ${collectionId}`)
      return isMember
    })
  }

  /** Runs a task that asks for members: after each step, what the step asked for is found first. */
  *run<T>(task: Task<T>): Task<T> {
    const waiting: Test[] = []
    const open = new Set<string>()
    for (;;) {
      const test = waiting.at(-1)
      if (test === undefined) {
        const step = task.next()
        if (step.done === true) return step.value
      } else {
        const step = test.task.next()
        if (step.done === true) {
          this.#results.set(test.key, step.value)
          waiting.pop()
          open.delete(test.key)
        }
      }
      if (this.#asked !== undefined) {
        if (open.has(this.#asked.key)) throw new Error(`The collection of ${this.#asked.key} refers to itself`)
        open.add(this.#asked.key)
        waiting.push(this.#asked)
        this.#asked = undefined
      }
      yield
    }
  }
}

/** A set that tests an id when it is asked. */
class KnownMembers extends Set<string> {
  readonly #test: (id: string) => boolean

  constructor(test: (id: string) => boolean) {
    super()
    this.#test = test
  }

  override has(id: string): boolean {
    return this.#test(id)
  }
}
