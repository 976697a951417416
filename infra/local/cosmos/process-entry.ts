import type { CosmosProcessCommand, CosmosProcessMessage, CosmosProcessOptions, CosmosWork } from './process.ts'
import { type LocalCosmos, startCosmos } from './server.ts'

let cosmos: LocalCosmos | undefined

const say = (message: CosmosProcessMessage | CosmosWork): void => void process.send?.(message)

async function start(options: CosmosProcessOptions): Promise<void> {
  try {
    cosmos = await startCosmos(options)
    say({ endpoint: cosmos.endpoint, key: cosmos.key })
  } catch (error) {
    say({ failure: (error as Error).message })
    process.disconnect()
  }
}

async function stop(): Promise<void> {
  await cosmos?.close()
  process.exit(0)
}

function tellWork(): void {
  const counts = Object.values(cosmos?.operations() ?? {})
  const operationCount = counts.reduce((sum, count) => sum + count, 0)
  say({ operationCount, requestUnits: cosmos?.chargedUnits() ?? 0 })
}

process.on('message', (order: CosmosProcessCommand) => {
  if (order === 'report-work') tellWork()
  else void (order === 'close' ? stop() : start(order))
})
// The parent process has ended. All writes are stored.
process.once('disconnect', () => process.exit(0))
// A terminal signals all its processes. The parent process decides when this one stops.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
