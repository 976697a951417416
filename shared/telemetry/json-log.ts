import type { Log, LogDetails } from '../kernel/log.ts'
import type { LogLevel } from '../settings/settings.ts'

const IMPORTANCE: Record<LogLevel, number> = { info: 0, warn: 1, error: 2 }

/**
 * Writes each event that is important enough as one line of JSON to where the host collects lines.
 * @param occasion what there is to say of the request or message that the event belongs to.
 */
export function jsonLog(
  least: LogLevel,
  writeLine: (line: string) => void,
  nowMs: () => number,
  occasion: () => LogDetails = () => ({}),
): Log {
  const write = (level: LogLevel, event: string, details: LogDetails = {}) => {
    if (IMPORTANCE[level] < IMPORTANCE[least]) return
    writeLine(JSON.stringify({ at: new Date(nowMs()).toISOString(), level, event, ...occasion(), ...details }))
  }
  return {
    info: (event, details) => write('info', event, details),
    warn: (event, details) => write('warn', event, details),
    error: (event, error, details) => write('error', event, { ...details, error: described(error) }),
  }
}

/** The error with its stack and the chain of its causes, in one text. */
function described(error: unknown): string {
  const parts: string[] = []
  for (let current = error; current !== undefined && parts.length < 5; ) {
    parts.push(current instanceof Error ? (current.stack ?? current.message) : String(current))
    current = current instanceof Error ? current.cause : undefined
  }
  return parts.join('\ncaused by: ')
}
