// `npm run bench -- cold`: compares the load time of the packaged app with that of an app of as many empty functions, with
// telemetry off and on.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { packageApp } from '../../../infra/build/package.ts'
import type { LoadTimes } from './load-app.ts'

const ROUNDS = 31

/** Maximum ratio of the service's load time to that of the empty app. */
const BAR = 1.3

/** The settings that the app needs in order to load. It connects to no server before it has responded. */
const SETTINGS: Readonly<Record<string, string>> = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  MANAGED_IDENTITY_CLIENT_ID: '33333333-3333-4333-8333-333333333333',
  GRAPH_IDENTITY_CLIENT_ID: '44444444-4444-4444-8444-444444444444',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  ServiceBus__fullyQualifiedNamespace: 'namespace.servicebus.windows.net',
  LOG_LEVEL: 'error',
}

/** As deployed: telemetry is exported with the managed identity. */
const EXPORTING = {
  ...SETTINGS,
  APPLICATIONINSIGHTS_CONNECTION_STRING:
    'InstrumentationKey=00000000-0000-4000-8000-000000000001;IngestionEndpoint=https://127.0.0.1:9/',
  APPLICATION_INSIGHTS_NO_STATSBEAT: '1',
}

const folder = mkdtempSync(join(tmpdir(), 'collections-cold-'))
const app = join(folder, 'app')
const empty = join(folder, 'empty')

async function unpackApp(): Promise<void> {
  const zipFile = join(folder, 'app.zip')
  await packageApp(join(import.meta.dirname, '../../..'), zipFile)
  for (const [path, content] of Object.entries(unzipSync(readFileSync(zipFile)))) {
    mkdirSync(dirname(join(app, path)), { recursive: true })
    writeFileSync(join(app, path), content)
  }
}

/** One entry file, the minimum for an app. Both apps use the same Functions library. */
function writeEmptyApp(functionCount: number): void {
  mkdirSync(join(empty, 'dist/functions'), { recursive: true })
  symlinkSync(join(app, 'node_modules'), join(empty, 'node_modules'))
  writeFileSync(join(empty, 'package.json'), JSON.stringify({ type: 'module' }))
  const names = ['collections', ...Array.from({ length: functionCount - 1 }, (_, index) => `nothing-${index}`)]
  const functions = names.map(
    (name) =>
      `app.http('${name}', { route: '${name}', methods: ['GET'], authLevel: 'anonymous', handler: async () => ({ status: 204 }) })`,
  )
  const source = `import { app } from '@azure/functions'\n${functions.join('\n')}\n`
  writeFileSync(join(empty, 'dist/functions/all.js'), source)
}

function measured(appFolder: string, env: typeof SETTINGS): LoadTimes {
  const script = join(import.meta.dirname, 'load-app.ts')
  const output = execFileSync(process.execPath, [script, appFolder], { env, encoding: 'utf8' })
  return JSON.parse(output) as LoadTimes
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Whether the app loads within the bar with these settings. */
function compare(name: string, env: typeof SETTINGS): boolean {
  for (const each of [app, empty]) measured(each, env)
  const rounds = Array.from({ length: ROUNDS }, () => ({ ours: measured(app, env), theirs: measured(empty, env) }))
  const of = (read: (times: LoadTimes) => number, whose: 'ours' | 'theirs') =>
    median(rounds.map((round) => read(round[whose])))
  const load = { ours: of(({ loadMs }) => loadMs, 'ours'), theirs: of(({ loadMs }) => loadMs, 'theirs') }
  const ratio = load.ours / load.theirs
  say(name)
  say(`  load          ${load.ours.toFixed(1)} ms, empty app ${load.theirs.toFixed(1)} ms: ${ratio.toFixed(2)} times`)
  say(`  first answer  ${of(({ answerMs }) => answerMs, 'ours').toFixed(1)} ms after that`)
  say(ratio <= BAR ? `  within ${BAR} times` : `  MISSED: at most ${BAR} times`)
  return ratio <= BAR
}

async function compareAll(): Promise<boolean> {
  await unpackApp()
  const { functionCount } = measured(app, SETTINGS)
  writeEmptyApp(functionCount)
  say(`${functionCount} functions, median of ${ROUNDS} fresh processes each, taking turns`)
  const results = [compare('telemetry off', SETTINGS), compare('telemetry on', EXPORTING)]
  return results.every((isWithin) => isWithin)
}

try {
  process.exitCode = (await compareAll()) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
