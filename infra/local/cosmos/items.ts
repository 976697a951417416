import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import type { Container } from './catalog.ts'
import type { Partition } from './item-rules.ts'
import { claimValues, requireUnique, type ValidItem, validItem } from './item-rules.ts'
import { isJsonObject } from './json-values.ts'
import { badRequest, CosmosFailure, readCharge, writeCharge } from './response.ts'
import type { Storage } from './storage.ts'

export type Target = {
  readonly storage: Storage
  readonly container: Container
  readonly partition: Partition
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
}

export type ItemAnswer = {
  readonly status: 200 | 201 | 204
  readonly etag: string | undefined
  /** The document as JSON text. Undefined after a delete. */
  readonly body: string | undefined
  readonly charge: number
}

type StoredItem = { row: number; etag: string; body: string }

/** Reads an item: 200. */
export function readItem(target: Target, id: string): ItemAnswer {
  if (target.ifNoneMatch !== undefined) throw badRequest('If-None-Match on a read is not supported')
  const { etag, body } = requireItem(target, id)
  return { status: 200, etag, body, charge: readCharge(Buffer.byteLength(body)) }
}

// The writes below run all checks before the first change: a rejected write leaves its transaction unchanged.

/** Creates an item: 201, or 409 if its id or a unique value exists. */
export function createItem(target: Target, document: JsonObject): ItemAnswer {
  if (target.ifMatch !== undefined) throw badRequest('If-Match on a create is not supported')
  const item = validItem(document, target.partition, target.container)
  if (findItem(target, item.id) !== undefined) {
    throw new CosmosFailure(409, `Entity with the specified id already exists: ${item.id}`)
  }
  return store(target, item, undefined)
}

/** Upserts an item: 201 if created, 200 if replaced. */
export function upsertItem(target: Target, document: JsonObject): ItemAnswer {
  const item = validItem(document, target.partition, target.container)
  const present = findItem(target, item.id)
  requireVersion(target, present)
  return store(target, item, present)
}

/** Replaces an item: 200, or 404. */
export function replaceItem(target: Target, id: string, document: JsonObject): ItemAnswer {
  const item = validItem(document, target.partition, target.container)
  if (item.id !== id) throw badRequest(`The id in the body, ${item.id}, differs from that of the request, ${id}`)
  const present = requireItem(target, id)
  requireVersion(target, present)
  return store(target, item, present)
}

/** Operations that the service applies in one patch. */
const PATCH_LIMIT_COUNT = 10

/** Adds to numbers of an item: 200, or 404. Other operations of a patch are not supported. */
export function patchItem(target: Target, id: string, patch: JsonObject): ItemAnswer {
  const { operations } = patch
  if (!Array.isArray(operations) || operations.length === 0 || operations.length > PATCH_LIMIT_COUNT) {
    throw badRequest(`A Patch must have 1 to ${PATCH_LIMIT_COUNT} operations`)
  }
  const present = requireItem(target, id)
  requireVersion(target, present)
  const document = JSON.parse(present.body) as JsonObject
  for (const operation of operations) increment(document, operation)
  return store(target, validItem(document, target.partition, target.container), present)
}

function increment(document: JsonObject, operation: Json): void {
  const { op, path, value } = isJsonObject(operation) ? operation : ({} as JsonObject)
  if (op !== 'incr') throw badRequest(`The patch operation ${JSON.stringify(op)} is not supported`)
  if (typeof path !== 'string' || !path.startsWith('/')) throw badRequest('A patch operation needs a path')
  if (typeof value !== 'number') throw badRequest('incr needs a number')
  const names = path.slice(1).split('/')
  const name = names.pop() ?? ''
  const parent = names.reduce<Json | undefined>(
    (within, member) => (isJsonObject(within) ? within[member] : undefined),
    document,
  )
  if (!isJsonObject(parent)) throw badRequest(`The parent of ${path} is not an object`)
  const before = parent[name] ?? 0
  if (typeof before !== 'number') throw badRequest(`${path} is not a number`)
  Object.assign(parent, { [name]: before + value })
}

/** Deletes an item: 204, or 404. */
export function deleteItem(target: Target, id: string): ItemAnswer {
  const { row, etag, body } = requireItem(target, id)
  requireVersion(target, { row, etag, body })
  target.storage.prepare('DELETE FROM docs WHERE row = ?').run(row)
  target.storage.nextSequence(target.container.number)
  return { status: 204, etag: undefined, body: undefined, charge: writeCharge(Buffer.byteLength(body)) }
}

function findItem({ storage, container, partition }: Target, id: string): StoredItem | undefined {
  return storage
    .prepare(
      `SELECT row, etag, body FROM docs INDEXED BY docs_by_id
       WHERE container = ? AND pk = ? AND id = ? AND (expires_ms IS NULL OR expires_ms > ?)`,
    )
    .get(container.number, partition, id, storage.nowMs()) as StoredItem | undefined
}

function requireItem(target: Target, id: string): StoredItem {
  const present = findItem(target, id)
  if (present === undefined) throw new CosmosFailure(404, `Entity with the specified id does not exist: ${id}`)
  return present
}

function requireVersion({ ifMatch, ifNoneMatch }: Target, present: StoredItem | undefined): void {
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') throw badRequest('If-None-Match of a write must be *')
  const isStale = ifMatch !== undefined && (present === undefined || (ifMatch !== '*' && ifMatch !== present.etag))
  if (isStale || (ifNoneMatch === '*' && present !== undefined)) {
    throw new CosmosFailure(412, 'One of the specified pre-condition is not met')
  }
}

function store(target: Target, item: ValidItem, present: StoredItem | undefined): ItemAnswer {
  const { storage, container, partition } = target
  requireUnique(storage, container, partition, item.document, present?.row)
  const sequence = storage.nextSequence(container.number)
  const row = present?.row ?? sequence
  const nowMs = storage.nowMs()
  const [etag, ts] = [`"${randomUUID()}"`, Math.floor(nowMs / 1000)]
  const body = JSON.stringify({ ...item.document, ...systemProperties(container, row, etag, ts) })
  const expiresMs = expiryMs(nowMs, item.ttlS, container.defaultTtlS)
  if (present === undefined) {
    storage
      .prepare('INSERT INTO docs (row, container, pk, id, etag, ts, expires_ms, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(row, container.number, partition, item.id, etag, ts, expiresMs, body)
  } else {
    storage
      .prepare('UPDATE docs SET etag = ?, ts = ?, expires_ms = ?, body = ? WHERE row = ?')
      .run(etag, ts, expiresMs, body, row)
  }
  claimValues(storage, container, partition, item.document, row)
  return { status: present === undefined ? 201 : 200, etag, body, charge: writeCharge(Buffer.byteLength(body)) }
}

function systemProperties(
  container: Container,
  row: number,
  etag: string,
  ts: number,
): Record<string, string | number> {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(row))
  const rid = Buffer.concat([Buffer.from(container.rid.replaceAll('-', '/'), 'base64'), bytes])
    .toString('base64')
    .replaceAll('/', '-')
  return {
    _rid: rid,
    _self: `${String(container.resource._self)}docs/${rid}/`,
    _etag: etag,
    _attachments: 'attachments/',
    _ts: ts,
  }
}

function expiryMs(nowMs: number, ttlS: number | undefined, defaultTtlS: number | undefined): number | null {
  const seconds = defaultTtlS === undefined ? -1 : (ttlS ?? defaultTtlS)
  return seconds === -1 ? null : nowMs + seconds * 1000
}
