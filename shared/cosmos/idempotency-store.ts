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
import { deletionOf, isWriteConflict, readDocument, savedVersion, writeTogether } from './documents.ts'

/** The document's id is derived from the key. The key itself is not stored, because its content is up to the caller. */
export type IdempotencyDocument = Omit<IdempotencyRecord, 'key'> & { readonly id: string; readonly ttl: number }

const parse = documentParser('idempotency record', StoredIdempotencyRecord)

/** Container `idempotencyKeys`, partition key `/tenantId`. The derived id lets one of two concurrent adds succeed. */
export function cosmosIdempotencyStore(container: Container): IdempotencyStore {
  return {
    async find(name) {
      const document = await readDocument<IdempotencyDocument>(container, documentId(name), name.tenantId)
      return document && { value: { ...parse(document), key: name.key }, version: document._etag }
    },
    add: (record) => savedVersion(container, record.tenantId, documentOf(record), undefined),
    replace: (record, version) => savedVersion(container, record.tenantId, documentOf(record), version),
    async remove(record, version) {
      const removal = [deletionOf(documentId(record), version)]
      const failed = await writeTogether(container, record.tenantId, removal)
      if (failed !== undefined && !isWriteConflict(failed.status)) {
        throw new Error(`Removing an idempotency record failed with status ${failed.status}`)
      }
      return failed === undefined
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
