/**
 * Milliseconds after which a read finds what another instance wrote before it. Earlier ones may not: the database's
 * replicas follow each other, and session consistency holds within one instance alone.
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
