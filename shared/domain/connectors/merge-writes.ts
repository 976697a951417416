import type { Versioned } from '../../kernel/versioned.ts'
import type { Reference } from '../core/core-object.ts'
import type { AccountClaimReader } from './account-claims.ts'
import type { MergedCoreObject } from './merged-core-object.ts'

/**
 * A write of a core object, with the version it replaces; without one it must be new. A deleted object is kept for `keptS`
 * from now, as long as one of its sources can be restored, and at least for the days of the write.
 */
export type CoreObjectWrite = {
  readonly object: MergedCoreObject
  readonly version: string | undefined
  readonly keptS?: number
}

/** The core objects of each tenant, as the connectors' writes see them. */
export interface CoreObjectWriter extends AccountClaimReader {
  /** Returns the ids of the next `size` live objects, in ascending order. */
  liveIds(tenantId: string, after: string | undefined, size: number): Promise<string[]>
  /** Returns the objects that exist, soft-deleted ones included. */
  mergedOfIds(tenantId: string, ids: readonly string[]): Promise<Versioned<MergedCoreObject>[]>
  /**
   * Writes all objects on the condition of the quoted versions.
   * @param softDeletionDays Days for which deleted objects are kept at least.
   * @returns The ids of the objects that were not written because they, or objects of the same transaction, had
   * changed.
   */
  write(tenantId: string, writes: readonly CoreObjectWrite[], softDeletionDays: number): Promise<ReadonlySet<string>>
}

/** A write that is due, with the object that it replaces. */
export type DueWrite = CoreObjectWrite & { readonly before: MergedCoreObject | undefined }

/** Writes of one transaction at most. Cosmos accepts no more operations. */
const WRITES_TOGETHER_COUNT = 100

/**
 * Writes core objects. An identity that was merged into another is deleted together with the references to it: an
 * evaluation between the two would remove the person's account from groups. Other objects with a stub are written last.
 * @param hasStub Whether an object has a stub.
 * @returns The ids of the objects that were not written.
 */
export async function writeMerged(
  tenantId: string,
  due: readonly DueWrite[],
  hasStub: (id: string) => boolean,
  write: (tenantId: string, writes: readonly DueWrite[]) => Promise<ReadonlySet<string>>,
): Promise<ReadonlySet<string>> {
  const conflicts = new Set<string>()
  const pending = new Set(due)
  for (const mergedAway of due.filter(({ object }) => object.deleted && object.mergedInto !== undefined)) {
    const referring = [...pending].filter(({ object, before }) => !hasStub(object.id) && refersTo(before, mergedAway))
    if (referring.length >= WRITES_TOGETHER_COUNT) continue
    const together = [...referring, mergedAway]
    for (const object of together) pending.delete(object)
    for (const id of await write(tenantId, together)) conflicts.add(id)
  }
  const { own = [], referring = [] } = Object.groupBy(pending, ({ object }) =>
    hasStub(object.id) ? 'own' : 'referring',
  )
  const referringConflicts = await write(tenantId, referring)
  for (const id of referringConflicts) conflicts.add(id)
  const isComplete = referringConflicts.size === 0
  const ownConflicts = isComplete ? await write(tenantId, own) : own.map(({ object }) => object.id)
  for (const id of ownConflicts) conflicts.add(id)
  return conflicts
}

function refersTo(object: MergedCoreObject | undefined, { object: { id } }: DueWrite): boolean {
  if (object === undefined) return false
  return Object.values(object.attributes).some((value) =>
    [value].flat().some((reference) => (reference as Partial<Reference>).objectId === id),
  )
}
