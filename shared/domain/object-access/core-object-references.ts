import type { ObjectType } from '../core/core-object.ts'

/** A relationship's two ends, as far as it names them. */
export type Position = { readonly id: string; readonly identityId?: string; readonly orgUnitId?: string }

/** How a tenant's live core objects hang together: what their references say, read one question at a time. */
export interface CoreObjectReferences {
  /** The identities that have a directory account, whatever its case; ascending. */
  identitiesOfAccount(tenantId: string, account: string): Promise<string[]>
  /** The org units that an identity manages or is deputy of, at most `limitCount`. */
  unitsLedBy(tenantId: string, identityId: string, limitCount: number): Promise<string[]>
  /** The org units directly below some, at most `limitCount`. */
  unitsBelow(tenantId: string, orgUnitIds: readonly string[], limitCount: number): Promise<string[]>
  /** The relationships that one of these objects has, at most `limitCount`. */
  positionsOf(
    tenantId: string,
    end: 'identity' | 'orgUnit',
    ids: readonly string[],
    limitCount: number,
  ): Promise<Position[]>
  /** Those of the ids that are there, by type. */
  existing(
    tenantId: string,
    ids: readonly string[],
  ): Promise<{ readonly id: string; readonly objectType: ObjectType }[]>
}

/** What answers for a tenant while its rows are not in memory, without loading them. */
export type ColdTenantAccess = {
  /** Whether the tenant's rows are in memory. */
  readonly holds: (tenantId: string) => boolean
  /** Begins to read them into memory, and does not wait. */
  readonly load: (tenantId: string) => void
  readonly links: CoreObjectReferences
}
