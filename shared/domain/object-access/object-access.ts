import type { Caller, Role } from '../../kernel/caller.ts'
import type { CoreObject } from '../core/core-object.ts'
import type { RowSnapshot } from '../tenant-index/row-snapshot.ts'
import type { ColdTenantAccess } from './visible-by-references.ts'
import { visibleByLinks } from './visible-by-references.ts'
import { type VisibleObjects, visibleObjects } from './visible-objects.ts'

/**
 * The core identity that stands for a caller's directory account; the one with the lowest id if there are several. Rows
 * in memory tell it; where there are none, one question to the database does, rather than all of them being loaded.
 * @param freshRows a tenant's rows with everything that was written before the call.
 */
export async function ownIdentity(
  { tenantId, objectId }: Pick<Caller, 'tenantId' | 'objectId'>,
  freshRows: (tenantId: string) => Promise<RowSnapshot>,
  { holds, links }: Pick<ColdTenantAccess, 'holds' | 'links'>,
): Promise<string | undefined> {
  if (holds(tenantId)) return (await freshRows(tenantId)).identityOfAccount(objectId)
  const [lowest] = await links.identitiesOfAccount(tenantId, objectId)
  return lowest
}

/** What a caller may see of the core objects of the tenant. */
export type ObjectAccess = 'all' | VisibleObjects

/** Who sees all core objects of the tenant: decisions, section 2. */
const SEES_ALL: readonly Role[] = [
  'Administrator',
  'iam-core.synchronization-configuration.read.all',
  'iam-core.synchronization-configuration.readwrite.all',
]

/** Everyone who may read core objects, if only their own. */
export const CORE_OBJECT_READERS: readonly Role[] = ['User', ...SEES_ALL]

/** Calls of a tenant's users after which reading its rows once is cheaper than asking the database each time. */
const CALLS_BEFORE_LOADING_COUNT = 100

/** Callers of a tenant whose sight is kept for the next call. */
const CALLERS_KEPT_COUNT = 100

/** Whether a role of the caller lets it see every object of its tenant. */
export function canSeeAll({ roles }: Caller): boolean {
  return SEES_ALL.some((role) => roles.has(role))
}

/** Whether the object is among what may be seen. */
export function canSee(sight: ObjectAccess, object: CoreObject): boolean {
  return sight === 'all' || sight.has(object)
}

/**
 * Tells callers' sight by the rows in memory. It is worked out once and kept until anything in the tenant changes, or its
 * rows are dropped: the next call of the same person looks it up. Where no rows are in memory, and little may be seen,
 * the database is asked instead: no call of somebody who leads few or nobody waits for a whole tenant to be loaded. A
 * tenant whose users call often is loaded all the same, while they go on.
 */
export class ObjectAccessResolver {
  readonly #freshRows: (tenantId: string) => Promise<RowSnapshot>
  readonly #unloaded: ColdTenantAccess | undefined
  /** How many calls of a tenant the database was asked for. */
  readonly #askedCounts = new Map<string, number>()
  /** By the revision of a tenant's rows, then by account: what is no longer true is no longer found, and goes. */
  readonly #kept = new WeakMap<object, Map<string, VisibleObjects>>()

  /** @param freshRows a tenant's rows with everything that was written before the call. */
  constructor(freshRows: (tenantId: string) => Promise<RowSnapshot>, unloaded?: ColdTenantAccess) {
    this.#freshRows = freshRows
    this.#unloaded = unloaded
  }

  /** What the caller may see of all that was written before this call. */
  async of(caller: Caller): Promise<ObjectAccess> {
    if (canSeeAll(caller)) return 'all'
    const visible = await this.#byLinks(caller)
    return visible ?? this.#visibleTo(caller.objectId, await this.#freshRows(caller.tenantId))
  }

  async #byLinks({ tenantId, objectId }: Caller): Promise<VisibleObjects | undefined> {
    if (this.#unloaded === undefined || this.#unloaded.holds(tenantId)) return undefined
    const { links, load } = this.#unloaded
    const askedCount = (this.#askedCounts.get(tenantId) ?? 0) + 1
    this.#askedCounts.set(tenantId, askedCount % CALLS_BEFORE_LOADING_COUNT)
    if (askedCount === CALLS_BEFORE_LOADING_COUNT) load(tenantId)
    return visibleByLinks(objectId, tenantId, links)
  }

  #visibleTo(account: string, rows: RowSnapshot): VisibleObjects {
    const kept = this.#kept.get(rows.revision) ?? new Map<string, VisibleObjects>()
    this.#kept.set(rows.revision, kept)
    const visible = kept.get(account) ?? visibleObjects(rows.identityOfAccount(account), rows)
    // At the end, where those stand that were asked for last.
    kept.delete(account)
    kept.set(account, visible)
    const [longestUnasked] = kept.keys()
    if (kept.size > CALLERS_KEPT_COUNT && longestUnasked !== undefined) kept.delete(longestUnasked)
    return visible
  }
}
