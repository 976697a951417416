import { LRUCache } from 'lru-cache'
import type { Caller, Role } from '../../kernel/caller.ts'
import type { CoreObject } from '../core/core-object.ts'
import { dayOn, type RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { ColdTenantAccess } from './visible-by-references.ts'
import { visibleByReferences } from './visible-by-references.ts'
import { type VisibleObjects, visibleObjects } from './visible-objects.ts'

/**
 * The core identity of a caller's directory account; the one with the lowest id if there are several. For a tenant
 * whose rows are not in memory it asks the database with one query and does not load them.
 * @param freshRows A tenant's rows with everything that was written before the call.
 */
export async function ownIdentity(
  { tenantId, objectId }: Pick<Caller, 'tenantId' | 'objectId'>,
  freshRows: (tenantId: string) => Promise<RowSnapshot>,
  { holds, references }: Pick<ColdTenantAccess, 'holds' | 'references'>,
): Promise<string | undefined> {
  if (holds(tenantId)) return (await freshRows(tenantId)).identityOfAccount(objectId)
  const [lowest] = await references.identitiesOfAccount(tenantId, objectId)
  return lowest
}

/** The core objects of a tenant that a caller may read. */
export type ObjectAccess = 'all' | VisibleObjects

/** Roles that may read all core objects of the tenant. */
export const FULL_ACCESS_ROLES: readonly Role[] = [
  'Administrator',
  'iam-core.synchronization-configuration.read.all',
  'iam-core.synchronization-configuration.readwrite.all',
]

/** Roles that may read core objects, if only their own. */
export const CORE_OBJECT_READERS: readonly Role[] = ['User', ...FULL_ACCESS_ROLES]

/** Calls of a tenant's users after which loading its rows costs less than asking the database each time. */
const CALLS_BEFORE_LOADING_COUNT = 100

/** Callers of a tenant whose access is cached. */
const CALLERS_CACHED_COUNT = 100

export function hasFullAccess({ roles }: Caller): boolean {
  return FULL_ACCESS_ROLES.some((role) => roles.has(role))
}

export function canRead(access: ObjectAccess, object: CoreObject): boolean {
  return access === 'all' || access.has(object)
}

/**
 * Resolves the object access of callers. It computes the access from the tenant's rows and caches it until these change
 * or are evicted. For a tenant whose rows are not in memory it asks the database, unless the caller may read very many
 * objects: a call never waits for a whole tenant to be loaded for the sake of a few objects. After many such calls it
 * loads the rows in the background.
 */
export class ObjectAccessResolver {
  readonly #freshRows: (tenantId: string) => Promise<RowSnapshot>
  readonly #nowMs: () => number
  readonly #coldAccess: ColdTenantAccess | undefined
  /** By tenant, how many calls were answered by the database. */
  readonly #coldCallCounts = new Map<string, number>()
  /**
   * By the revision of a tenant's rows, then by day and account: positions end with a day. Entries of former revisions
   * are garbage collected.
   */
  readonly #cached = new WeakMap<object, LRUCache<string, VisibleObjects>>()

  /** @param freshRows A tenant's rows with everything that was written before the call. */
  constructor(
    freshRows: (tenantId: string) => Promise<RowSnapshot>,
    nowMs: () => number,
    coldAccess?: ColdTenantAccess,
  ) {
    this.#freshRows = freshRows
    this.#nowMs = nowMs
    this.#coldAccess = coldAccess
  }

  /** The caller's access, with everything that was written before this call. */
  async of(caller: Caller): Promise<ObjectAccess> {
    if (hasFullAccess(caller)) return 'all'
    const visible = await this.#byReferences(caller)
    return visible ?? this.#byRows(caller.objectId, await this.#freshRows(caller.tenantId))
  }

  async #byReferences({ tenantId, objectId }: Caller): Promise<VisibleObjects | undefined> {
    if (this.#coldAccess === undefined || this.#coldAccess.holds(tenantId)) return undefined
    const { references, settings, load } = this.#coldAccess
    const callCount = (this.#coldCallCounts.get(tenantId) ?? 0) + 1
    this.#coldCallCounts.set(tenantId, callCount % CALLS_BEFORE_LOADING_COUNT)
    if (callCount === CALLS_BEFORE_LOADING_COUNT) load(tenantId)
    return visibleByReferences(objectId, tenantId, { references, settings }, this.#nowMs())
  }

  #byRows(account: string, rows: RowSnapshot): VisibleObjects {
    const cached =
      this.#cached.get(rows.revision) ?? new LRUCache<string, VisibleObjects>({ max: CALLERS_CACHED_COUNT })
    this.#cached.set(rows.revision, cached)
    const nowMs = this.#nowMs()
    const key = `${dayOn(rows, nowMs)} ${account}`
    const visible = cached.get(key) ?? visibleObjects(rows.identityOfAccount(account), rows, nowMs)
    cached.set(key, visible)
    return visible
  }
}
