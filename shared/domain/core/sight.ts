import type { Caller, Role } from '../caller.ts'
import type { RowSnapshot } from '../criteria/row-snapshot.ts'
import type { CoreObject } from './core-object.ts'
import { type VisibleObjects, visibleObjects } from './visible-objects.ts'

/** What a caller may see of the core objects of the tenant. */
export type Sight = 'all' | VisibleObjects

/** Who sees all core objects of the tenant: decisions, section 2. */
const SEES_ALL: readonly Role[] = [
  'Administrator',
  'iam-core.synchronization-configuration.read.all',
  'iam-core.synchronization-configuration.readwrite.all',
]

/** Everyone who may read core objects, if only their own. */
export const CORE_OBJECT_READERS: readonly Role[] = ['User', ...SEES_ALL]

/** Callers of a tenant whose sight is kept for the next call. */
const CALLERS_KEPT_COUNT = 100

export function seesAll({ roles }: Caller): boolean {
  return SEES_ALL.some((role) => roles.has(role))
}

/** Whether the object is among what may be seen. */
export function isSeen(sight: Sight, object: CoreObject): boolean {
  return sight === 'all' || sight.has(object)
}

/**
 * Tells callers' sight by the rows in memory. It is worked out once and kept until anything in the tenant changes, or its
 * rows are dropped: the next call of the same person looks it up.
 */
export class Sights {
  readonly #freshRows: (tenantId: string) => Promise<RowSnapshot>
  /** By the revision of a tenant's rows, then by account: what is no longer true is no longer found, and goes. */
  readonly #kept = new WeakMap<object, Map<string, VisibleObjects>>()

  /** @param freshRows a tenant's rows with everything that was written before the call. */
  constructor(freshRows: (tenantId: string) => Promise<RowSnapshot>) {
    this.#freshRows = freshRows
  }

  /** What the caller may see of all that was written before this call. */
  async of(caller: Caller): Promise<Sight> {
    return seesAll(caller) ? 'all' : this.#visibleTo(caller.objectId, await this.#freshRows(caller.tenantId))
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
