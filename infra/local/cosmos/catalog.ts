import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import { isJsonObject, parseObject, refuseUnknownMembers } from './json-values.ts'
import { dropIndexes, makeCompositeIndex, makeValueIndex } from './query/value-indexes.ts'
import { badRequest, CosmosFailure } from './response.ts'
import type { Storage } from './storage.ts'

/** The properties of a container that item operations use. */
export type Container = {
  readonly number: number
  readonly rid: string
  readonly partitionKeyPath: readonly string[]
  /** Seconds. -1: only documents with their own `ttl` expire. Undefined: no documents expire. */
  readonly defaultTtlS: number | undefined
  /** Each key is a list of paths, each path a list of names. */
  readonly uniqueKeys: readonly (readonly (readonly string[])[])[]
  /** The response to a read of the container. */
  readonly resource: JsonObject
}

type Database = { number: number; resource: JsonObject; containers: Map<string, Container> }

/** The databases and containers of the account, in memory and in the file. */
export type Catalog = ReturnType<typeof openCatalog>

/** https://learn.microsoft.com/azure/cosmos-db/concepts-limits */
const UNIQUE_KEYS_COUNT = 10
const UNIQUE_PATHS_COUNT = 16
const CONTAINER_MEMBERS = new Set(['id', 'partitionKey', 'defaultTtl', 'uniqueKeyPolicy', 'indexingPolicy'])

/** Reads the catalog from the file. The methods throw CosmosFailure 404 or 409 like Cosmos DB. */
export function openCatalog(storage: Storage) {
  const databases = new Map<string, Database>()
  for (const { number, id, ts } of storage.prepare('SELECT * FROM databases').all()) {
    databases.set(String(id), databaseOf(Number(number), String(id), Number(ts)))
  }
  const containers = storage.prepare(
    'SELECT c.*, d.id AS database_id FROM containers c JOIN databases d ON d.number = c.database',
  )
  for (const { number, database, database_id, ts, definition } of containers.all()) {
    const made = containerOf(Number(number), Number(database), Number(ts), parseObject(String(definition), 'container'))
    databases.get(String(database_id))?.containers.set(String(made.resource.id), made)
  }

  const databaseNamed = (id: string): Database => {
    const database = databases.get(id)
    if (database === undefined) throw new CosmosFailure(404, `The database ${id} does not exist`)
    return database
  }
  const containerNamed = (databaseId: string, id: string): Container => {
    const container = databaseNamed(databaseId).containers.get(id)
    if (container === undefined) throw new CosmosFailure(404, `The container ${databaseId}/${id} does not exist`, 1003)
    return container
  }

  return {
    database: (id: string): JsonObject => databaseNamed(id).resource,
    container: containerNamed,
    createDatabase(body: string): JsonObject {
      const id = validName(parseObject(body, 'The database').id, 'database')
      if (databases.has(id)) throw new CosmosFailure(409, `The database ${id} exists`)
      const ts = nowS(storage)
      const { lastInsertRowid } = storage.write(() =>
        storage.prepare('INSERT INTO databases (id, ts) VALUES (?, ?)').run(id, ts),
      )
      const made = databaseOf(Number(lastInsertRowid), id, ts)
      databases.set(id, made)
      return made.resource
    },
    deleteDatabase(id: string): void {
      const { number, containers } = databaseNamed(id)
      storage.write(() => {
        for (const container of containers.values()) dropIndexes(storage, container.number)
        // Its containers go with it.
        storage.prepare('DELETE FROM databases WHERE number = ?').run(number)
      })
      databases.delete(id)
    },
    createContainer(databaseId: string, body: string): Container {
      const database = databaseNamed(databaseId)
      const definition = parseObject(body, 'The container')
      const id = validName(definition.id, 'container')
      const ts = nowS(storage)
      containerOf(0, 0, ts, definition) // rejects an invalid definition before it is stored
      if (database.containers.has(id)) throw new CosmosFailure(409, `The container ${databaseId}/${id} exists`)
      const number = storage.write(() => {
        const { lastInsertRowid } = storage
          .prepare('INSERT INTO containers (database, id, ts, definition) VALUES (?, ?, ?, ?)')
          .run(database.number, id, ts, JSON.stringify(definition))
        for (const path of indexedPathsOf(definition.indexingPolicy)) {
          makeValueIndex(storage, Number(lastInsertRowid), path)
        }
        for (const [path, other] of compositePathsOf(definition.indexingPolicy)) {
          makeCompositeIndex(storage, Number(lastInsertRowid), path, other)
        }
        return Number(lastInsertRowid)
      })
      const made = containerOf(number, database.number, ts, definition)
      database.containers.set(id, made)
      return made
    },
  }
}

const nowS = (storage: Storage): number => Math.floor(storage.nowMs() / 1000)

