import { Type } from 'typebox'

/** ISO 8601 with offset, as the functions below make it. */
export const Timestamp = Type.String({ format: 'date-time' })

/** `2026-02-11T09:14:22.117+00:00`: decisions, section 1. */
export function toTimestamp(instantMs: number): string {
  return new Date(instantMs).toISOString().replace('Z', '+00:00')
}

/** `2026-02-11T09:14:22+00:00`: the form of `lastUpdated`, whose resolution is one second. */
export function toSecondsTimestamp(instantS: number): string {
  return `${new Date(instantS * 1000).toISOString().slice(0, 19)}+00:00`
}
