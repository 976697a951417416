import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { openSqlite } from '../private-files.ts'

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
  CREATE TABLE IF NOT EXISTS owners (
    group_key INTEGER NOT NULL,
    owner_key INTEGER NOT NULL,
    PRIMARY KEY (group_key, owner_key)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS members_by_member ON members (member_key);
  CREATE TABLE IF NOT EXISTS membership_changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    group_key INTEGER NOT NULL,
    member_key INTEGER NOT NULL,
    member_id TEXT NOT NULL,
    member_type TEXT NOT NULL,
    kind TEXT NOT NULL,
    client_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS membership_changes_by_group ON membership_changes (group_key, sequence);
`

/**
 * Opens the database of the directory in a folder or in memory.
 * @throws Error that names the file if it cannot be used
 */
export const openState = (folder: string | undefined): DatabaseSync =>
  openSqlite(folder === undefined ? ':memory:' : join(folder, 'directory.sqlite'), (database) => database.exec(SCHEMA))

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
