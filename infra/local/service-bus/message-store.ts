import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openSqlite, unusableFile } from '../private-files.ts'
import { readMessage } from './message-codec.ts'
import type { Journal, KeptQueue, MessageState, QueuedMessage } from './queued-message.ts'

const SCHEMA_VERSION = 1
const SCHEMA = `
  CREATE TABLE numbers (queue TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE messages (
    queue TEXT NOT NULL, number INTEGER NOT NULL, firstNumber INTEGER NOT NULL, state TEXT NOT NULL,
    messageId TEXT NOT NULL, enqueuedAtMs INTEGER NOT NULL, dueAtMs INTEGER NOT NULL, timeToLiveMs INTEGER,
    deliveryCount INTEGER NOT NULL, isHeld INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (queue, number));
  PRAGMA user_version = ${SCHEMA_VERSION};`

type Row = {
  number: number
  firstNumber: number
  state: MessageState
  messageId: string
  enqueuedAtMs: number
  dueAtMs: number
  timeToLiveMs: number | null
  deliveryCount: number
  isHeld: number
  bytes: Uint8Array
}

/**
 * The journal in a SQLite file, or in memory as `:memory:`. All writes of one turn of the event loop are one
 * transaction. `afterCommit` reports the commit.
 */
export class MessageStore implements Journal {
  readonly #file: string
  readonly #database: DatabaseSync
  readonly #statements: Statements
  readonly #lastNumbers = new Map<string, number>()
  #waiting: ((failure?: Error) => void)[] = []
  #isOpen = true
  #isWriting = false

  /** @throws Error that names the file if it is damaged or unusable */
  constructor(file: string) {
    this.#file = file
    this.#database = openSqlite(file, prepareFile)
    this.#statements = prepare(this.#database)
  }

  /** Reads the messages of a queue in order. @throws Error that names the file if they are damaged */
  load(queue: string): KeptQueue {
    try {
      const rows = this.#statements.load.all(queue) as unknown as Row[]
      const last = this.#statements.lastNumber.get(queue) as { last: number } | undefined
      return {
        messages: rows.map(fromRow),
        held: new Set(rows.filter(({ isHeld }) => isHeld === 1).map(({ number }) => number)),
        lastSequenceNumber: last?.last ?? 0,
      }
    } catch (cause) {
      throw unusableFile(this.#file, cause)
    }
  }

  added(queue: string, message: QueuedMessage): void {
    const { sequenceNumber, enqueuedSequenceNumber, state, messageId, enqueuedAtMs, dueAtMs, bytes } = message
    const timeToLiveMs = Number.isFinite(message.timeToLiveMs) ? message.timeToLiveMs : null
    const fixed = [queue, sequenceNumber, enqueuedSequenceNumber, state, messageId, enqueuedAtMs, dueAtMs] as const
    this.#begin()
    this.#statements.add.run(...fixed, timeToLiveMs, message.deliveryCount, bytes)
    this.#lastNumbers.set(queue, sequenceNumber)
  }

  changed(queue: string, message: QueuedMessage): void {
    this.#begin()
    this.#statements.change.run(message.state, message.deliveryCount, message.bytes, queue, message.sequenceNumber)
  }

  held(queue: string, sequenceNumber: number): void {
    this.#begin()
    this.#statements.hold.run(queue, sequenceNumber)
  }

  removed(queue: string, sequenceNumber: number): void {
    this.#begin()
    this.#statements.remove.run(queue, sequenceNumber)
  }

  /** Moves all stored instants `durationMs` into the past. */
  letPass(durationMs: number): void {
    this.#begin()
    this.#statements.letPass.run(durationMs, durationMs)
  }

  /** Calls back after the pending writes are committed, with the error of a failure. */
  afterCommit(callback: (failure?: Error) => void): void {
    if (this.#isWriting) this.#waiting.push(callback)
    else callback()
  }

  /** Commits pending writes and closes the file. */
  close(): void {
    if (!this.#isOpen) return
    this.#commit()
    this.#isOpen = false
    this.#database.close()
  }

  #begin(): void {
    if (this.#isWriting) return
    this.#database.exec('BEGIN')
    this.#isWriting = true
    process.nextTick(() => this.#commit())
  }

  #commit(): void {
    if (!this.#isWriting) return
    this.#isWriting = false
    const waiting = this.#waiting
    this.#waiting = []
    let failure: Error | undefined
    try {
      for (const [queue, last] of this.#lastNumbers) this.#statements.number.run(queue, last)
      this.#lastNumbers.clear()
      this.#database.exec('COMMIT')
    } catch (cause) {
      failure = new Error('The messages could not be written to disk', { cause })
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
    }
    for (const callback of waiting) callback(failure)
  }
}

type Statements = Record<
  'load' | 'lastNumber' | 'number' | 'add' | 'change' | 'hold' | 'remove' | 'letPass',
  StatementSync
>

function prepare(database: DatabaseSync): Statements {
  return {
    load: database.prepare('SELECT * FROM messages WHERE queue = ? ORDER BY number'),
    lastNumber: database.prepare('SELECT last FROM numbers WHERE queue = ?'),
    number: database.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)'),
    add: database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)'),
    change: database.prepare(
      'UPDATE messages SET state = ?, deliveryCount = ?, bytes = ?, isHeld = 0 WHERE queue = ? AND number = ?',
    ),
    hold: database.prepare('UPDATE messages SET isHeld = 1 WHERE queue = ? AND number = ?'),
    remove: database.prepare('DELETE FROM messages WHERE queue = ? AND number = ?'),
    letPass: database.prepare('UPDATE messages SET enqueuedAtMs = enqueuedAtMs - ?, dueAtMs = dueAtMs - ?'),
  }
}

function prepareFile(database: DatabaseSync): void {
  const version = database.prepare('PRAGMA user_version').get()?.user_version
  if (version === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`)
  else if (version !== SCHEMA_VERSION) throw new Error(`its layout is version ${version}, not ${SCHEMA_VERSION}`)
}

function fromRow(row: Row): QueuedMessage {
  const { state, messageId, enqueuedAtMs, dueAtMs, deliveryCount } = row
  const bytes = Buffer.from(row.bytes.buffer, row.bytes.byteOffset, row.bytes.byteLength)
  readMessage(bytes) // detects a damaged message before its delivery
  return {
    sequenceNumber: row.number,
    enqueuedSequenceNumber: row.firstNumber,
    bytes,
    messageId,
    state,
    enqueuedAtMs,
    dueAtMs,
    timeToLiveMs: row.timeToLiveMs ?? Number.POSITIVE_INFINITY,
    deliveryCount,
    lock: undefined,
  }
}
