/** Work that is repeated after so many units of time, such as every 28 days. */
export type Repetition = { readonly unitMs: number; readonly unitCount: number }

/**
 * Whether work on the thing of this id is due again. The things are spread over the units by their ids, which are GUIDs.
 * @param lastMs When it was last done; zero for never.
 */
export function isRepetitionDue(id: string, lastMs: number, { unitMs, unitCount }: Repetition, nowMs: number): boolean {
  const shift = Number.parseInt(id.slice(0, 8), 16) % unitCount
  const unit = Math.floor(nowMs / unitMs)
  const dueUnit = unit - ((unit - shift) % unitCount)
  return lastMs < dueUnit * unitMs
}
