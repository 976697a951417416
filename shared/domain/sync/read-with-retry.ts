/**
 * Milliseconds between two reads of what another instance wrote. The client's session tokens cover what this instance
 * wrote and read itself; a write of another instance may reach the replica that is read only later. The database gives
 * no bound for that: a second is far above what is usual within a region, and not a promise.
 * https://learn.microsoft.com/azure/cosmos-db/consistency-levels
 */
const REPLICAS_LAG_MS = 1_000

/** What is to be there since somebody rang for it, and is looked for twice before it counts as gone. */
export async function readWithRetry<T>(
  find: () => Promise<T | undefined>,
  { sleep }: { sleep(delayMs: number): Promise<void> },
): Promise<T | undefined> {
  const found = await find()
  if (found !== undefined) return found
  await sleep(REPLICAS_LAG_MS)
  return find()
}
