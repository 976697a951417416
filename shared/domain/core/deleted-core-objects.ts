import type { CoreObject } from './core-object.ts'

/** Core objects that are soft-deleted, as they were last. */
export interface DeletedCoreObjects {
  /** Those of the ids that are soft-deleted and still remembered, in any order. */
  ofIds(tenantId: string, ids: readonly string[]): Promise<CoreObject[]>
}
