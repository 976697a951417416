import type { LogLevel } from './programming-model.ts'

/** One line of the host's log. `user` is what handlers log, `system` the library, `host` the host itself. */
export type HostLogEntry = {
  readonly level: LogLevel
  readonly category: 'user' | 'system' | 'host'
  readonly message: string
  readonly functionName?: string
  readonly invocationId?: string
  readonly error?: unknown
}

export type HostLog = (entry: HostLogEntry) => void
