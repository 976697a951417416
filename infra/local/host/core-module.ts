/**
 * The module that `@azure/functions` asks for as `@azure/functions-core`: its exports are that contract and nothing
 * else. The loader makes the name resolve to this file; what is registered lands in the registry.
 */
import {
  type FunctionCallback,
  type FunctionMetadata,
  HOOK_NAMES,
  type HookCallback,
  type HookName,
  type LogCategory,
  type LogLevel,
  type ProgrammingModel,
} from './programming-model.ts'
import { libraryLog, notedModel, noteFunction, noteHook, noteModel } from './registry.ts'

/** Of the Node worker whose behaviour this module has. */
export const version = '3.13.0'
export const hostVersion = '4.1040.0'

/** Something that can be taken back, once. */
export class Disposable {
  #release: (() => unknown) | undefined

  constructor(release: () => unknown) {
    this.#release = release
  }

  static from(...disposables: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const each of disposables) each.dispose()
    })
  }

  dispose(): void {
    this.#release?.()
    this.#release = undefined
  }
}

/** @throws when no entry file is being loaded. Names that clash are found when the host has loaded all of them. */
export function registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): Disposable {
  return new Disposable(noteFunction(metadata, callback))
}

/** @throws RangeError for a hook this host does not run. */
export function registerHook(name: string, callback: HookCallback): Disposable {
  if (!isHookName(name)) throw new RangeError(`Unrecognised hook "${name}"`)
  return new Disposable(noteHook(name, callback))
}

/** Called by the library when it is loaded. */
export function setProgrammingModel(model: ProgrammingModel): void {
  noteModel(model)
}

/** The library asks before it sets its own. */
export function getProgrammingModel(): ProgrammingModel | undefined {
  return notedModel()
}

/** What the library itself has to say, outside of any invocation. */
export function log(level: LogLevel, category: LogCategory, message: string): void {
  libraryLog(level, category, message)
}

const isHookName = (name: string): name is HookName => (HOOK_NAMES as readonly string[]).includes(name)
