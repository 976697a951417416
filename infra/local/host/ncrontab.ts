/** The allowed values of each field, ascending. */
export type Schedule = {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  readonly days: readonly number[]
  readonly months: readonly number[]
  /** 0 is Sunday. */
  readonly weekdays: readonly number[]
}

type Field = { readonly label: string; readonly least: number; readonly most: number; readonly names?: string }

const FIELDS: readonly Field[] = [
  { label: 'second', least: 0, most: 59 },
  { label: 'minute', least: 0, most: 59 },
  { label: 'hour', least: 0, most: 23 },
  { label: 'day', least: 1, most: 31 },
  {
    label: 'month',
    least: 1,
    most: 12,
    names: 'January February March April May June July August September October November December',
  },
  { label: 'weekday', least: 0, most: 6, names: 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday' },
]

const DAY_MS = 86_400_000
/** 29 February falls on a given weekday every 28 years, and after a century without a leap day only after 40. */
const HORIZON_YEARS = 41

/**
 * Reads `{second} {minute} {hour} {day} {month} {weekday}`, or the last five with second 0: lists, ranges, steps and
 * English names, also shortened. https://github.com/atifaziz/NCrontab/wiki/Crontab-Expression
 * @throws naming the field that is wrong
 */
export function parseSchedule(expression: string): Schedule {
  const texts = expression.trim().split(/\s+/)
  if (texts.length === 5) texts.unshift('0')
  if (texts.length !== 6) throw new Error(`the schedule "${expression}" must have five or six fields`)
  const [seconds, minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => {
    try {
      return fieldValues(texts[index] ?? '', field)
    } catch (cause) {
      throw new Error(`the schedule "${expression}" has a ${field.label} that cannot be read: ${texts[index]}`, {
        cause,
      })
    }
  }) as [number[], number[], number[], number[], number[], number[]]
  return { seconds, minutes, hours, days, months, weekdays }
}

/**
 * The first instant after `afterMs` that fits, in milliseconds since 1970, UTC. Day and weekday must both fit, unlike
 * in Unix cron. Undefined when there is none: 30 February.
 */
export function nextOccurrence(schedule: Schedule, afterMs: number): number | undefined {
  const firstMs = (Math.floor(afterMs / 1000) + 1) * 1000
  const endYear = new Date(firstMs).getUTCFullYear() + HORIZON_YEARS
  let dayMs = Math.floor(firstMs / DAY_MS) * DAY_MS
  for (;;) {
    const day = new Date(dayMs)
    if (day.getUTCFullYear() > endYear) return undefined
    if (!schedule.months.includes(day.getUTCMonth() + 1)) {
      dayMs = Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 1)
      continue
    }
    if (schedule.days.includes(day.getUTCDate()) && schedule.weekdays.includes(day.getUTCDay())) {
      const timeMs = firstTimeOfDay(schedule, Math.max(0, firstMs - dayMs))
      if (timeMs !== undefined) return dayMs + timeMs
    }
    dayMs += DAY_MS
  }
}

/** The first fitting time of day at or after `fromMs`, both counted from midnight. */
function firstTimeOfDay({ hours, minutes, seconds }: Schedule, fromMs: number): number | undefined {
  for (const hour of hours) {
    const hourMs = hour * 3_600_000
    if (hourMs + 3_600_000 <= fromMs) continue
    for (const minute of minutes) {
      const minuteMs = hourMs + minute * 60_000
      if (minuteMs + 60_000 <= fromMs) continue
      const second = seconds.find((each) => minuteMs + each * 1000 >= fromMs)
      if (second !== undefined) return minuteMs + second * 1000
    }
  }
  return undefined
}

function fieldValues(text: string, field: Field): number[] {
  const chosen = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item)
    if (match === null) throw new Error(`"${item}" is no value, range or step`)
    const [, star, from = '', to, stepText] = match
    const step = Number(stepText ?? 1)
    if (step < 1) throw new Error('a step is at least 1')
    const first = star ? field.least : fieldValue(from, field)
    const last = to !== undefined ? fieldValue(to, field) : star || stepText ? field.most : first
    // NCrontab swaps the ends of a range that runs backwards.
    for (let value = Math.min(first, last); value <= Math.max(first, last); value += step) chosen.add(value)
  }
  return [...chosen].sort((a, b) => a - b)
}

function fieldValue(text: string, { least, most, names }: Field): number {
  const wanted = text.toLowerCase()
  const byName = names?.split(' ').findIndex((name) => name.toLowerCase().startsWith(wanted)) ?? -1
  const value = /^\d+$/.test(text) ? Number(text) : byName >= 0 ? byName + least : Number.NaN
  if (!(value >= least && value <= most)) throw new Error(`"${text}" is not between ${least} and ${most}`)
  return value
}
