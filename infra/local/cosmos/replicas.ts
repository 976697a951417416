import type { Container } from './catalog.ts'
import { parseObject, refuseUnknownMembers } from './json.ts'
import { badRequest } from './response.ts'
import { type Commit, openStorage, type Storage } from './storage.ts'

/** How far the replica that answers reads is behind the primary. */
export type ReplicaLag = {
  /** The containers that have such a replica; all of them unless given. */
  readonly containers?: readonly string[]
  /** Milliseconds of the account's clock until a write reaches the replica. */
  readonly behindMs?: number
  /** The newest writes of each container that the replica does not have, however old they are. */
  readonly behindWrites?: number
}

/** Where a read is answered: the state and the LSN of the container in it. */
export type ReadState = { readonly storage: Storage; readonly lsn: number }

const LAG_MEMBERS = new Set(['containers', 'behindMs', 'behindWrites'])

/** Reads the body of `POST /local/replicas`. Undefined, from an empty object, ends the lag. @throws CosmosFailure 400 */
export function parseLag(body: string): ReplicaLag | undefined {
  const lag = parseObject(body, 'The lag')
  refuseUnknownMembers(lag, LAG_MEMBERS, 'The lag')
  if (Object.keys(lag).length === 0) return undefined
  const { containers, behindMs, behindWrites } = lag
  if (containers !== undefined && !(Array.isArray(containers) && containers.every((id) => typeof id === 'string'))) {
    throw badRequest('containers must be a list of ids')
  }
  for (const [name, amount] of Object.entries({ behindMs, behindWrites })) {
    if (amount !== undefined && !(typeof amount === 'number' && amount >= 0)) {
      throw badRequest(`${name} must be a number from 0`)
    }
  }
  return lag as ReplicaLag
}

/**
 * The replicas of an account. By default all of them are as new as the primary. With a lag, one that is behind answers
 * the reads, as the cloud may choose any, unless the session token of the read names a write that it does not have: then
 * the primary answers. The cloud's gateway looks for a replica that has it, too, and a client in the region of the
 * writes never sees 1002 for it. A replica never goes back.
 */
export class Replicas {
  readonly #primary: Storage
  #lagging: { lag: ReplicaLag; replica: Replica } | undefined

  constructor(primary: Storage, lag: ReplicaLag | undefined) {
    this.#primary = primary
    this.setLag(lag)
  }

  setLag(lag: ReplicaLag | undefined): void {
    if (lag === undefined) {
      this.#lagging?.replica.close()
      this.#lagging = undefined
    } else {
      this.#lagging = { lag, replica: this.#lagging?.replica ?? new Replica(this.#primary) }
    }
  }

  /** @param seenLsn what the caller has seen: no more than the primary has. */
  forRead({ number, resource }: Container, seenLsn: number): ReadState {
    const { lag, replica } = this.#lagging ?? {}
    const isLagging = lag !== undefined && lag.containers?.includes(String(resource.id)) !== false
    const lsn = isLagging ? replica?.caughtUp(number, lag) : undefined
    return replica === undefined || lsn === undefined || lsn < seenLsn
      ? { storage: this.#primary, lsn: this.#primary.lsnOf(number) }
      : { storage: replica.storage, lsn }
  }

  close(): void {
    this.setLag(undefined)
  }
}

type LoggedCommit = Commit & { readonly atMs: number }

/** A copy of the primary's documents, and the commits of each container that it does not have yet. */
class Replica {
  readonly storage: Storage
  readonly #primary: Storage
  readonly #logs = new Map<number, LoggedCommit[]>()
  /** Of the containers that have been written since the copy was made. */
  readonly #lsns = new Map<number, number>()
  readonly #lsnOfCopy = new Map<number, number>()

  constructor(primary: Storage) {
    this.#primary = primary
    this.storage = openStorage(':memory:', primary.nowMs)
    // The documents alone are copied: the catalog is the primary's.
    this.storage.execute('PRAGMA foreign_keys = OFF')
    this.storage.write(() => {
      for (const document of primary.prepare('SELECT * FROM docs').iterate()) this.#insert(document)
    })
    primary.onCommit((commit) => {
      const log = this.#logs.get(commit.container) ?? []
      this.#logs.set(commit.container, log)
      log.push({ ...commit, atMs: primary.nowMs() })
      if (!this.#lsnOfCopy.has(commit.container)) this.#lsnOfCopy.set(commit.container, commit.previousLsn)
    })
  }

  /** Applies what the lag no longer keeps back. @returns The LSN that is reached. */
  caughtUp(container: number, { behindMs = 0, behindWrites = 0 }: ReplicaLag): number {
    const log = this.#logs.get(container) ?? []
    const visibleMs = this.#primary.nowMs() - behindMs
    const isDue = (commit: LoggedCommit | undefined): commit is LoggedCommit =>
      commit !== undefined && commit.atMs <= visibleMs && log.length > behindWrites
    for (let [next] = log; isDue(next); [next] = log) {
      this.#apply(next)
      log.shift()
    }
    return this.#lsns.get(container) ?? this.#lsnOfCopy.get(container) ?? this.#primary.lsnOf(container)
  }

  close(): void {
    this.#primary.onCommit(undefined)
    this.storage.close()
  }

  #apply({ container, lsn, rows }: LoggedCommit): void {
    this.storage.write(() => {
      for (const { row } of rows) this.storage.prepare('DELETE FROM docs WHERE row = ?').run(row)
      for (const { document } of rows) if (document !== undefined) this.#insert(document)
    })
    this.#lsns.set(container, lsn)
  }

  #insert({ row, container, pk, id, etag, ts, expires_ms, body }: Record<string, unknown>): void {
    const values = [row, container, pk, id, etag, ts, expires_ms, body] as (string | number | null)[]
    this.storage
      .prepare('INSERT INTO docs (row, container, pk, id, etag, ts, expires_ms, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(...values)
  }
}
