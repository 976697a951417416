import { EVENT_LEVELS, type EventLevel, type Log, type LogDetails } from '../kernel/log.ts'

const MAX_CAUSES = 5

/**
 * Writes each event as one line of JSON to standard output, from where the host collects it.
 * @param least Less important events are not written.
 * @param invocationDetails The details of the invocation that an event belongs to.
 */
export function jsonLog(
  least: EventLevel,
  writeLine: (line: string) => void,
  nowMs: () => number,
  invocationDetails: () => LogDetails,
): Log {
  const write = (level: EventLevel, event: string, details: LogDetails = {}) => {
    if (EVENT_LEVELS.indexOf(level) < EVENT_LEVELS.indexOf(least)) return
    writeLine(JSON.stringify({ at: new Date(nowMs()).toISOString(), level, event, ...invocationDetails(), ...details }))
  }
  return {
    info: (event, details) => write('info', event, details),
    warn: (event, details) => write('warn', event, details),
    error: (event, error, details) => write('error', event, { ...details, error: errorText(error) }),
  }
}

/** The stack of the error and of each of its causes. */
function errorText(error: unknown): string {
  const parts: string[] = []
  for (let current = error; current !== undefined && parts.length < MAX_CAUSES; ) {
    parts.push(current instanceof Error ? (current.stack ?? current.message) : String(current))
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join('\ncaused by: ')
}