function databaseOf(number: number, id: string, ts: number): Database {
  const rid = ridOf(number)
  const system = { _rid: rid, _self: `dbs/${rid}/`, _etag: `"${ts}"`, _ts: ts }
  const resource = { id, ...system, _colls: 'colls/', _users: 'users/' }
  return { number, resource, containers: new Map() }
}

function containerOf(number: number, databaseNumber: number, ts: number, definition: JsonObject): Container {
  refuseUnknownMembers(definition, CONTAINER_MEMBERS, 'The container')
  const rid = ridOf(databaseNumber, number)
  const defaults = { indexingPolicy: { indexingMode: 'consistent', automatic: true, includedPaths: [{ path: '/*' }] } }
  const system = { _rid: rid, _self: `dbs/${ridOf(databaseNumber)}/colls/${rid}/`, _etag: `"${ts}"`, _ts: ts }
  return {
    number,
    rid,
    partitionKeyPath: partitionKeyPathOf(definition.partitionKey),
    defaultTtlS: defaultTtlOf(definition.defaultTtl),
    uniqueKeys: uniqueKeysOf(definition.uniqueKeyPolicy),
    resource: { ...defaults, ...definition, ...system },
  }
}

/** Four bytes per number: the client accepts a session token only with a container rid of eight bytes. */
function ridOf(...numbers: number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, index * 4)
  return bytes.toString('base64').replaceAll('/', '-')
}

function validName(id: Json | undefined, what: string): string {
  if (typeof id !== 'string' || id === '' || id.length > 255 || /[/\\#?]/.test(id) || !id.isWellFormed()) {
    throw badRequest(`The id of a ${what} must be a string of 1 to 255 characters without / \\ # ?`)
  }
  return id
}

function partitionKeyPathOf(partitionKey: Json | undefined): string[] {
  if (!isJsonObject(partitionKey)) throw badRequest('The container requires a partitionKey')
  const { paths, kind } = partitionKey
  if (kind !== undefined && kind !== 'Hash') throw badRequest(`partitionKey.kind ${String(kind)} is not supported`)
  if (!Array.isArray(paths) || paths.length !== 1) throw badRequest('partitionKey.paths must contain one path')
  return pathOf(paths[0])
}

function defaultTtlOf(ttl: Json | undefined): number | undefined {
  if (ttl === undefined || ttl === null) return undefined
  if (typeof ttl !== 'number' || !Number.isInteger(ttl) || (ttl < 1 && ttl !== -1) || ttl > 2_147_483_647) {
    throw badRequest('defaultTtl must be -1 or a positive number of seconds')
  }
  return ttl
}

function uniqueKeysOf(policy: Json | undefined): string[][][] {
  if (policy === undefined) return []
  const keys = isJsonObject(policy) ? policy.uniqueKeys : undefined
  if (!Array.isArray(keys) || keys.length > UNIQUE_KEYS_COUNT) {
    throw badRequest(`uniqueKeyPolicy.uniqueKeys must be a list of up to ${UNIQUE_KEYS_COUNT} keys`)
  }
  return keys.map((key) => {
    const paths = isJsonObject(key) ? key.paths : undefined
    if (!Array.isArray(paths) || paths.length === 0 || paths.length > UNIQUE_PATHS_COUNT) {
      throw badRequest(`A unique key must be { paths } with 1 to ${UNIQUE_PATHS_COUNT} paths`)
    }
    return paths.map(pathOf)
  })
}

/**
 * The properties that a policy lists individually, `/a/b/?`. They are indexed when the container is created. Other
 * properties are indexed by the first query that needs it.
 */
function indexedPathsOf(policy: Json | undefined): string[][] {
  const paths = isJsonObject(policy) && Array.isArray(policy.includedPaths) ? policy.includedPaths : []
  return paths.flatMap((included) => {
    const path = isJsonObject(included) ? included.path : undefined
    return typeof path === 'string' && /^(\/[\w-]+)+\/\?$/.test(path) ? [path.slice(1, -2).split('/')] : []
  })
}

/** The composite indexes of a policy: pairs of properties, ordered by the first. */
function compositePathsOf(policy: Json | undefined): [string[], string[]][] {
  const indexes = isJsonObject(policy) && Array.isArray(policy.compositeIndexes) ? policy.compositeIndexes : []
  return indexes.map((index) => {
    const paths = Array.isArray(index) ? index.map((part) => pathOf(isJsonObject(part) ? part.path : undefined)) : []
    const [path, other] = paths
    if (path === undefined || other === undefined || paths.length > 2) {
      throw badRequest('A composite index must be a list of two paths')
    }
    return [path, other]
  })
}

function pathOf(path: Json | undefined): string[] {
  if (typeof path !== 'string' || !/^(\/[^/*"]+)+$/.test(path)) throw badRequest(`Not a path: ${JSON.stringify(path)}`)
  return path.slice(1).split('/')
}
