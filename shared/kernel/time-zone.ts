import { LRUCache } from 'lru-cache'
import { upToEntries } from './cache-size.ts'
import { DAY_MS, parseInstantMs } from './timestamp.ts'

/** Days as a time zone has them. A day without a midnight begins with its first instant. */
export type TimeZone = {
  /** An IANA name. */
  readonly name: string
  /** The first instant of the day of an instant, in milliseconds. */
  startOfDay(instantMs: number): number
  /** The first instant of a date such as `2030-03-31`. Undefined for a date that the calendar does not have. */
  startOfDate(date: string): number | undefined
  /** The same time of day, `days` calendar days later. The beginning of a day stays one. */
  addDays(instantMs: number, days: number): number
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** Days of UTC, which has no daylight saving time. */
export const UTC: TimeZone = {
  name: 'UTC',
  startOfDay: (instantMs) => Math.floor(instantMs / DAY_MS) * DAY_MS,
  startOfDate: (date) => (DATE.test(date) ? parseInstantMs(date) : undefined),
  addDays: (instantMs, days) => instantMs + days * DAY_MS,
}

const ZONES_CACHED_COUNT = 500
const zones = new LRUCache<string, TimeZone>(upToEntries(ZONES_CACHED_COUNT))

/** Longer than any IANA name. */
const NAME_LIMIT_COUNT = 64

/** Whether the name is that of a time zone. Offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (name.length > NAME_LIMIT_COUNT || !/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The days of a time zone: always the same object for a name. @throws RangeError for an unknown name. */
export function timeZoneOf(name: string): TimeZone {
  if (name === UTC.name) return UTC
  const zone = zones.get(name) ?? new IntlZone(name)
  zones.set(name, zone)
  return zone
}

/** Milliseconds of a date, which is the beginning of its day, or of a timestamp. Undefined for other texts. */
export function instantIn({ startOfDate }: TimeZone, text: string): number | undefined {
  return DATE.test(text) ? startOfDate(text) : parseInstantMs(text)
}

/** Days whose offsets are kept. */
const OFFSETS_CACHED_COUNT = 20_000

/** Instants beyond these years have the offsets of their ends: dates of `Intl` end there. */
const FIRST_MS = Date.UTC(-2000, 0, 1)
const LAST_MS = Date.UTC(9999, 11, 31)

/** By the offsets of `Intl`, which change at most once within 24 hours. */
class IntlZone implements TimeZone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  /** The offset at the beginning of days of UTC. */
  readonly #offsets = new LRUCache<number, number>(upToEntries(OFFSETS_CACHED_COUNT))

  constructor(name: string) {
    this.name = name
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  startOfDay = (instantMs: number): number => this.#firstInstantOf(this.#localDay(instantMs))

  startOfDate = (date: string): number | undefined => {
    const localMs = UTC.startOfDate(date)
    return localMs === undefined ? undefined : this.#firstInstantOf(localMs)
  }

  addDays = (instantMs: number, days: number): number => {
    if (days === 0 || !Number.isFinite(instantMs)) return instantMs
    const dayMs = this.#localDay(instantMs)
    if (this.#firstInstantOf(dayMs) === instantMs) return this.#firstInstantOf(dayMs + days * DAY_MS)
    const localMs = instantMs + this.#offsetAt(instantMs) + days * DAY_MS
    // A time that the zone skips is as much later as the clock is put forward.
    return this.#instantsAt(localMs)[0] ?? localMs - this.#offsetAt(localMs - DAY_MS)
  }

  /** The day that clocks show, as milliseconds of its midnight in UTC. */
  #localDay(instantMs: number): number {
    return UTC.startOfDay(instantMs + this.#offsetAt(instantMs))
  }

  #firstInstantOf(localMidnightMs: number): number {
    const [first] = this.#instantsAt(localMidnightMs)
    if (first !== undefined) return first
    // Clocks skip midnight: the day begins when they are put forward.
    let [before, after] = [localMidnightMs - DAY_MS * 2, localMidnightMs + DAY_MS * 2]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (middle + this.#offsetAt(middle) < localMidnightMs) before = middle
      else after = middle
    }
    return after
  }

  /** The instants at which clocks show a local time, ascending: none when it is skipped, two when it is repeated. */
  #instantsAt(localMs: number): number[] {
    const offsets = [this.#offsetAt(localMs - DAY_MS), this.#offsetAt(localMs + DAY_MS)]
    const instants = [...new Set(offsets)].map((offset) => localMs - offset)
    return instants.filter((at) => at + this.#offsetAt(at) === localMs).sort((left, right) => left - right)
  }

  /** Milliseconds by which local time is ahead of UTC. */
  #offsetAt(instantMs: number): number {
    const atMs = Math.min(Math.max(instantMs, FIRST_MS), LAST_MS)
    const dayMs = UTC.startOfDay(atMs)
    const offset = this.#offsetOfDay(dayMs)
    return offset === this.#offsetOfDay(dayMs + DAY_MS) ? offset : this.#offsetNow(atMs)
  }

  #offsetOfDay(dayMs: number): number {
    const known = this.#offsets.get(dayMs)
    if (known !== undefined) return known
    const offset = this.#offsetNow(dayMs)
    this.#offsets.set(dayMs, offset)
    return offset
  }

  #offsetNow(instantMs: number): number {
    const parts = new Map(this.#format.formatToParts(instantMs).map(({ type, value }) => [type, value]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
    const year = parts.get('era') === 'BC' ? 1 - part('year') : part('year')
    const local = new Date(0)
    local.setUTCFullYear(year, part('month') - 1, part('day'))
    local.setUTCHours(part('hour'), part('minute'), part('second'))
    return local.getTime() - Math.floor(instantMs / 1000) * 1000
  }
}
