import { OBJECT_TYPES, type ObjectType } from '../../core/core-object.ts'
import type { SnapshotChange } from './snapshot-change.ts'

/** The changes of rows; `everything` when they are not known in detail. */
export type RowChanges = 'everything' | KnownChanges

export type KnownChanges = {
  /** The objects whose membership may have changed. */
  readonly ids: Readonly<Record<ObjectType, ReadonlySet<string>>>
  /** Of these, the ones with other stored values in their rows. */
  readonly rewritten: Readonly<Record<ObjectType, ReadonlySet<string>>>
  /** Schema names of the attributes whose values changed. */
  readonly attributes: ReadonlySet<string>
  /** Whether rows were added, removed or composed differently, which can affect any condition. */
  readonly rowsMoved: boolean
  /** Whether an object was written that had been deleted before. */
  readonly isAnyRestored: boolean
}

/** Changes collected between two calls of `takeChanges`. */
export class CollectingChanges implements KnownChanges {
  readonly ids = { identity: new Set<string>(), orgUnit: new Set<string>(), relationship: new Set<string>() }
  readonly rewritten = { identity: new Set<string>(), orgUnit: new Set<string>(), relationship: new Set<string>() }
  readonly attributes = new Set<string>()
  rowsMoved = false
  isAnyRestored = false

  get count(): number {
    return OBJECT_TYPES.reduce((sum, type) => sum + this.ids[type].size, 0)
  }

  add({ changed, rewritten, attributes, rowsMoved, isAnyRestored }: SnapshotChange): void {
    for (const objectType of OBJECT_TYPES) {
      for (const id of changed[objectType]) this.ids[objectType].add(id)
      for (const id of rewritten[objectType]) this.rewritten[objectType].add(id)
    }
    for (const attribute of attributes) this.attributes.add(attribute)
    this.rowsMoved ||= rowsMoved
    this.isAnyRestored ||= isAnyRestored
  }
}
