import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StartedProcess, startProcess } from './child-processes.ts'
import type { Clocks } from './clocks.ts'
import { objectBytesIn } from './heap-snapshot.ts'
import type { InstanceUse } from './host-process.ts'
import { type FaultyProxy, startProxy } from './proxy.ts'
import { type RunningServers, SERVER_NAMES, type ServerName } from './servers.ts'

/** The folder of the version that an instance runs, by its number of starts; undefined for this version. */
export type AppFolderOf = (index: number, startCount: number) => string | undefined

/** The HTTP server refuses a request that it does not receive within this time. */
const RECEIVED_WITHIN_MS = 60_000

/**
 * Whether an instance is never killed, so that what it uses can be compared over hours: one of two or three, two of more.
 * A single one is killed.
 */
export const isKept = (index: number, count: number): boolean => index < Math.min(2, Math.floor(count / 2))

/** One instance of the service, restarted on the same port after each kill. */
export class Host {
  readonly index: number
  readonly proxies: Readonly<Record<ServerName, FaultyProxy>>
  readonly #folder: string
  readonly #settings: Readonly<Record<string, string>>
  readonly #clocks: Clocks
  readonly #clockApartMs: number
  readonly #appFolderOf: AppFolderOf
  #startCount = 0
  #process: StartedProcess | undefined
  #port = 0
  #startedMs = 0
  /** Real time of the last kill. */
  #killedMs = 0
  #longStopEndedMs = 0
  isRunning = false
  /** Ends that no kill caused. */
  readonly crashes: string[] = []

  constructor(
    index: number,
    proxies: Readonly<Record<ServerName, FaultyProxy>>,
    options: {
      readonly folder: string
      readonly settings: Readonly<Record<string, string>>
      readonly clocks: Clocks
      readonly clockApartMs: number
      readonly appFolderOf: AppFolderOf
    },
  ) {
    this.index = index
    this.proxies = proxies
    this.#folder = options.folder
    this.#settings = options.settings
    this.#clocks = options.clocks
    this.#clockApartMs = options.clockApartMs
    this.#appFolderOf = options.appFolderOf
    this.#clocks.follow((aheadMs) => this.#process?.setClock(aheadMs + this.#clockApartMs))
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    this.#startCount += 1
    const appFolder = this.#appFolderOf(this.index, this.#startCount)
    const started = startProcess({
      name: `host-${this.index}`,
      entry: 'host-process.ts',
      folder: this.#folder,
      clockAheadMs: this.#clocks.aheadMs + this.#clockApartMs,
      environment: { ...this.#settings, ...(appFolder === undefined ? {} : { SOAK_APP_FOLDER: appFolder }) },
    })
    this.#process = started
    const url = await started.command<string>('start', { port: this.#port })
    this.#port = Number(new URL(url).port)
    this.#startedMs = performance.now()
    this.isRunning = true
    started.child.once('exit', (code, signal) => {
      if (this.isRunning) this.crashes.push(`Host ${this.index} ended with ${code ?? signal}`)
      this.isRunning = false
    })
  }

  /** Ends the process. A gentle end lets running requests finish. */
  async kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#killedMs = performance.now()
    this.isRunning = false
    await this.#process?.end(signal)
    this.#killedMs = performance.now()
  }

  /**
   * Whether a request that began then can have lost its answer by a kill, or by a stop after which the server took the
   * time to receive the request for over.
   */
  canHaveLostAnswersSince(startMs: number): boolean {
    if (this.#killedMs >= startMs || this.#startedMs >= startMs || this.#killedMs > this.#startedMs) return true
    return this.#longStopEndedMs >= startMs
  }

  /** Stops the process for a while, as a machine that sleeps. */
  async pause(durationMs: number): Promise<void> {
    const child = this.#process?.child
    child?.kill('SIGSTOP')
    await sleep(durationMs)
    if (durationMs >= RECEIVED_WITHIN_MS) this.#longStopEndedMs = performance.now()
    child?.kill('SIGCONT')
  }

  use(): Promise<InstanceUse> {
    return this.#running().command('use')
  }

  /** The bytes of the objects in its heap, without compiled code. The process stands still meanwhile, for some seconds. */
  async objectBytes(): Promise<number> {
    const file = join(this.#folder, `host-${this.index}.heapsnapshot`)
    await this.#running().command('writeHeapSnapshot', file)
    try {
      return await objectBytesIn(file)
    } finally {
      await rm(file)
    }
  }

  #running(): StartedProcess {
    if (this.#process === undefined) throw new Error(`Host ${this.index} does not run`)
    return this.#process
  }

  /** Whether it runs no function. */
  async isIdle(): Promise<boolean> {
    return !this.isRunning || this.#process === undefined || this.#process.command<boolean>('isIdle')
  }

  async close(): Promise<void> {
    await this.kill('SIGKILL')
    for (const server of SERVER_NAMES) this.proxies[server].close()
  }
}

export type HostsOptions = {
  readonly count: number
  readonly folder: string
  /** Settings besides the connections. */
  readonly settings: Readonly<Record<string, string>>
  readonly clocks: Clocks
  /** Largest difference between two clocks. */
  readonly clocksApartMs: number
  readonly appFolderOf: AppFolderOf
}

/** Starts the hosts, each with proxies of its own to the servers. */
export async function startHosts(servers: RunningServers, options: HostsOptions): Promise<readonly Host[]> {
  const hosts = await Promise.all(Array.from({ length: options.count }, (_, index) => newHost(index, servers, options)))
  await Promise.all(hosts.map((host) => host.start()))
  return hosts
}

async function newHost(index: number, servers: RunningServers, options: HostsOptions): Promise<Host> {
  const started = await Promise.all(
    SERVER_NAMES.map(async (name) => [name, await startProxy(servers.portOf[name])] as const),
  )
  const proxies = Object.fromEntries(started) as Record<ServerName, FaultyProxy>
  const redirected = SERVER_NAMES.map((name) => `${servers.portOf[name]}:${proxies[name].port}`).join(',')
  const share = options.count > 1 ? index / (options.count - 1) : 0
  return new Host(index, proxies, {
    folder: options.folder,
    settings: { ...servers.settings, ...options.settings, SOAK_REDIRECTED_PORTS: redirected },
    clocks: options.clocks,
    clockApartMs: Math.round(share * options.clocksApartMs),
    appFolderOf: options.appFolderOf,
  })
}
