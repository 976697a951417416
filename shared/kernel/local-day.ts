const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** The date of an instant in a time zone: `2030-06-01`. */
export function localDate(instantMs: number, timeZone: string): string {
  const { year, month, day } = localParts(instantMs, timeZone)
  return `${year}-${month}-${day}`
}

/**
 * The next time after an instant at which clocks of a time zone show a full hour. On a day without that hour, when they
 * show the next one.
 */
export function nextLocalHourMs(instantMs: number, hour: number, timeZone: string): number {
  // Zones differ from UTC by whole quarters of an hour.
  const startMs = Math.floor(instantMs / (15 * MINUTE_MS)) * 15 * MINUTE_MS
  const wanted = String(hour).padStart(2, '0')
  for (let atMs = startMs + 15 * MINUTE_MS; atMs <= startMs + 25 * HOUR_MS; atMs += 15 * MINUTE_MS) {
    const { hour: shown, minute } = localParts(atMs, timeZone)
    if (shown === wanted && minute === '00') return atMs
  }
  return startMs + 24 * HOUR_MS
}

function localParts(instantMs: number, timeZone: string): Readonly<Record<string, string>> {
  const options = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  const format = new Intl.DateTimeFormat('en-GB', { ...options, hourCycle: 'h23', timeZone })
  return Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, value]))
}
