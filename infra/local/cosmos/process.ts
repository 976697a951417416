import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LocalCosmos, LocalCosmosOptions } from './cosmos-server.ts'

/** Options that can be sent to another process. */
export type CosmosProcessOptions = Omit<LocalCosmosOptions, 'nowMs'>

/** Message of the process when it listens, or the reason of a failure. */
export type CosmosProcessMessage = Pick<LocalCosmos, 'endpoint' | 'key'> | { readonly failure: string }

export type CosmosWork = { readonly operationCount: number; readonly requestUnits: number }

export type CosmosProcessCommand = 'close' | 'report-work' | CosmosProcessOptions

/** An account that runs in another process. */
export type CosmosProcess = Pick<LocalCosmos, 'endpoint' | 'key' | 'close'> & {
  readonly processId: number
  workDone(): Promise<CosmosWork>
}

const ENTRY = fileURLToPath(import.meta.resolve('./process-entry.ts'))

/**
 * Starts the database in a separate process, so that the database and the functions do not block each other and do not
 * share memory. It ends when this process ends. If it ends unexpectedly, this process fails.
 * @throws Error like `startCosmos`
 */
export async function startCosmosProcess(options: CosmosProcessOptions): Promise<CosmosProcess> {
  // With this variable, which `node --watch` sets, the process would also send messages about its modules.
  const { WATCH_REPORT_DEPENDENCIES: _, ...env } = process.env
  const child = fork(ENTRY, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env })
  const early = (code: number | null) =>
    child.emit('error', new Error(`The database process ended with ${code} at its start`))
  child.once('exit', early)
  child.send(options)
  const [message] = (await once(child, 'message')) as [CosmosProcessMessage]
  child.off('exit', early)
  if ('failure' in message) throw new Error(message.failure)
  const unexpected = (code: number | null, signal: string | null) => {
    throw new Error(`The database process ended with ${code ?? signal}`)
  }
  child.once('exit', unexpected)
  return {
    ...message,
    processId: child.pid ?? 0,
    async workDone() {
      const reported = once(child, 'message')
      child.send('report-work' satisfies CosmosProcessCommand)
      const [work] = (await reported) as [CosmosWork]
      return work
    },
    close: () => close(child, unexpected),
  }
}

async function close(child: ChildProcess, unexpected: (code: number | null, signal: string | null) => void) {
  if (!child.connected) return
  child.off('exit', unexpected)
  const ended = once(child, 'exit')
  child.send('close')
  await ended
}
