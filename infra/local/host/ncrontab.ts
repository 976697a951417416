import { Cron } from 'croner'

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

/**
 * Parses `{second} {minute} {hour} {day} {month} {weekday}`, or the last five fields with second 0. Each field accepts
 * lists, ranges, steps and English names, which can be shortened.
 * https://github.com/atifaziz/NCrontab/wiki/Crontab-Expression
 *
 * Croner cannot parse the expression itself: it refuses `5/20`, `30-10/10` and `Sunday`, which NCRONTAB accepts, and
 * accepts weekday 7, `@daily`, `L`, `#` and `?`, which NCRONTAB refuses.
 * @throws Error that names the invalid field
 */
export function parseSchedule(expression: string): Schedule {
  const texts = expression.trim().split(/\s+/)
  if (texts.length === 5) texts.unshift('0')
  if (texts.length !== 6) throw new Error(`the schedule "${expression}" must have five or six fields`)
  const [seconds, minutes, hours, days, months, weekdays] = FIELDS.map((field, index) => {
    try {
      return fieldValues(texts[index] ?? '', field)
    } catch (cause) {
      throw new Error(`the schedule "${expression}" has an invalid ${field.label}: ${texts[index]}`, {
        cause,
      })
    }
  }) as [number[], number[], number[], number[], number[], number[]]
  return { seconds, minutes, hours, days, months, weekdays }
}

/**
 * The first occurrence after `afterMs`, in milliseconds since 1970, UTC. Day and weekday must both match, unlike in
 * Unix cron. Undefined when the schedule never occurs, for example on 30 February.
 */
export function nextOccurrence(schedule: Schedule, afterMs: number): number | undefined {
  const { seconds, minutes, hours, days, months, weekdays } = schedule
  const pattern = [seconds, minutes, hours, days, months, weekdays].join(' ')
  const cron = new Cron(pattern, { paused: true, mode: '6-part', utcOffset: 0, domAndDow: true })
  return cron.nextRun(new Date(afterMs))?.getTime()
}

function fieldValues(text: string, field: Field): number[] {
  const chosen = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item)
    if (match === null) throw new Error(`"${item}" is not a value, range or step`)
    const [, star, from = '', to, stepText] = match
    const step = Number(stepText ?? 1)
    if (step < 1) throw new Error('a step must be at least 1')
    const first = star ? field.least : fieldValue(from, field)
    const last = to !== undefined ? fieldValue(to, field) : star || stepText ? field.most : first
    // NCRONTAB swaps the ends of a descending range.
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
