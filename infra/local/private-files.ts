import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder that only its owner can open. A folder that exists keeps its mode. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/**
 * Creates the file of a SQLite database, if it is absent, and lets only its owner read it: it holds signing keys or data of
 * people. SQLite gives its other files the mode of this one; those of an earlier crash may have another.
 */
export function makePrivateDatabaseFile(file: string): void {
  makePrivateFolder(dirname(file))
  closeSync(openSync(file, 'a', 0o600))
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) chmodSync(each, 0o600)
}
