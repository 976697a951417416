/**
 * The module that `@azure/functions` imports as `@azure/functions-core`: the loader resolves the name to this file. It
 * stores what the library registers.
 */
import type { FunctionCallback, FunctionMetadata, ProgrammingModel } from './programming-model.ts'

export type Registration = {
  readonly metadata: FunctionMetadata
  readonly callback: FunctionCallback
  readonly entry: string
}

/** Runs when the host ends. */
export type TerminateHook = (context: Record<string, unknown>) => unknown

type Registrations = { functions: Registration[]; terminateHooks: TerminateHook[] }

/**
 * The registrations of each entry file, for the lifetime of the process. A module is evaluated once, so a later host
 * with the same entries gets the same handlers and module state.
 */
const byEntry = new Map<string, Registrations>()
let loadingEntry: string | undefined
let model: ProgrammingModel | undefined

/** Called by the library for each function. @throws Error after its entry file was evaluated */
export function registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): void {
  const [entry, { functions }] = openEntry(`function "${metadata.name}"`)
  functions.push({ metadata, callback, entry })
}

/** Called by the library for each hook. @throws RangeError for a hook that the app does not use */
export function registerHook(name: string, callback: TerminateHook): void {
  if (name !== 'appTerminate') throw new RangeError(`This host does not support the hook "${name}"`)
  openEntry(`hook "${name}"`)[1].terminateHooks.push(callback)
}

/** Called by the library before its first registration. */
export function setProgrammingModel(ofLibrary: ProgrammingModel): void {
  model = ofLibrary
}

/** Called by the library outside of invocations, for debugging and for a body of a GET, which it drops. */
export function log(): void {}

/** The model of the library. Undefined before the first registration. */
export const programmingModel = (): ProgrammingModel | undefined => model

/** Runs `load` and records its registrations for `entry`. Loads must not overlap. */
export async function recordEntry(entry: string, load: () => Promise<unknown>): Promise<void> {
  loadingEntry = entry
  try {
    await load()
  } finally {
    loadingEntry = undefined
  }
}

/** All registrations of the entries, in the order of the entries. */
export function registrationsOf(entries: readonly string[]): Registrations {
  const found = entries.flatMap((entry) => byEntry.get(entry) ?? [])
  return {
    functions: found.flatMap(({ functions }) => functions),
    terminateHooks: found.flatMap(({ terminateHooks }) => terminateHooks),
  }
}

function openEntry(what: string): [entry: string, registrations: Registrations] {
  if (loadingEntry === undefined) throw new Error(`The ${what} was registered after the app had loaded`)
  const registrations = byEntry.get(loadingEntry) ?? { functions: [], terminateHooks: [] }
  byEntry.set(loadingEntry, registrations)
  return [loadingEntry, registrations]
}
