/** Work that is repeated after a number of units of time, such as every 28 days. */
export type Schedule = { readonly unitMs: number; readonly unitCount: number }

/**
 * Whether work is due again.
 * @param place The unit of the period in which the work is done, modulo the number of units: see `offsetOf`.
 * @param lastMs When it was last done; zero for never.
 */
export function isScheduleDue(place: number, lastMs: number, { unitMs, unitCount }: Schedule, nowMs: number): boolean {
  const unit = Math.floor(nowMs / unitMs)
  const dueUnit = unit - ((unit - (place % unitCount)) % unitCount)
  return lastMs < dueUnit * unitMs
}

/** A place for the work on the thing of this id, a GUID. Many things are spread over all units. */
export function offsetOf(id: string): number {
  return Number.parseInt(id.slice(0, 8), 16)
}
