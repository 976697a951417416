import type { ContainerSizes } from '../../../infra/local/cosmos/storage.ts'
import type { InstanceUse } from './host-process.ts'
import { type Host, isKept } from './hosts.ts'
import { isGrowing, type Sample, trendOf } from './resource-trend.ts'
import type { RunningServers } from './servers.ts'

/**
 * The container whose size depends on the objects of the sources. The others grow with what happens: a core object keeps up
 * to 100 changes of its identity.
 */
const OBJECT_CONTAINER = 'connectorObjects'
/** The database as a whole grows with the requests, whose history it keeps: this is what an object takes. */
const BYTES_PER_OBJECT = 'database bytes of an object'
const BYTES_PER_MB = 1024 * 1024
/** Without those in caches. */
const OBJECTS = 'objects MB'
/**
 * What may not grow. The heap grows by what V8 learns of functions and by what caches hold until they are full besides
 * other objects, and the delay by the load. The memory of an instance in which heap snapshots are taken is that of the
 * largest snapshot.
 */
const WATCHED = [`host 0 memory MB`, `host 0 handles`, `host 1 ${OBJECTS}`, BYTES_PER_OBJECT]

/** Samples what the instances and the database use at the quiet points. */
export class ResourceWatch {
  readonly #servers: RunningServers
  readonly #hosts: readonly Host[]
  readonly #samples = new Map<string, Sample[]>()

  constructor(servers: RunningServers, hosts: readonly Host[]) {
    this.#servers = servers
    this.#hosts = hosts
  }

  /** @param objectCount objects that the sources have delivered */
  async sample(atMs: number, objectCount: number): Promise<void> {
    for (const host of this.#hosts) {
      const use: InstanceUse = await host.use()
      const note = (what: string, value: number) => this.#note(`host ${host.index} ${what}`, { atMs, value })
      note('heap MB', use.heapBytes / BYTES_PER_MB)
      note('memory MB', use.rssBytes / BYTES_PER_MB)
      note('handles', use.handleCount)
      note('event loop delay p99 ms', use.eventLoopDelayP99Ms)
      const hasSnapshots = host.index > 0 && isKept(host.index, this.#hosts.length)
      if (hasSnapshots) note(OBJECTS, (await host.objectBytes()) / BYTES_PER_MB)
    }
    const sizes = await this.#servers.command('database')<ContainerSizes>('sizes')
    let [objectBytes, otherBytes] = [0, 0]
    for (const [id, { bodyBytes }] of Object.entries(sizes)) {
      if (id === OBJECT_CONTAINER) objectBytes += bodyBytes
      else otherBytes += bodyBytes
    }
    this.#note(BYTES_PER_OBJECT, { atMs, value: objectBytes / objectCount })
    this.#note('database MB besides objects', { atMs, value: otherBytes / BYTES_PER_MB })
  }

  /** The instances are others: what those before used is no longer compared. */
  forgetInstances(): void {
    for (const name of this.#samples.keys()) if (name.startsWith('host')) this.#samples.delete(name)
  }

  summary(): string {
    const heaps = this.#hosts.map(({ index }) => this.#samples.get(`host ${index} heap MB`)?.at(-1)?.value.toFixed(0))
    return `heap ${heaps.map((heap) => heap ?? '?').join('/')} MB`
  }

  /** The quantities that grow without a reason. */
  growth(): string[] {
    return [...this.#samples].flatMap(([name, samples]) => {
      const trend = trendOf(samples)
      if (!WATCHED.includes(name) || trend === undefined || !isGrowing(trend)) return []
      return [`${name} grows by ${(100 * trend.sharePerHour).toFixed(1)} % an hour`]
    })
  }

  report(): string[] {
    return [...this.#samples].map(([name, samples]) => {
      const trend = trendOf(samples)
      const values = samples.map(({ value }) => value.toFixed(value < 10 ? 2 : 0)).join(' ')
      const fit =
        trend === undefined
          ? ''
          : `, ${(100 * trend.sharePerHour).toFixed(1)} ± ${(100 * trend.marginPerHour).toFixed(1)} % an hour`
      return `${name}: ${values}${fit}`
    })
  }

  #note(name: string, sample: Sample): void {
    const samples = this.#samples.get(name) ?? []
    this.#samples.set(name, samples)
    samples.push(sample)
  }
}
