import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { commandsTo, type SendCommand } from './commands.ts'
import type { ClockMessage } from './process-conditions.ts'

export type StartedProcess = {
  readonly child: ChildProcess
  readonly command: SendCommand
  /** Sets how far the clock of the process is ahead. */
  setClock(aheadMs: number): void
  /** Sends a signal and waits for the exit. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export type ProcessOptions = {
  readonly name: string
  readonly entry: 'server-process.ts' | 'host-process.ts'
  readonly arguments?: readonly string[]
  /** Folder of the log file. */
  readonly folder: string
  readonly clockAheadMs: number
  readonly environment?: Readonly<Record<string, string>>
}

const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a program of this folder. Its output is appended to `<name>.log`. It ends when this process ends. */
export function startProcess(options: ProcessOptions): StartedProcess {
  const { name, entry, folder, clockAheadMs, environment = {} } = options
  const log = openSync(join(folder, `${name}.log`), 'a')
  const child = fork(join(import.meta.dirname, entry), [...(options.arguments ?? [])], {
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: [
      '--expose-gc',
      '--max-semi-space-size=8',
      '--import',
      join(import.meta.dirname, 'process-conditions.ts'),
    ],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, '../compile-cache'),
      // With an arena for each thread, memory that was freed counts as used: each keeps that of its largest computation.
      MALLOC_ARENA_MAX: '1',
      ...environment,
      SOAK_CLOCK_AHEAD_MS: String(clockAheadMs),
    },
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return {
    child,
    command: commandsTo(child, name),
    setClock(aheadMs) {
      if (child.connected) child.send({ clockAheadMs: aheadMs } satisfies ClockMessage)
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}
