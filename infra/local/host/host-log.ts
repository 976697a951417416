import type { LogLevel } from './programming-model.ts'

/** A log entry. Category `user`: the handlers, `system`: the library, `host`: the host. */
export type HostLogEntry = {
  readonly level: LogLevel
  readonly category: 'user' | 'system' | 'host'
  readonly message: string
  readonly functionName?: string
  readonly invocationId?: string
  readonly error?: unknown
}

export type HostLog = (entry: HostLogEntry) => void
