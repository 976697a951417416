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
 * What each entry file has registered, for the life of the process. A module is evaluated once, so a host started later
 * with the same entries finds their functions here: same handlers, same module state.
 */
const byEntry = new Map<string, EntryRegistrations>()
const librarySinks = new Set<LibraryLog>()
let loading: EntryRegistrations | undefined
let loadingEntry = ''
let model: ProgrammingModel | undefined

/** Runs `load`, noting what it registers under `entry`. Loads must not overlap. */
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

/** Everything the entries have registered so far, in the order of the entries. */
export function registrationsOf(entries: readonly string[]): { functions: Registration[]; hooks: Hook[] } {
  const found = entries.map((entry) => byEntry.get(entry) ?? { functions: [], hooks: [] })
  return { functions: found.flatMap((each) => each.functions), hooks: found.flatMap((each) => each.hooks) }
}

/** Notes a function. Returns how to take it back. @throws once its entry file has been evaluated. */
export function noteFunction(metadata: FunctionMetadata, callback: FunctionCallback): () => void {
  const { functions } = openEntry(`function "${metadata.name}"`)
  return noted(functions, { metadata, callback, entry: loadingEntry })
}

/** Notes a hook. Returns how to take it back. @throws once its entry file has been evaluated. */
export function noteHook(name: HookName, callback: HookCallback): () => void {
  return noted(openEntry(`hook "${name}"`).hooks, { name, callback })
}

/** Keeps the model that the library brings along. */
export function noteModel(given: ProgrammingModel): void {
  model = given
}

/** The library's model; undefined until an entry file has registered something. */
export function notedModel(): ProgrammingModel | undefined {
  return model
}

/** What the library logs outside of an invocation goes to every host that listens. Returns how to stop. */
export function listenToLibrary(sink: LibraryLog): () => void {
  librarySinks.add(sink)
  return () => librarySinks.delete(sink)
}

/** Hands the library's own words to every host that listens. */
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
