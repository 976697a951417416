import type {
  FunctionCallback,
  FunctionMetadata,
  HookCallback,
  HookName,
  LogCategory,
  LogLevel,
  ProgrammingModel,
} from './programming-model.ts'

export type Registration = {
  readonly metadata: FunctionMetadata
  readonly callback: FunctionCallback
  readonly entry: string
}
export type Hook = { readonly name: HookName; readonly callback: HookCallback }
export type LibraryLog = (level: LogLevel, category: LogCategory, message: string) => void

type EntryRegistrations = { functions: Registration[]; hooks: Hook[] }

/**
 * The registrations of each entry file, for the lifetime of the process. A module is evaluated once, so a later host
 * with the same entries gets the same handlers and module state.
 */
const byEntry = new Map<string, EntryRegistrations>()
const librarySinks = new Set<LibraryLog>()
let loading: EntryRegistrations | undefined
let loadingEntry = ''
let model: ProgrammingModel | undefined

/** Runs `load` and records its registrations for `entry`. Loads must not overlap. */
export async function recordEntry(entry: string, load: () => Promise<unknown>): Promise<void> {
  const registrations = byEntry.get(entry) ?? { functions: [], hooks: [] }
  byEntry.set(entry, registrations)
  loading = registrations
  loadingEntry = entry
  try {
    await load()
  } finally {
    loading = undefined
  }
}

/** All registrations of the entries, in the order of the entries. */
export function registrationsOf(entries: readonly string[]): { functions: Registration[]; hooks: Hook[] } {
  const found = entries.map((entry) => byEntry.get(entry) ?? { functions: [], hooks: [] })
  return { functions: found.flatMap(({ functions }) => functions), hooks: found.flatMap(({ hooks }) => hooks) }
}

/** Registers a function. Returns a function that removes it. @throws Error after its entry file was evaluated */
export function noteFunction(metadata: FunctionMetadata, callback: FunctionCallback): () => void {
  const { functions } = openEntry(`function "${metadata.name}"`)
  return noted(functions, { metadata, callback, entry: loadingEntry })
}

/** Registers a hook. Returns a function that removes it. @throws Error after its entry file was evaluated */
export function noteHook(name: HookName, callback: HookCallback): () => void {
  return noted(openEntry(`hook "${name}"`).hooks, { name, callback })
}

/** Stores the model of the library. */
export function noteModel(ofLibrary: ProgrammingModel): void {
  model = ofLibrary
}

/** The model of the library. Undefined before the first registration. */
export function notedModel(): ProgrammingModel | undefined {
  return model
}

/** Subscribes a host to the logs of the library outside of invocations. Returns a function that unsubscribes. */
export function listenToLibrary(sink: LibraryLog): () => void {
  librarySinks.add(sink)
  return () => librarySinks.delete(sink)
}

/** Publishes a log entry of the library to all subscribed hosts. */
export const libraryLog: LibraryLog = (level, category, message) => {
  for (const sink of librarySinks) sink(level, category, message)
}

function openEntry(what: string): EntryRegistrations {
  if (loading === undefined) throw new Error(`The ${what} was registered after the app had loaded`)
  return loading
}

function noted<T>(list: T[], item: T): () => void {
  list.push(item)
  return () => {
    const index = list.indexOf(item)
    if (index >= 0) list.splice(index, 1)
  }
}
