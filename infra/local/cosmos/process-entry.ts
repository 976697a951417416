import { type LocalCosmos, startCosmos } from './cosmos-server.ts'
import type { CosmosProcessCommand, CosmosProcessMessage, CosmosProcessOptions, CosmosWork } from './process.ts'

let cosmos: LocalCosmos | undefined

const send = (message: CosmosProcessMessage | CosmosWork): void => void process.send?.(message)

async function start(options: CosmosProcessOptions): Promise<void> {
  try {
    cosmos = await startCosmos(options)
    send({ endpoint: cosmos.endpoint, key: cosmos.key })
  } catch (error) {
    send({ failure: (error as Error).message })
    process.disconnect()
  }
}

async function stop(): Promise<void> {
  await cosmos?.close()
  process.exit(0)
}

function reportWork(): void {
  const counts = Object.values(cosmos?.operations() ?? {})
  const operationCount = counts.reduce((sum, count) => sum + count, 0)
  send({ operationCount, requestUnits: cosmos?.chargedUnits() ?? 0 })
}

process.on('message', (command: CosmosProcessCommand) => {
  if (command === 'report-work') reportWork()
  else void (command === 'close' ? stop() : start(command))
})
// The parent process has ended. All writes are stored.
process.once('disconnect', () => process.exit(0))
// A terminal signals all its processes. The parent process decides when this one stops.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
