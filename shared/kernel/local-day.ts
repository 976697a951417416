const QUARTER_MS = 15 * 60_000
const DATE_LENGTH = '2030-06-01'.length

/** The date of an instant in a time zone: `2030-06-01`. */
export function localDate(instantMs: number, timeZone: string): string {
  return localTime(instantMs, timeZone).slice(0, DATE_LENGTH)
}

/**
 * The next time after an instant at which clocks of a time zone show a full hour. On a day without that hour, when they
 * show the next one.
 * @param hour 0 to 23.
 */
export function nextLocalHourMs(instantMs: number, hour: number, timeZone: string): number {
  // Zones differ from UTC by whole quarters of an hour.
  const startMs = Math.floor(instantMs / QUARTER_MS) * QUARTER_MS
  let before = localTime(startMs, timeZone)
  for (let atMs = startMs + QUARTER_MS; ; atMs += QUARTER_MS) {
    const shown = localTime(atMs, timeZone)
    const due = `${shown.slice(0, DATE_LENGTH)} ${String(hour).padStart(2, '0')}:00`
    if (before < due && due <= shown) return atMs
    before = shown
  }
}

/** What clocks of a time zone show, in the order of time: `2030-06-01 07:00`. */
function localTime(instantMs: number, timeZone: string): string {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  const format = new Intl.DateTimeFormat('en-GB', { ...options, hourCycle: 'h23', timeZone })
  const parts = Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, value]))
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}`
}
