import type { Versioned } from '../versioned.ts'
import type { KeyedRequest, KeyRecord } from './idempotency-key.ts'

/** Seconds. So long is a key remembered after its record was last written. */
export const KEY_KEPT_S = 24 * 60 * 60

/** What is known of keys. A record is gone `KEY_KEPT_S` after its last write. */
export interface IdempotencyKeyStore {
  find(name: Pick<KeyedRequest, 'tenantId' | 'callerId' | 'key'>): Promise<Versioned<KeyRecord> | undefined>
  /** @returns The version of the new record; undefined when there is one of this key already. */
  add(record: KeyRecord): Promise<string | undefined>
  /** @returns The new version; undefined when `version` is no longer current. */
  replace(record: KeyRecord, version: string): Promise<string | undefined>
  /** @returns Whether it was removed: not when `version` is no longer current. */
  remove(record: KeyRecord, version: string): Promise<boolean>
}
