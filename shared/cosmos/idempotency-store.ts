import type { Container } from '@azure/cosmos'
import type { IdempotencyRecord, IdempotentRequest } from '../domain/idempotency/idempotency-record.ts'
import { type IdempotencyStore, RECORD_TTL_S } from '../domain/idempotency/idempotency-record.ts'
import { derivedId } from './derived-id.ts'
import { ifVersion, readDocument, statusOf } from './documents.ts'

/** The key is known by what its document is called: what a caller chose is kept nowhere. */
type KeyDocument = Omit<IdempotencyRecord, 'key'> & { readonly id: string; readonly ttl: number }

/** Container `idempotencyKeys`, partition key `/tenantId`. Of two that add one key, the document's id lets one win. */
export function cosmosIdempotencyStore(container: Container): IdempotencyStore {
  return {
    async find(name) {
      const document = await readDocument<KeyDocument>(container, documentId(name), name.tenantId)
      if (document === undefined) return undefined
      const { tenantId, callerId, fingerprint, seed, claimedUntilMs, answer } = document
      const value = { tenantId, callerId, key: name.key, fingerprint, seed, claimedUntilMs, answer }
      return { value, version: document._etag }
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

function documentOf(record: IdempotencyRecord): KeyDocument {
  const { key, ...kept } = record
  return { id: documentId(record), ...kept, ttl: RECORD_TTL_S }
}

/** The version that a write has made; undefined when it was refused with one of these statuses. */
function versionUnless(statuses: readonly number[], write: () => Promise<{ etag: string }>) {
  return write().then(({ etag }) => etag, unless(statuses, undefined))
}

function unless<T>(statuses: readonly number[], instead: T): (error: unknown) => T {
  return (error) => {
    if (statuses.includes(statusOf(error) ?? 0)) return instead
    throw error
  }
}
