import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateDatabaseFile } from '../private-files.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS seeded (tenant_id TEXT, id TEXT, PRIMARY KEY (tenant_id, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS objects (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    display_name TEXT NOT NULL COLLATE NOCASE,
    user_principal_name TEXT COLLATE NOCASE,
    properties TEXT NOT NULL,
    UNIQUE (tenant_id, id),
    UNIQUE (tenant_id, user_principal_name)
  );
  CREATE INDEX IF NOT EXISTS objects_by_type ON objects (tenant_id, type);
  CREATE INDEX IF NOT EXISTS objects_by_name ON objects (tenant_id, type, display_name);
  CREATE TABLE IF NOT EXISTS members (
    group_key INTEGER NOT NULL,
    member_key INTEGER NOT NULL,
    PRIMARY KEY (group_key, member_key)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS members_by_member ON members (member_key);
`

/**
 * Opens the database of the directory in a folder or in memory.
 * @throws Error that names the file if it is damaged or in use by another process
 */
export function openState(folder: string | undefined): DatabaseSync {
  if (folder === undefined) return prepared(new DatabaseSync(':memory:'))
  const file = join(folder, 'directory.sqlite')
  let database: DatabaseSync | undefined
  try {
    makePrivateDatabaseFile(file)
    database = new DatabaseSync(file)
    return prepared(database)
  } catch (cause) {
    database?.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    if (/locked/.test(reason)) throw new Error(`${file} is in use by another process`, { cause })
    throw new Error(`${file} is damaged (${reason}). Delete it to reset the directory`, { cause })
  }
}

function prepared(database: DatabaseSync): DatabaseSync {
  // Exclusive: two directories on one file would hide each other's writes. Commits survive a crash of the process,
  // but not always of the machine.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  const found = database.prepare('PRAGMA quick_check(1)').get() as { quick_check?: string }
  if (found.quick_check !== 'ok') throw new Error(found.quick_check ?? 'unreadable')
  database.exec(SCHEMA)
  return database
}

export function atomically<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
