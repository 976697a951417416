import { signal } from '@preact/signals'

/** The time zone of the organisation, in which times are shown; undefined, before it is known, for the browser's. */
export const shownTimeZone = signal<string | undefined>(undefined)

/** The time zone of the browser. */
export const ownTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Whether clocks of both zones show the same in each month of a year. */
export function hasSameClock(one: string, other: string, year: number): boolean {
  const months = Array.from({ length: 12 }, (_, month) => Date.UTC(year, month, 15))
  return one === other || months.every((instantMs) => offsetMs(instantMs, one) === offsetMs(instantMs, other))
}

/**
 * The instant at which clocks of a zone show a time, such as `2030-03-01T12:00`. Undefined for another text.
 * @param zone undefined for the browser's.
 */
export function instantAt(localTime: string, zone: string | undefined): Date | undefined {
  const asUtcMs = Date.parse(`${localTime}Z`)
  if (Number.isNaN(asUtcMs)) return undefined
  const name = zone ?? ownTimeZone()
  // The offset at the instant itself, which lies on the other side of a change of clocks only within its hours.
  const nearMs = asUtcMs - offsetMs(asUtcMs, name)
  return new Date(asUtcMs - offsetMs(nearMs, name))
}

/** The day on which clocks of a zone show an instant, such as `2030-03-01`. @param zone undefined for the browser's. */
export function dayAt(instantMs: number, zone: string | undefined): string {
  return new Date(instantMs + offsetMs(instantMs, zone ?? ownTimeZone())).toISOString().slice(0, 10)
}

/** Milliseconds by which clocks of a zone are ahead of UTC. */
function offsetMs(instantMs: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    hourCycle: 'h23',
    timeZone: zone,
  })
  const parts = new Map(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
  const shownMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return shownMs - Math.floor(instantMs / 1000) * 1000
}
