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
