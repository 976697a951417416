import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { type Host, isKept } from './hosts.ts'
import { pickOf, pickWeighted } from './picks.ts'
import { type RunningServers, SERVER_NAMES } from './servers.ts'

export type FaultPlan = {
  /** Mean time between two faults. */
  readonly intervalMs: number
  /** Longest time for which an instance stops, or a connection is delayed or stalled. */
  readonly longestMs: number
  /** Time for which an instance sometimes stops, longer than its leases. 0: never. */
  readonly longStopMs: number
}

type InjectedFault = { readonly name: string; readonly weight: number; readonly run: () => Promise<void> }

const QUEUES_WITH_LOSS = ['evaluations', 'membership-changes', 'sync-jobs', 'sweeps', 'events', 'event-deliveries']

/** Injects random faults, one after another and some at once, until it is paused. */
export class FaultInjection {
  readonly counts = new Map<string, number>()
  readonly #servers: RunningServers
  readonly #hosts: readonly Host[]
  readonly #random: Random
  readonly #plan: FaultPlan
  readonly #longStop: InjectedFault
  readonly #faults: readonly InjectedFault[]
  readonly #running = new Set<Promise<void>>()
  readonly #busyHosts = new Set<Host>()
  readonly #isRestarting = new Set<'queue' | 'database'>()
  readonly #failures: unknown[] = []
  #longStopCount = 0
  #isPaused = true
  #loop: Promise<void> = Promise.resolve()

  constructor(servers: RunningServers, hosts: readonly Host[], random: Random, plan: FaultPlan) {
    this.#servers = servers
    this.#hosts = hosts
    this.#random = random
    this.#plan = plan
    this.#longStop = {
      name: 'stopped for long',
      weight: plan.longStopMs > 0 ? 1 : 0,
      run: () => this.#stopForLong(),
    }
    this.#faults = [
      { name: 'killed', weight: 30, run: () => this.#kill('SIGKILL') },
      { name: 'terminated', weight: 12, run: () => this.#kill('SIGTERM') },
      { name: 'stopped', weight: 10, run: () => this.#onHost((host) => host.pause(this.#durationMs())) },
      { name: 'cut', weight: 10, run: () => this.#onConnections('cut') },
      { name: 'answer lost', weight: 12, run: () => this.#onConnections('loseNextAnswer') },
      { name: 'refused', weight: 6, run: () => this.#onConnections('refuse') },
      { name: 'stalled', weight: 4, run: () => this.#onConnections('stall') },
      { name: 'delayed', weight: 8, run: () => this.#delay() },
      { name: 'message lost', weight: 4, run: () => this.#onMessage('loseNextMessage') },
      { name: 'message doubled', weight: 4, run: () => this.#onMessage('deliverNextMessageTwice') },
      { name: 'queue restarted', weight: 3, run: () => this.#restart('queue') },
      { name: 'database restarted', weight: 3, run: () => this.#restart('database') },
      { name: 'directory throttled', weight: 5, run: () => this.#faultDirectory() },
    ]
  }

  get killCount(): number {
    return (this.counts.get('killed') ?? 0) + (this.counts.get('terminated') ?? 0)
  }

  resume(): void {
    this.#isPaused = false
    this.#loop = this.#run()
  }

  /**
   * Waits for the faults that last, with others while an instance is stopped for long, then repairs everything.
   * @throws Error of a fault that could not be injected
   */
  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#loop
    await Promise.all(this.#running)
    for (const { proxies } of this.#hosts) for (const server of SERVER_NAMES) proxies[server].heal()
    await this.#servers.command('queue')('clearFaults')
    if (this.#failures.length > 0) throw new Error('A fault could not be injected', { cause: this.#failures[0] })
  }

  async #run(): Promise<void> {
    while (!this.#isPaused || this.#longStopCount > 0) {
      const fault = this.#pick()
      this.counts.set(fault.name, (this.counts.get(fault.name) ?? 0) + 1)
      const running = fault
        .run()
        .catch((error: unknown) => void this.#failures.push(error))
        .finally(() => this.#running.delete(running))
      this.#running.add(running)
      await sleep(this.#plan.intervalMs * (0.5 + this.#random.next()))
    }
  }

  #pick(): InjectedFault {
    // While the injection ends, no other long stop begins.
    return pickWeighted(this.#random, this.#isPaused ? this.#faults : [this.#longStop, ...this.#faults])
  }

  #durationMs(): number {
    return Math.round(this.#plan.longestMs * (0.2 + 0.8 * this.#random.next()))
  }

  async #onHost(work: (host: Host) => Promise<void>, candidates = this.#hosts): Promise<void> {
    const free = candidates.filter((host) => host.isRunning && !this.#busyHosts.has(host))
    if (free.length === 0) return
    const host = pickOf(this.#random, free)
    this.#busyHosts.add(host)
    try {
      await work(host)
    } finally {
      this.#busyHosts.delete(host)
    }
  }

  /** Some instances live as long as the run, so that their memory can be watched. */
  #kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const candidates = this.#hosts.filter(({ index }) => !isKept(index, this.#hosts.length))
    return this.#onHost(async (host) => {
      await host.kill(signal)
      await host.start()
    }, candidates)
  }

  /** For longer than the leases of the instance last. New requests go to others. */
  #stopForLong(): Promise<void> {
    return this.#onHost(async (host) => {
      host.isRunning = false
      this.#longStopCount += 1
      await host.pause(this.#plan.longStopMs)
      this.#longStopCount -= 1
      host.isRunning = true
    })
  }

  async #onConnections(kind: 'cut' | 'loseNextAnswer' | 'refuse' | 'stall'): Promise<void> {
    const proxy = pickOf(this.#random, this.#hosts).proxies[pickOf(this.#random, SERVER_NAMES)]
    proxy[kind]()
    if (kind !== 'refuse' && kind !== 'stall') return
    await sleep(this.#durationMs())
    proxy.heal()
  }

  async #delay(): Promise<void> {
    const proxy = pickOf(this.#random, this.#hosts).proxies[pickOf(this.#random, SERVER_NAMES)]
    proxy.delayBy(10 + this.#random.below(200))
    await sleep(this.#durationMs())
    proxy.delayBy(0)
  }

  async #onMessage(fault: 'loseNextMessage' | 'deliverNextMessageTwice'): Promise<void> {
    if (this.#isRestarting.has('queue')) return
    await this.#servers.command('queue')(fault, pickOf(this.#random, QUEUES_WITH_LOSS))
  }

  async #restart(server: 'queue' | 'database'): Promise<void> {
    if (this.#isRestarting.has(server)) return
    this.#isRestarting.add(server)
    try {
      await this.#servers.restart(server, this.#random.percent(50) ? 'SIGKILL' : 'SIGTERM')
    } finally {
      this.#isRestarting.delete(server)
    }
  }

  async #faultDirectory(): Promise<void> {
    const faults = [
      { times: 3, retryAfterS: 1 },
      { times: 3, status: 503 },
      { times: 2, applyFirst: true },
      { times: 2, drop: true, path: 'members' },
      { times: 5, delayMs: 500 },
    ]
    await this.#servers.command('directory')('setFaults', [pickOf(this.#random, faults)])
    await sleep(this.#durationMs())
    await this.#servers.command('directory')('setFaults', [])
  }
}
