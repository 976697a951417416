/** Details of an event: few words and numbers. Never a token, a body or a person's name. */
export type LogDetails = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Where events go. An event's name is stable, `<concept>.<what happened>`. */
export interface Log {
  info(event: string, details?: LogDetails): void
  warn(event: string, details?: LogDetails): void
  /** With the error itself: its message, stack and causes are kept. */
  error(event: string, error: unknown, details?: LogDetails): void
}
