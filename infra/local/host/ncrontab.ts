import { Cron } from 'croner'

export type Schedule = Pick<Cron, 'nextRun'>

/** Numbers, `*`, lists, ranges and steps, which Croner reads like NCRONTAB. In NCRONTAB, Sunday is 0 and never 7. */
const SIX_FIELDS = /^(?:[\d*,/-]+ ){5}[0-6*,/-]+$/

/**
 * Parses `{second} {minute} {hour} {day} {month} {weekday}`. Names and other forms are refused: the app has none.
 * https://github.com/atifaziz/NCrontab/wiki/Crontab-Expression
 * @throws Error with the reason
 */
export function parseSchedule(expression: string): Schedule {
  if (!SIX_FIELDS.test(expression)) throw new Error(`the schedule "${expression}" must have six fields of numbers`)
  try {
    return new Cron(expression, { paused: true, mode: '6-part', utcOffset: 0, domAndDow: true })
  } catch (cause) {
    throw new Error(`the schedule "${expression}" is invalid`, { cause })
  }
}

/**
 * The first occurrence after `afterMs`, in milliseconds since 1970, UTC. Day and weekday must both match, unlike in
 * Unix cron. Undefined when the schedule never occurs, for example on 30 February.
 */
export const nextOccurrence = (schedule: Schedule, afterMs: number): number | undefined =>
  schedule.nextRun(new Date(afterMs))?.getTime()
