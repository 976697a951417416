/** An invocation must end well before `functionTimeout` in host.json. */
const MAX_DURATION_MS = 2 * 60_000

/** Whether the time of an invocation that begins now is over. It leaves the rest of its work to another message then. */
export function timeLimit({ nowMs }: { nowMs(): number }): () => boolean {
  const startMs = nowMs()
  return () => nowMs() - startMs > MAX_DURATION_MS
}
