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
