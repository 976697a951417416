/** Runs one host with the functions, as an instance of the service. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapSpaceStatistics, type HeapSpaceInfo, writeHeapSnapshot } from 'node:v8'
import { type LocalHost, startHost } from '../../../infra/local/host/host.ts'
import { serveCommands } from './commands.ts'

/** Of this version, or of the previous release. */
const APP_FOLDER = process.env.SOAK_APP_FOLDER ?? join(import.meta.dirname, '../../..')

/**
 * What an instance uses, after a garbage collection that compacts, and without compiled code: functions are compiled and
 * optimized for hours, each when it has run often enough. The heap includes what V8 learns of them meanwhile.
 */
export type InstanceUse = {
  readonly heapBytes: number
  readonly rssBytes: number
  /** Open sockets, servers, timers and other resources of the event loop. */
  readonly handleCount: number
  /** Since the previous measurement. */
  readonly eventLoopDelayP99Ms: number
}

const delay = monitorEventLoopDelay()
delay.enable()
let host: LocalHost | undefined

const sumOf = (spaces: readonly HeapSpaceInfo[] = [], bytesOf: (space: HeapSpaceInfo) => number): number =>
  spaces.reduce((sum, space) => sum + bytesOf(space), 0)

function use(): InstanceUse {
  // The platform keeps the times of 250 requests.
  performance.clearResourceTimings()
  // An ordinary collection leaves V8 pages with little in them: resident memory grows until it compacts them.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  const spaces = Object.groupBy(getHeapSpaceStatistics(), ({ space_name: name }) =>
    /code|trusted/.test(name) ? 'code' : 'data',
  )
  const heapBytes = sumOf(spaces.data, ({ space_used_size: bytes }) => bytes)
  const rssBytes = process.memoryUsage.rss() - sumOf(spaces.code, ({ physical_space_size: bytes }) => bytes)
  const eventLoopDelayP99Ms = delay.percentile(99) / 1e6
  delay.reset()
  return { heapBytes, rssBytes, handleCount: process.getActiveResourcesInfo().length, eventLoopDelayP99Ms }
}

serveCommands({
  async start({ port }: { readonly port: number }) {
    host = await startHost({
      appFolder: APP_FOLDER,
      entries: ['functions/*.ts'],
      port,
      settings: process.env as Record<string, string>,
      log({ level, category, message, functionName, error }) {
        if (category !== 'host' || level === 'information' || level === 'debug' || level === 'trace') return
        const cause = error instanceof Error ? `: ${error.stack}` : ''
        process.stderr.write(`${new Date().toISOString()} ${level} ${functionName ?? 'host'}: ${message}${cause}\n`)
      },
    })
    return host.url
  },
  isIdle: () => host?.isIdle() ?? true,
  use,
  writeHeapSnapshot: (file: string) => writeHeapSnapshot(file),
})

process.once('SIGTERM', async () => {
  await host?.close()
  process.exit(0)
})
process.on('SIGINT', () => undefined)
