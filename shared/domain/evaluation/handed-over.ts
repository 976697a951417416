import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { compiledTask, type LiveDependencies, liveContext } from '../collections/live-members.ts'
import { ACCOUNT_CHANGE_DELAY_MS } from '../core/core-object-store.ts'
import { evaluationTask } from '../criteria/evaluate.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

type HandedOverDependencies = LiveDependencies & Pick<CollectionDependencies, 'accountChanges'>

const NONE: ReadonlySet<string> = new Set()

/**
 * The positions among stored members whose holder may have changed since their evaluation, and that do not satisfy the
 * condition on these rows: only the former holder was evaluated.
 */
export async function handedOver(
  collection: Collection,
  { ids, evaluatedAtMs }: { readonly ids: readonly string[]; readonly evaluatedAtMs: number },
  rows: RowSnapshot,
  deps: HandedOverDependencies,
): Promise<ReadonlySet<string>> {
  if (collection.kind !== 'criteria' || collection.objectType !== 'Relationship') return NONE
  // A position that cannot be tested counts as left out: a collection whose condition is invalid keeps its members.
  const satisfying = await positionsSatisfying(collection, rows, deps).catch(() => NONE)
  const others = ids.filter((id) => !satisfying.has(id))
  const sinceMs = evaluatedAtMs - ACCOUNT_CHANGE_DELAY_MS
  const changes = await deps.accountChanges.amongSince(collection.tenantId, others, sinceMs)
  return new Set(changes.map(({ id }) => id))
}

async function positionsSatisfying(
  collection: Collection,
  rows: RowSnapshot,
  deps: LiveDependencies,
): Promise<ReadonlySet<string>> {
  const { tenantId, refersTo } = collection
  const condition = await deps.scheduler.run(compiledTask(collection, rows.settings.types))
  const context = await liveContext(tenantId, refersTo, rows, deps)
  const task = evaluationTask(condition, rows, 'Relationship', context)
  return new Set(await deps.snapshots.reading(rows, task))
}
