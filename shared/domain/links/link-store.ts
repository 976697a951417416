import type { Versioned } from '../versioned.ts'
import type { LinkRecord } from './group-link.ts'

/** Where links are kept. */
export interface LinkStore {
  find(tenantId: string, linkId: string): Promise<Versioned<LinkRecord> | undefined>
  /** The same, no older than what any instance had written before the call: a lease may have gone to another one. */
  findCurrent(tenantId: string, linkId: string): Promise<Versioned<LinkRecord> | undefined>
  /** The links that a collection feeds, oldest first. */
  ofCollection(tenantId: string, collectionId: string): Promise<Versioned<LinkRecord>[]>
  ofGroup(tenantId: string, directoryGroupId: string): Promise<Versioned<LinkRecord> | undefined>
  ofTenant(tenantId: string): Promise<Versioned<LinkRecord>[]>
  /** @throws Refusal `GroupAlreadyLinked` when the group has a link, also when two creates race. */
  add(link: LinkRecord): Promise<Versioned<LinkRecord>>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `LinkNotFound` when there is none. */
  replace(link: LinkRecord, version: string): Promise<Versioned<LinkRecord>>
  /** @throws Refusal `StaleVersion`, `LinkNotFound`, as `replace`. */
  remove(tenantId: string, linkId: string, version: string): Promise<void>
}
