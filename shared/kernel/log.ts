/** Details of an event: a few words and numbers. Never a token, a body or a person's name. */
export type LogDetails = Readonly<Record<string, string | number | boolean | null | undefined>>

/** From the least to the most important. */
export const EVENT_LEVELS = ['info', 'warn', 'error'] as const
export type EventLevel = (typeof EVENT_LEVELS)[number]

/** Writes events. An event's name is stable: `<concept>.<what happened>`. */
export interface Log {
  info(event: string, details?: LogDetails): void
  warn(event: string, details?: LogDetails): void
  /** Keeps the error's message, stack and causes. */
  error(event: string, error: unknown, details?: LogDetails): void
}
