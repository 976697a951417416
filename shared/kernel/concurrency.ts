type Turn<T> = { readonly running: Promise<T>; next: Promise<T> | undefined }

/**
 * Wraps `run` so that runs for one key never overlap, and so that all calls made while one is under way share the
 * next: a run always begins after the call that it answers, and a hundred calls at once cost two runs.
 */
export function coalesce<T>(run: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const turns = new Map<string, Turn<T>>()
  const begin = (key: string): Promise<T> => {
    const running = run(key).finally(() => {
      if (turns.get(key)?.running === running && turns.get(key)?.next === undefined) turns.delete(key)
    })
    turns.set(key, { running, next: undefined })
    return running
  }
  return (key) => {
    const turn = turns.get(key)
    if (turn === undefined) return begin(key)
    turn.next ??= turn.running.then(
      () => begin(key),
      () => begin(key),
    )
    return turn.next
  }
}

type Waiting<T> = Map<string, PromiseWithResolvers<T | undefined>>
type Group<T> = { isReading: boolean; readonly waiting: Waiting<T> }

export type BatchReadLimits = {
  /** Keys that one read is asked for. */
  readonly keysAtMost: number
  /** A read that takes longer no longer holds up those that wait for it to end. */
  readonly patienceMs: number
}

/**
 * Wraps `readAll`, which finds what a group has under each of some keys. One read of a group is under way at a time;
 * whoever asks meanwhile shares the next: a hundred calls at once cost two reads. A read always begins after the calls
 * that it answers, so that nobody is told less than there was when they asked. It fails all whom it was to answer.
 */
export function batchReads<T>(
  readAll: (group: string, keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  { keysAtMost, patienceMs }: BatchReadLimits,
): (group: string, key: string) => Promise<T | undefined> {
  const groups = new Map<string, Group<T>>()

  const readNext = (name: string, group: Group<T>): void => {
    if (group.isReading) return
    if (group.waiting.size === 0) {
      groups.delete(name)
      return
    }
    const asked = taken(group.waiting, keysAtMost)
    group.isReading = true
    let holdsUp = true
    const goOn = () => {
      if (!holdsUp) return
      holdsUp = false
      group.isReading = false
      readNext(name, group)
    }
    const patience = setTimeout(goOn, patienceMs)
    const settled = readAll(name, [...asked.keys()]).then(
      (found) => asked.forEach(({ resolve }, key) => void resolve(found.get(key))),
      (error: unknown) => asked.forEach(({ reject }) => void reject(error)),
    )
    void settled.then(() => {
      clearTimeout(patience)
      goOn()
    })
  }

  return (name, key) => {
    const group = groups.get(name) ?? { isReading: false, waiting: new Map() }
    groups.set(name, group)
    const answer = group.waiting.get(key) ?? Promise.withResolvers<T | undefined>()
    group.waiting.set(key, answer)
    readNext(name, group)
    return answer.promise
  }
}

/** The first so many, which wait no longer. */
function taken<T>(waiting: Waiting<T>, countAtMost: number): Waiting<T> {
  const first = new Map([...waiting].slice(0, countAtMost))
  for (const key of first.keys()) waiting.delete(key)
  return first
}

/** Does the work for each, a few at a time, each begun in the order given. The first failure is thrown on. */
export async function forEachConcurrent<T>(
  all: Iterable<T>,
  lanesCount: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const next = Iterator.from(all)
  const lane = async (): Promise<void> => {
    for (let step = next.next(); !step.done; step = next.next()) await work(step.value)
  }
  await Promise.all(Array.from({ length: lanesCount }, lane))
}
