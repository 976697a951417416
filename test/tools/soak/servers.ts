import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { DirectorySeed } from '../../../infra/local/directory/seed.ts'
import { type StartedProcess, startProcess } from './child-processes.ts'
import type { Clocks } from './clocks.ts'
import type { SendCommand } from './commands.ts'
import type { DatabaseStart, DirectoryStart, DirectoryStarted, QueueStart } from './server-process.ts'

export const SERVER_NAMES = ['database', 'queue', 'directory'] as const
export type ServerName = (typeof SERVER_NAMES)[number]

export type RunningServers = {
  readonly portOf: Readonly<Record<ServerName, number>>
  readonly directory: DirectoryStarted
  readonly databaseFile: string
  /** Connection settings of the hosts. */
  readonly settings: Readonly<Record<string, string>>
  command: (server: ServerName) => SendCommand
  /**
   * Ends a server and starts it again on its port and file.
   * @param between Runs while it is ended.
   */
  restart(server: ServerName, signal: 'SIGTERM' | 'SIGKILL', between?: () => void): Promise<void>
  close(): Promise<void>
}

/** Starts database, queue and directory, each in a process of its own. */
export async function startServers(folder: string, seed: DirectorySeed, clocks: Clocks): Promise<RunningServers> {
  const running = new Map<ServerName, StartedProcess>()
  const start = async <Started>(server: ServerName, options: unknown): Promise<Started> => {
    const process = startProcess({
      name: server,
      entry: 'server-process.ts',
      arguments: [server],
      folder,
      clockAheadMs: clocks.aheadMs,
    })
    running.set(server, process)
    return process.command<Started>('start', options)
  }
  const database: DatabaseStart = {
    port: 0,
    file: join(folder, 'cosmos.sqlite'),
    key: randomBytes(64).toString('base64'),
  }
  const queue: QueueStart = { port: 0, file: join(folder, 'service-bus.sqlite') }
  const directoryStart: DirectoryStart = { port: 0, httpPort: 0, folder, seed }
  const [endpoint, connectionString, directory] = await Promise.all([
    start<string>('database', database),
    start<string>('queue', queue),
    start<DirectoryStarted>('directory', directoryStart),
  ])
  clocks.follow((aheadMs) => {
    for (const process of running.values()) process.setClock(aheadMs)
  })
  const portOf = {
    database: Number(new URL(endpoint).port),
    queue: Number(/:(\d+)/.exec(connectionString)?.[1]),
    directory: Number(new URL(directory.url).port),
  }
  const startAgain: Record<ServerName, unknown> = {
    database: { ...database, port: portOf.database },
    queue: { ...queue, port: portOf.queue },
    directory: { ...directoryStart, port: portOf.directory },
  }
  return {
    portOf,
    directory,
    databaseFile: database.file,
    settings: {
      AUTHORITY_URL: directory.url,
      GRAPH_URL: directory.url,
      CONSOLE_AUTHORITY_URL: directory.signInUrl,
      COSMOS_ENDPOINT: endpoint,
      COSMOS_KEY: database.key,
      ServiceBus: connectionString,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    },
    command: (server) => {
      const process = running.get(server)
      if (process === undefined) throw new Error(`The ${server} does not run`)
      return process.command
    },
    async restart(server, signal, between) {
      await running.get(server)?.end(signal)
      between?.()
      await start(server, startAgain[server])
    },
    async close() {
      await Promise.all([...running.values()].map((process) => process.end('SIGKILL')))
    },
  }
}
