import { type Environment, startEnvironment } from './environment.ts'
import { readLocalOptions } from './options.ts'

/** Maximum duration of a stop. The decided limit is 5 s. */
const STOP_TIMEOUT_MS = 4_800

const say = (line: string) => void process.stdout.write(`${line}\n`)

async function start(): Promise<void> {
  let environment: Environment | undefined
  let isStopping = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
    await environment?.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  environment = await startEnvironment(readLocalOptions(process.env), say)
  say(`ready ${environment.apiUrl}`)
  say(`console    ${environment.apiUrl}/console`)
  say('To run the demo, use another terminal:')
  say(`  DIRECTORY_URL=${environment.directoryUrl} NODE_EXTRA_CA_CERTS=${environment.caFile} npm run demo`)
}

start().catch((error: unknown) => {
  process.stderr.write(`Cannot start: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
