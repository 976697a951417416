import type { Container } from '@azure/cosmos'
import {
  type IdempotencyRecord,
  type IdempotencyStore,
  type IdempotentRequest,
  RECORD_TTL_S,
  StoredIdempotencyRecord,
} from '../domain/idempotency/idempotency-record.ts'
import { derivedId } from './derived-id.ts'
import { documentParser } from './document-parser.ts'
import { ifVersion, readDocument, statusOf } from './documents.ts'

/** The document's id is derived from the key. The key itself is not stored, because its content is up to the caller. */
type IdempotencyDocument = Omit<IdempotencyRecord, 'key'> & { readonly id: string; readonly ttl: number }

const parse = documentParser<Omit<IdempotencyRecord, 'key'>>('idempotency record', StoredIdempotencyRecord)

/** Container `idempotencyKeys`, partition key `/tenantId`. The derived id lets one of two concurrent adds succeed. */
export function cosmosIdempotencyStore(container: Container): IdempotencyStore {
  return {
    async find(name) {
      const document = await readDocument<IdempotencyDocument>(container, documentId(name), name.tenantId)
      return document && { value: { ...parse(document), key: name.key }, version: document._etag }
    },
    add: (record) => versionUnless([409], () => container.items.create(documentOf(record))),
    replace: (record, version) =>
      versionUnless([404, 412], () =>
        container.item(documentId(record), record.tenantId).replace(documentOf(record), ifVersion(version)),
      ),
    async remove(record, version) {
      const removal = container.item(documentId(record), record.tenantId).delete(ifVersion(version))
      return removal.then(() => true, unless([404, 412], false))
    },
  }
}

function documentId({ callerId, key }: Pick<IdempotentRequest, 'callerId' | 'key'>): string {
  return derivedId(callerId, key)
}

function documentOf(record: IdempotencyRecord): IdempotencyDocument {
  const { key: _key, ...stored } = record
  return { id: documentId(record), ...stored, ttl: RECORD_TTL_S }
}

/** The version after a write; undefined when the write fails with one of these statuses. */
function versionUnless(statuses: readonly number[], write: () => Promise<{ etag: string }>) {
  return write().then(({ etag }) => etag, unless(statuses, undefined))
}

function unless<T>(statuses: readonly number[], instead: T): (error: unknown) => T {
  return (error) => {
    if (statuses.includes(statusOf(error) ?? 0)) return instead
    throw error
  }
}
