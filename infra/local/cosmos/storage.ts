import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openSqlite } from '../private-files.ts'

/** The database file of an account: statements, transactions, and the counter for session tokens and row ids. */
export type Storage = {
  readonly nowMs: () => number
  /** A cached prepared statement. Rows are objects. */
  prepare(sql: string): StatementSync
  execute(sql: string): void
  /** Deletes expired documents, then runs the work in one transaction. An exception rolls back the transaction. */
  write<T>(work: () => T): T
  /** Returns a new number for a write to a container, which no row or version has had. Only inside `write`. */
  nextSequence(container: number): number
  /**
   * The LSN of the container: the number of its last committed write. It never decreases, even by restarts and
   * deletions.
   */
  lsnOf(container: number): number
  /** Number of committed writes of documents since the file was created. */
  writeCount(): number
  /** The documents of each container by its id, expired ones included. */
  sizes(): ContainerSizes
  close(): void
}

export type ContainerSizes = Readonly<Record<string, { readonly bodyBytes: number }>>

/** Identifies the file (PRAGMA application_id) and its schema version (user_version). */
const APPLICATION_ID = 0x436f736d
const SCHEMA_VERSION = 1
const STATEMENTS_KEPT_COUNT = 500

/**
 * Documents with strings that the JSON functions of SQLite change: they truncate at NUL, and lone surrogates have no
 * order in UTF-8. JSON contains both as escapes only.
 */
export const ODD_TEXT = "instr(body, '\\u0000') > 0 OR instr(body, '\\ud') > 0"

const SCHEMA = `
  CREATE TABLE databases (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, ts INTEGER NOT NULL) STRICT;
  CREATE TABLE containers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    database INTEGER NOT NULL REFERENCES databases ON DELETE CASCADE,
    id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    definition TEXT NOT NULL,
    UNIQUE (database, id)
  ) STRICT;
  CREATE TABLE docs (
    row INTEGER PRIMARY KEY,
    container INTEGER NOT NULL REFERENCES containers ON DELETE CASCADE,
    pk TEXT NOT NULL,
    id TEXT NOT NULL,
    etag TEXT NOT NULL,
    ts INTEGER NOT NULL,
    expires_ms INTEGER,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX docs_by_id ON docs (container, pk, id);
  CREATE INDEX docs_by_ts ON docs (container, pk, ts);
  CREATE INDEX docs_by_expiry ON docs (expires_ms) WHERE expires_ms IS NOT NULL;
  CREATE TABLE unique_values (
    container INTEGER NOT NULL,
    pk TEXT NOT NULL,
    key INTEGER NOT NULL,
    value TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES docs ON DELETE CASCADE,
    PRIMARY KEY (container, pk, key, value)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX unique_values_by_row ON unique_values (row);
  CREATE TABLE value_indexes (name TEXT PRIMARY KEY, container INTEGER NOT NULL, path TEXT NOT NULL) STRICT;
  CREATE TABLE counter (sequence INTEGER NOT NULL) STRICT;
  INSERT INTO counter VALUES (0);
`

/** Opens or creates the file. @throws Error that names the file if it cannot be used */
export function openStorage(file: string, nowMs: () => number): Storage {
  return storageOf(openSqlite(file, prepareFile), nowMs)
}

function prepareFile(database: DatabaseSync): void {
  database.exec('PRAGMA foreign_keys = ON; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY')
  // A checkpoint runs in the commit that fills the log, and all tenants wait for it. The log is small, so that one
  // copies few pages, and the disk is not waited for: a flush takes longer than the copies. Commits survive a crash of
  // the process. After a crash of the machine the file can be damaged, which its next start reports.
  database.exec('PRAGMA wal_autocheckpoint = 1000; PRAGMA synchronous = OFF')
  const isNew = database.prepare('SELECT count(*) AS count FROM sqlite_master').get()?.count === 0
  if (isNew) {
    const marks = `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA}; ${marks}; COMMIT`)
  }
  const application = database.prepare('PRAGMA application_id').get()?.application_id
  const version = database.prepare('PRAGMA user_version').get()?.user_version
  if (application !== APPLICATION_ID || version !== SCHEMA_VERSION) {
    throw new Error('it is a database of another program or version')
  }
  database.exec(`CREATE INDEX IF NOT EXISTS docs_with_odd_text ON docs (container, pk) WHERE ${ODD_TEXT}`)
  database.exec('CREATE INDEX IF NOT EXISTS docs_by_id_with_ts ON docs (container, pk, id, ts, expires_ms)')
}

function storageOf(database: DatabaseSync, nowMs: () => number): Storage {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= STATEMENTS_KEPT_COUNT) statements.clear()
    const statement = database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  let sequence = Number(prepare('SELECT sequence FROM counter').get()?.sequence)
  let savedSequence = sequence
  // The file does not store LSNs by container, so after a start each container has the highest LSN.
  const firstLsn = sequence
  const lsns = new Map<number, number>()
  /** The LSNs of the transaction that is open, by container. */
  const written = new Map<number, number>()

  return {
    nowMs,
    prepare,
    execute: (sql) => database.exec(sql),
    nextSequence(container) {
      sequence += 1
      written.set(container, sequence)
      return sequence
    },
    lsnOf: (container) => lsns.get(container) ?? firstLsn,
    writeCount: () => savedSequence,
    sizes: () => sizesOf(database),
    write(work) {
      prepare('BEGIN IMMEDIATE').run()
      try {
        // Expired documents are deleted here and not by a timer, because they must not conflict with new documents.
        prepare('DELETE FROM docs WHERE expires_ms <= ?').run(nowMs())
        const result = work()
        if (sequence !== savedSequence) prepare('UPDATE counter SET sequence = ?').run(sequence)
        prepare('COMMIT').run()
        savedSequence = sequence
        for (const [container, lsn] of written) lsns.set(container, lsn)
        return result
      } catch (cause) {
        if (database.isTransaction) prepare('ROLLBACK').run()
        sequence = savedSequence
        throw cause
      } finally {
        written.clear()
      }
    },
    close: () => database.close(),
  }
}

function sizesOf(database: DatabaseSync): ContainerSizes {
  const rows = database
    .prepare(
      `SELECT containers.id AS id, coalesce(sum(length(docs.body)), 0) AS bodyBytes
       FROM containers LEFT JOIN docs ON docs.container = containers.number GROUP BY containers.number`,
    )
    .all() as { id: string; bodyBytes: number }[]
  return Object.fromEntries(rows.map(({ id, ...size }) => [id, size]))
}
