import type { SnapshotObject } from './apply-objects.ts'

/** More than are written in the seconds that each reading of changes repeats, except in imports: about 50 KB. */
const MAX_VERSIONS_COUNT = 200

/**
 * The versions of the objects that were applied last to the rows of a tenant. Readings repeat the last seconds; what was
 * applied before must not be taken for written again. An object that is forgotten is only applied once more.
 */
export class AppliedVersions {
  readonly #versions = new Map<string, string>()

  /** The objects whose version is not the one that was applied last. */
  newAmong(objects: readonly SnapshotObject[]): readonly SnapshotObject[] {
    if (this.#versions.size === 0) return objects
    return objects.filter(({ id, version }) => version === undefined || this.#versions.get(id) !== version)
  }

  add(objects: readonly SnapshotObject[]): void {
    for (const { id, version } of objects) {
      this.#versions.delete(id)
      if (version !== undefined) this.#versions.set(id, version)
    }
    for (const id of this.#versions.keys()) {
      if (this.#versions.size <= MAX_VERSIONS_COUNT) break
      this.#versions.delete(id)
    }
  }
}
