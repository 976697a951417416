import type { DatabaseSync } from 'node:sqlite'
import { openSqlite } from '../private-files.ts'
import type { ConnectorObject } from './municipality.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS sent (
    connector_id TEXT,
    object_type TEXT,
    external_id TEXT,
    PRIMARY KEY (connector_id, object_type, external_id)
  ) WITHOUT ROWID;
`

/**
 * The demo objects that were sent to each connector, so that a later start does not send what was deleted or renamed in
 * the meantime. A new database has new connectors, to which nothing was sent.
 */
export interface SentObjects {
  /** Those of these objects that were not sent yet, in the same order. */
  notYetSent(connectorId: string, objects: readonly ConnectorObject[]): ConnectorObject[]
  /** Records that the connector has these objects. All or none are recorded. */
  record(connectorId: string, objects: readonly ConnectorObject[]): void
  close(): void
}

/**
 * Opens the record in a file.
 * @param file A path, or `:memory:`.
 * @throws Error that names the file if it cannot be used
 */
export function openSentObjects(file: string): SentObjects {
  const database = openSqlite(file, (opened: DatabaseSync) => opened.exec(SCHEMA))
  const isSent = database.prepare('SELECT 1 FROM sent WHERE connector_id = ? AND object_type = ? AND external_id = ?')
  const insert = database.prepare('INSERT OR IGNORE INTO sent VALUES (?, ?, ?)')
  return {
    notYetSent: (connectorId, objects) =>
      objects.filter(({ objectType, externalId }) => isSent.get(connectorId, objectType, externalId) === undefined),
    record(connectorId, objects) {
      database.exec('BEGIN IMMEDIATE')
      for (const { objectType, externalId } of objects) insert.run(connectorId, objectType, externalId)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}
