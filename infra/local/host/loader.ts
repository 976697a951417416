import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { programmingModel, type Registration, recordEntry, registrationsOf, type TerminateHook } from './core-module.ts'
import type { ProgrammingModel } from './programming-model.ts'

export type LoadedApp = {
  readonly functions: readonly Registration[]
  readonly terminateHooks: readonly TerminateHook[]
  readonly model: ProgrammingModel
}

let previousLoad: Promise<unknown> = Promise.resolve()
let coreModuleSupplied = false

/**
 * Evaluates the entry files in sorted order and returns their registrations. Repeated calls return the same
 * registrations because a file is evaluated once per process.
 * @param patterns entry files or globs, relative to `appFolder`. Default: `main` of its `package.json`
 * @throws Error if a pattern matches no file, an entry throws, or nothing is registered
 */
export async function loadApp(appFolder: string, patterns: readonly string[] | undefined): Promise<LoadedApp> {
  const entries = await entryFiles(appFolder, patterns ?? [await mainOf(appFolder)])
  const turn = previousLoad.then(() => evaluate(entries))
  previousLoad = turn.catch(() => undefined)
  await turn
  const model = programmingModel()
  const { functions, terminateHooks } = registrationsOf(entries)
  if (model === undefined || functions.length === 0) {
    throw new Error(
      `${entries.join(', ')} registered no functions. Check whether the process imported @azure/functions before the host started, or has two copies of it`,
    )
  }
  return { functions, terminateHooks, model }
}

async function evaluate(entries: readonly string[]): Promise<void> {
  supplyCoreModule()
  for (const entry of entries) {
    await recordEntry(entry, () => import(pathToFileURL(entry).href)).catch((cause: unknown) => {
      throw new Error(`Entry file ${entry} failed to load: ${messageOf(cause)}`, { cause })
    })
  }
}

/** Resolves `@azure/functions-core` to the core module of this host, for `import` and `require`. */
function supplyCoreModule(): void {
  if (coreModuleSupplied) return
  coreModuleSupplied = true
  const url = new URL('./core-module.ts', import.meta.url).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '@azure/functions-core' ? { url, shortCircuit: true } : next(specifier, context),
  })
}

async function entryFiles(appFolder: string, patterns: readonly string[]): Promise<string[]> {
  const files = new Set<string>()
  for (const pattern of patterns) {
    const matches = existsSync(resolve(appFolder, pattern))
      ? [pattern]
      : await Array.fromAsync(glob(pattern, { cwd: appFolder }))
    if (matches.length === 0) throw new Error(`No entry file matches ${pattern} in ${appFolder}`)
    for (const match of matches) files.add(resolve(appFolder, match))
  }
  return [...files].sort()
}

async function mainOf(appFolder: string): Promise<string> {
  const { main }: { main?: unknown } = JSON.parse(await readFile(resolve(appFolder, 'package.json'), 'utf8'))
  if (typeof main !== 'string') throw new Error(`package.json in ${appFolder} has no "main" with the entry files`)
  return main
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
