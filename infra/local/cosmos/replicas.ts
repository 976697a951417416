import type { Container } from './catalog.ts'
import { parseObject, refuseUnknownMembers } from './json.ts'
import { badRequest } from './response.ts'
import { type Commit, openStorage, type Storage } from './storage.ts'

/** The lag of the replica that answers reads behind the primary. */
export type ReplicaLag = {
  /** The ids of the containers with a lagging replica. Default: all containers. */
  readonly containers?: readonly string[]
  /** Delay of writes on the replica, by the clock of the account. */
  readonly behindMs?: number
  /** Number of the newest writes of each container that the replica does not have, regardless of their age. */
  readonly behindWrites?: number
}

/** The state that answers a read, and the LSN of the container in this state. */
export type ReadState = { readonly storage: Storage; readonly lsn: number }

const LAG_MEMBERS = new Set(['containers', 'behindMs', 'behindWrites'])

/**
 * Parses the body of `POST /local/replicas`. Undefined for an empty object, which ends the lag.
 * @throws CosmosFailure 400
 */
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
 * The replicas of an account. By default no replica lags. With a lag, a lagging replica answers reads, because the
 * cloud can choose any replica. If the replica does not have the writes of the read's session token, the primary
 * answers. The gateway of the cloud also finds a replica that has them, so that a client in the write region does not
 * receive 1002. The LSN of a replica never decreases.
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

  /** @param seenLsn The LSN that the caller has seen, at most that of the primary. */
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

/** A copy of the primary's documents, and the commits of each container that are not applied to it yet. */
class Replica {
  readonly storage: Storage
  readonly #primary: Storage
  readonly #logs = new Map<number, LoggedCommit[]>()
  /** The LSNs of the containers to which commits were applied. */
  readonly #lsns = new Map<number, number>()
  readonly #lsnOfCopy = new Map<number, number>()

  constructor(primary: Storage) {
    this.#primary = primary
    this.storage = openStorage(':memory:', primary.nowMs)
    // Only documents are copied. The catalog is that of the primary.
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

  /** Applies the commits that the lag no longer delays. @returns The LSN of the container on the replica. */
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
