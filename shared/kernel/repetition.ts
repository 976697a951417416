/** Work that is repeated after a number of units of time, such as every 28 days. */
export type Repetition = { readonly unitMs: number; readonly unitCount: number }

/**
 * Whether work is due again.
 * @param place The unit of the period in which the work is done, modulo the number of units: see `placeOf`.
 * @param lastMs When it was last done; zero for never.
 */
export function isRepetitionDue(
  place: number,
  lastMs: number,
  { unitMs, unitCount }: Repetition,
  nowMs: number,
): boolean {
  const unit = Math.floor(nowMs / unitMs)
  const dueUnit = unit - ((unit - (place % unitCount)) % unitCount)
  return lastMs < dueUnit * unitMs
}

/** A place for the work on the thing of this id, a GUID. Many things are spread over all units. */
export function placeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16)
}
