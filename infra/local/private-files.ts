import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A process that was asked to stop may hold its file a little longer. */
const BUSY_TIMEOUT_MS = 1000
/** SQLITE_BUSY, https://www.sqlite.org/rescode.html */
const BUSY = 5

/** Creates a folder that only its owner can open. A folder that exists keeps its mode. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/**
 * Creates the file of a SQLite database, if it is absent, and lets only its owner read it: it holds signing keys or
 * data of people. SQLite gives its other files the mode of this one; those of an earlier crash may have another.
 */
function makePrivateDatabaseFile(file: string): void {
  makePrivateFolder(dirname(file))
  closeSync(openSync(file, 'a', 0o600))
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600)
}

/**
 * Opens or creates a database file for this process alone: a second server on the same file fails at its start. A
 * commit survives a crash of the process, but not always of the machine: `synchronous=NORMAL` does not flush each
 * commit.
 * @param file a path, or `:memory:`
 * @param prepare creates or checks the tables
 * @throws Error that names the file if it is damaged or in use by another process, or if `prepare` fails
 */
export function openSqlite(file: string, prepare: (database: DatabaseSync) => void): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    if (file !== ':memory:') makePrivateDatabaseFile(file)
    database = new DatabaseSync(file)
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    const [found] = database.prepare('PRAGMA quick_check(1)').all()
    if (found?.quick_check !== 'ok') throw new Error(String(found?.quick_check))
    prepare(database)
    return database
  } catch (cause) {
    database?.close()
    throw unusableFile(file, cause)
  }
}

/** The error of a database file that cannot be read. */
export function unusableFile(file: string, cause: unknown): Error {
  const { errcode, message } = cause as Error & { errcode?: number }
  if (errcode === BUSY) return new Error(`${file} is in use by another process`, { cause })
  return new Error(`${file} is damaged (${message}). Delete it to start with an empty one`, { cause })
}
