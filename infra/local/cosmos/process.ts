import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LocalCosmos, LocalCosmosOptions } from './server.ts'

/** What can be handed from one process to another. */
export type CosmosProcessOptions = Omit<LocalCosmosOptions, 'nowMs'>

/** What the process says once it listens, or why it cannot. */
export type CosmosProcessWord = Pick<LocalCosmos, 'endpoint' | 'key'> | { readonly failure: string }

/** What has been asked of the account since its start. */
export type CosmosWork = { readonly operationCount: number; readonly requestUnits: number }

/** What can be said to the process. */
export type CosmosProcessOrder = 'close' | 'tell-work' | CosmosProcessOptions

/** A running account in another process. */
export type CosmosProcess = Pick<LocalCosmos, 'endpoint' | 'key' | 'close'> & {
  readonly processId: number
  workDone(): Promise<CosmosWork>
}

const ENTRY = fileURLToPath(import.meta.resolve('./process-entry.ts'))

/**
 * Starts the database in a process of its own, as the cloud's runs on machines of its own: it and the functions neither
 * wait for each other's work nor share their memory. It ends with this process, however that ends; should it end by
 * itself, that is a fault of this one.
 * @throws Error as `startCosmos` does.
 */
export async function startCosmosProcess(options: CosmosProcessOptions): Promise<CosmosProcess> {
  const child = fork(ENTRY, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const early = (code: number | null) => child.emit('error', new Error(`The database ended with ${code} at its start`))
  child.once('exit', early)
  child.send(options)
  const [word] = (await once(child, 'message')) as [CosmosProcessWord]
  child.off('exit', early)
  if ('failure' in word) throw new Error(word.failure)
  const unforeseen = (code: number | null, signal: string | null) => {
    throw new Error(`The database ended with ${code ?? signal}`)
  }
  child.once('exit', unforeseen)
  return {
    ...word,
    processId: child.pid ?? 0,
    async workDone() {
      const told = once(child, 'message')
      child.send('tell-work' satisfies CosmosProcessOrder)
      const [work] = (await told) as [CosmosWork]
      return work
    },
    close: () => close(child, unforeseen),
  }
}

async function close(child: ChildProcess, unforeseen: (code: number | null, signal: string | null) => void) {
  if (!child.connected) return
  child.off('exit', unforeseen)
  const ended = once(child, 'exit')
  child.send('close')
  await ended
}
