import type { Page, Versioned } from '../../kernel/versioned.ts'
import type { AuditRecord } from '../history/audit.ts'
import type { GroupLink, SyncOutcome } from './group-link.ts'
import type { LinkSettings } from './link-settings.ts'
import type { SyncState } from './sync-state.ts'

/** What links must have. Undefined: any value. */
export type LinkFilter = Partial<
  Pick<GroupLink, 'collectionId' | 'directoryGroupId' | 'state'> & {
    readonly lastSyncOutcome: SyncOutcome
    /** Whether the removal guard holds removals of the link. */
    readonly held: boolean
    readonly syncState: SyncState
    readonly needsAttention: boolean
  }
>

/** A link with the settings of its tenant. */
type LinkWithSettings = Versioned<GroupLink> & { readonly settings: LinkSettings }

/** Stored group links. */
export interface LinkStore {
  find(tenantId: string, linkId: string): Promise<Versioned<GroupLink> | undefined>
  /** As `find`. The tenant's settings are read in the same request. */
  findWithSettings(tenantId: string, linkId: string): Promise<LinkWithSettings | undefined>
  /** The links of a collection, oldest first. */
  ofCollection(tenantId: string, collectionId: string): Promise<Versioned<GroupLink>[]>
  ofGroup(tenantId: string, directoryGroupId: string): Promise<Versioned<GroupLink> | undefined>
  ofTenant(tenantId: string): Promise<Versioned<GroupLink>[]>
  /**
   * Adds a link, which takes over what the group's former link has left: see `FormerLink`.
   * @param audit Written in the same transaction.
   * @returns The link as added.
   * @throws Refusal `GroupAlreadyLinked` when the group has a link, also when two creates race.
   */
  add(link: GroupLink, audit?: AuditRecord): Promise<Versioned<GroupLink>>
  /**
   * @param audit Written in the same transaction.
   * @param before The link as read with `version`, if the change may be one that events tell of.
   * @throws Refusal `StaleVersion` when `version` is no longer current, `LinkNotFound` when the link was deleted.
   */
  replace(link: GroupLink, version: string, audit?: AuditRecord, before?: GroupLink): Promise<Versioned<GroupLink>>
  /**
   * Removes a link as read with `version`, and leaves its `FormerLink` to the group's next link in the same transaction.
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion`, `LinkNotFound`, as `replace`.
   */
  remove(link: GroupLink, version: string, audit?: AuditRecord): Promise<void>
}

/** The group links of a tenant, read together. */
export interface LinkLists {
  /** A page of the links that match the filter, oldest first. */
  page(tenantId: string, filter: LinkFilter, after: string | undefined, size: number): Promise<Page<GroupLink>>
  /** The enabled links that need attention, and links whose removals are held. */
  attention(tenantId: string): Promise<readonly { readonly syncState: SyncState; readonly isHeld: boolean }[]>
  /** The links of these collections, oldest first. */
  ofCollections(tenantId: string, collectionIds: readonly string[]): Promise<GroupLink[]>
  /** The links of these groups, in any order. */
  ofGroups(tenantId: string, directoryGroupIds: readonly string[]): Promise<GroupLink[]>
  /** The collection of each link: of those of one collection, or of all of the tenant. In any order. */
  linkedCollectionIds(tenantId: string, collectionId?: string): Promise<readonly string[]>
  /** The number of links of a tenant. */
  count(tenantId: string): Promise<number>
}
