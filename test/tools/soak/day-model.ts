/** The days of a tenant. Independent of the service: it shares no code with it. */

export const TIME_ZONES = ['UTC', 'Europe/Oslo', 'America/Los_Angeles', 'Pacific/Kiritimati', 'Asia/Kolkata']

const DAY_MS = 24 * 60 * 60 * 1000
const FORMATS = new Map(
  TIME_ZONES.map((zone) => [
    zone,
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }),
  ]),
)

/** The date there, such as `2026-03-01`. */
export function dayIn(zone: string, atMs: number): string {
  const format = FORMATS.get(zone)
  if (format === undefined) throw new Error(`There is no time zone ${zone}`)
  return format.format(atMs)
}

export function daysLater(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
}

/** The days from one to another, with both. */
export function daysFrom(first: string, last: string): string[] {
  const days = [first]
  for (let day = first; day < last; days.push(day)) day = daysLater(day, 1)
  return days
}
