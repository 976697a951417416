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
