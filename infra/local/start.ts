import { showMainUseCase } from './demo/show.ts'
import { type Environment, startEnvironment } from './environment.ts'
import { readLocalOptions } from './options.ts'

/*
 * `npm start` starts the service. `npm run demo` (`--demo`) does the same, then runs the main use case and leaves the
 * service running; with `--exit`, it stops afterwards. With DIRECTORY_URL, the demo uses a service that runs already.
 */

/** Maximum duration of a stop: less than the 5 s after which supervisors kill a process. */
const STOP_TIMEOUT_MS = 4_800

const say = (line: string) => void process.stdout.write(`${line}\n`)

const isDemo = process.argv.includes('--demo')

async function start(): Promise<void> {
  const { DIRECTORY_URL: runningDirectory } = process.env
  if (isDemo && runningDirectory) {
    say(`console    ${await showMainUseCase(runningDirectory, say)}`)
    return
  }
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
  if (isDemo) return showDemo(environment, stop)
  say(`console    ${environment.apiUrl}/console`)
  say('To run the demo, use another terminal:')
  say(`  DIRECTORY_URL=${environment.directoryUrl} NODE_EXTRA_CA_CERTS=${environment.caFile} npm run demo`)
}

async function showDemo({ directoryUrl, close }: Environment, stop: () => Promise<void>): Promise<void> {
  const address = await showMainUseCase(directoryUrl, say).catch(async (error: unknown) => {
    await close()
    throw error
  })
  say(`console    ${address}`)
  say('Sign in as admin to see the link, its syncs and its collection. Ctrl-C stops the service.')
  if (process.argv.includes('--exit')) await stop()
}

start().catch((error: unknown) => {
  const { message, cause } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(
    `${isDemo ? 'The demo stopped' : 'Cannot start'}: ${message}${cause instanceof Error ? `: ${cause.message}` : ''}\n`,
  )
  process.exit(1)
})
