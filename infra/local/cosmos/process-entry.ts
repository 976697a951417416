import type { CosmosProcessOptions, CosmosProcessWord } from './process.ts'
import { type LocalCosmos, startCosmos } from './server.ts'

let cosmos: LocalCosmos | undefined

const say = (word: CosmosProcessWord): void => void process.send?.(word)

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

process.on('message', (message: 'close' | CosmosProcessOptions) => {
  void (message === 'close' ? stop() : start(message))
})
// Whoever started it is gone, without a word: what is written is written.
process.once('disconnect', () => process.exit(0))
// A terminal tells all its processes to stop; the one that started this one decides when.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
