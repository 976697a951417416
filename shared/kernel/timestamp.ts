import { Type } from 'typebox'

/** ISO 8601 with offset, as returned by the functions below. */
export const Timestamp = Type.String({ format: 'date-time' })

/** `2026-02-11T09:14:22.117+00:00`: the format of all instants of the API. */
export function toTimestamp(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('Z', '+00:00')
}

/** `2026-02-11T09:14:22+00:00`: the format of `lastUpdated`, with a resolution of one second. */
export function toSecondsTimestamp(instantS: number): string {
  return `${new Date(instantS * 1000).toISOString().slice(0, 19)}+00:00`
}

/** The first instant that has no timestamp of the API: years have four digits. */
export const TIMESTAMPS_END_MS = Date.UTC(10_000, 0)

/** Milliseconds in a day of 24 hours. */
export const DAY_MS = 86_400_000

/** A date, or a date and time, in the extended format of ISO 8601. */
const ISO_8601 = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d))?)?$/i

/**
 * Milliseconds since 1970 of a date (midnight UTC) or a date and time (UTC unless it has an offset). Undefined for any
 * other text, and for dates that the calendar does not have. Fractions below a millisecond are truncated.
 */
export function parseInstantMs(text: string): number | undefined {
  const match = text.length > 40 ? null : ISO_8601.exec(text)
  if (match === null) return undefined
  const part = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)]
  const offsetHour = part(9)
  const offsetMinute = part(10)
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const fractionMs = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3))
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (match[8] === '-' ? -1 : 1)
  return date.getTime() + (hour * 3600 + minute * 60 + second) * 1000 + fractionMs - offsetMs
}
