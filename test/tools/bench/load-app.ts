// Runs in a process of its own: imports the entry files of a folder as the host does, calls one function and prints
// the times.
import { globSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
// Imported here so that its load time is not measured.
import { recordEntry, registrationsOf } from '../../../infra/local/host/core-module.ts'

export type LoadTimes = {
  readonly functionCount: number
  /** From the first import until everything is registered. */
  readonly loadMs: number
  /** From then until the function `collections` has responded, with everything that it loads. */
  readonly answerMs: number
  readonly status: number
}

const coreModule = new URL('../../../infra/local/host/core-module.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@azure/functions-core' ? { url: coreModule, shortCircuit: true } : next(specifier, context),
})

const folder = process.argv[2] ?? ''
const entries = globSync('dist/functions/*.js', { cwd: folder })
  .sort()
  .map((entry) => join(folder, entry))
const request = {
  method: 'GET',
  url: 'http://localhost/collections/beta',
  headers: new Headers(),
  params: {},
  arrayBuffer: async () => new ArrayBuffer(0),
}

const startMs = performance.now()
for (const entry of entries) await recordEntry(entry, () => import(pathToFileURL(entry).href))
const { functions } = registrationsOf(entries)
const loadedMs = performance.now()
const { callback } = functions.find(({ metadata }) => metadata.name === 'collections') ?? {}
const answer = (await callback?.(request, {})) as { status: number } | undefined
const times: LoadTimes = {
  functionCount: functions.length,
  loadMs: loadedMs - startMs,
  answerMs: performance.now() - loadedMs,
  status: answer?.status ?? 0,
}
// Exits without the export of telemetry: nothing listens at the address of the settings.
process.stdout.write(JSON.stringify(times), () => process.exit(0))
