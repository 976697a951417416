const QUARTER_MS = 15 * 60 * 1000
const DAY_MS = 96 * QUARTER_MS

const clocks = new Map<string, Intl.DateTimeFormat>()

/** What clocks show in a zone: `2030-03-31 03:00:00.000`. */
function shown(instantMs: number, zone: string): string {
  const clock =
    clocks.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  clocks.set(zone, clock)
  return `${clock.format(instantMs)}.${String(((instantMs % 1000) + 1000) % 1000).padStart(3, '0')}`
}

const asUtc = (text: string): number => Date.parse(`${text.replace(' ', 'T')}Z`)
const shifted = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10)

/** Quarter by quarter: slow, and without any knowledge of offsets. */
function firstQuarter(fromMs: number, untilMs: number, isFound: (instantMs: number) => boolean): number | undefined {
  for (let at = fromMs; at <= untilMs; at += QUARTER_MS) if (isFound(at)) return at
  return undefined
}

const starts = new Map<string, number>()

export function naiveStart(date: string, zone: string | undefined): number {
  const utc = Date.parse(`${date}T00:00:00Z`)
  if (zone === undefined) return utc
  const key = `${zone} ${date}`
  const known =
    starts.get(key) ??
    firstQuarter(utc - 15 * 4 * QUARTER_MS, utc + 2 * DAY_MS, (at) => shown(at, zone).slice(0, 10) >= date)
  starts.set(key, known as number)
  return known as number
}

export function naiveInstant(text: string, zone: string | undefined): number {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? naiveStart(text, zone) : Date.parse(text)
}

const sums = new Map<string, number>()

export function naiveAddDays(instantMs: number, days: number, zone: string | undefined): number {
  if (zone === undefined || days === 0) return instantMs + days * DAY_MS
  const key = `${zone} ${instantMs} ${days}`
  const sum = sums.get(key) ?? sumIn(instantMs, days, zone)
  sums.set(key, sum)
  return sum
}

function sumIn(instantMs: number, days: number, zone: string): number {
  const [date = '', time = ''] = shown(instantMs, zone).split(' ')
  const day = shifted(date, days)
  if (naiveStart(date, zone) === instantMs) return naiveStart(day, zone)
  const target = `${day} ${time}`
  const utc = asUtc(target)
  const found = firstQuarter(utc - DAY_MS, utc + DAY_MS, (at) => shown(at, zone) === target)
  const before = utc - DAY_MS
  return found ?? utc - (asUtc(shown(before, zone)) - before)
}
