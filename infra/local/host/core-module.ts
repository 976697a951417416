/**
 * The module that `@azure/functions` imports as `@azure/functions-core`. Its exports are that contract. The loader
 * resolves the name to this file. Registrations are stored in the registry.
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

/** Version of the Node.js worker that this module implements. */
export const version = '3.13.0'
export const hostVersion = '4.1040.0'

/** A registration that can be removed once. */
export class Disposable {
  #release: (() => unknown) | undefined

  constructor(release: () => unknown) {
    this.#release = release
  }

  static from(...disposables: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) disposable.dispose()
    })
  }

  dispose(): void {
    this.#release?.()
    this.#release = undefined
  }
}

/** @throws Error if no entry file is being loaded. The host detects duplicate names after all files are loaded. */
export function registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): Disposable {
  return new Disposable(noteFunction(metadata, callback))
}

/** @throws RangeError for an unsupported hook */
export function registerHook(name: string, callback: HookCallback): Disposable {
  if (!isHookName(name)) throw new RangeError(`Unrecognised hook "${name}"`)
  return new Disposable(noteHook(name, callback))
}

/** Called by the library when it is loaded. */
export function setProgrammingModel(model: ProgrammingModel): void {
  noteModel(model)
}

/** The library calls this before it sets its own model. */
export function getProgrammingModel(): ProgrammingModel | undefined {
  return notedModel()
}

/** Logs of the library outside of invocations. */
export function log(level: LogLevel, category: LogCategory, message: string): void {
  libraryLog(level, category, message)
}

const isHookName = (name: string): name is HookName => (HOOK_NAMES as readonly string[]).includes(name)
