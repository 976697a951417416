type Runs<T> = { readonly current: Promise<T>; next: Promise<T> | undefined }

/**
 * Wraps `run` so that runs for one key never overlap, and that all calls during a run share the next one. Every run
 * starts after the calls that it serves. A hundred concurrent calls cause two runs.
 */
export function coalesce<T>(run: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const active = new Map<string, Runs<T>>()
  const begin = (key: string): Promise<T> => {
    const current = run(key).finally(() => {
      if (active.get(key)?.current === current && active.get(key)?.next === undefined) active.delete(key)
    })
    active.set(key, { current, next: undefined })
    return current
  }
  return (key) => {
    const runs = active.get(key)
    if (runs === undefined) return begin(key)
    runs.next ??= runs.current.then(
      () => begin(key),
      () => begin(key),
    )
    return runs.next
  }
}

type Waiting<T> = Map<string, PromiseWithResolvers<T | undefined>>
type Group<T> = { isReading: boolean; readonly waiting: Waiting<T> }

export type BatchReadLimits = {
  /** Keys per read. */
  readonly maxKeys: number
  /** After this time, a read no longer delays the next one. */
  readonly overlapAfterMs: number
}

/**
 * Wraps `readAll`, which reads several keys of a group. A group has one read at a time; calls during a read share the
 * next one, so that a hundred concurrent calls cause two reads. Every read starts after the calls that it serves, so
 * that it returns nothing older than they require. When a read fails, all of its calls fail.
 */
export function batchReads<T>(
  readAll: (group: string, keys: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  { maxKeys, overlapAfterMs }: BatchReadLimits,
): (group: string, key: string) => Promise<T | undefined> {
  const groups = new Map<string, Group<T>>()

  const readNext = (name: string, group: Group<T>): void => {
    if (group.isReading) return
    if (group.waiting.size === 0) {
      groups.delete(name)
      return
    }
    const batch = removeFirst(group.waiting, maxKeys)
    group.isReading = true
    let isCurrent = true
    const goOn = () => {
      if (!isCurrent) return
      isCurrent = false
      group.isReading = false
      readNext(name, group)
    }
    const overlap = setTimeout(goOn, overlapAfterMs)
    const settled = readAll(name, [...batch.keys()]).then(
      (found) => batch.forEach(({ resolve }, key) => void resolve(found.get(key))),
      (error: unknown) => batch.forEach(({ reject }) => void reject(error)),
    )
    void settled.then(() => {
      clearTimeout(overlap)
      goOn()
    })
  }

  return (name, key) => {
    const group = groups.get(name) ?? { isReading: false, waiting: new Map() }
    groups.set(name, group)
    const read = group.waiting.get(key) ?? Promise.withResolvers<T | undefined>()
    group.waiting.set(key, read)
    readNext(name, group)
    return read.promise
  }
}

/** Removes and returns the first entries. */
function removeFirst<T>(waiting: Waiting<T>, maxCount: number): Waiting<T> {
  const first = new Map([...waiting].slice(0, maxCount))
  for (const key of first.keys()) waiting.delete(key)
  return first
}

/** Does the work for each entry, in order, with limited concurrency. Rejects with the first failure. */
export async function forEachConcurrent<T>(
  all: Iterable<T>,
  lanesCount: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const next = Iterator.from(all)
  const lane = async (): Promise<void> => {
    for (let step = next.next(); !step.done; step = next.next()) await work(step.value)
  }
  await Promise.all(Array.from({ length: lanesCount }, lane))
}
