import type { Task } from '../../kernel/cooperative-scheduler.ts'
import type { Collection, CriteriaObjectType } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { OBJECT_TYPES, type ObjectType } from '../core/core-object.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { ROW_PLACE } from '../criteria/compile.ts'
import type { HistoryRange, MemberChangeCause, MemberEvent } from '../history/member-history.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'

/** Causes that are the act of a person or an application, who may be kept from approving what follows from it. */
export const ACTS: ReadonlySet<MemberChangeCause> = new Set(['DefinitionChanged', 'Direct'])

/** A collection is evaluated within this time after a change of one that it refers to, at the latest by a sweep. */
const EVALUATED_WITHIN_MS = 60 * 60 * 1000

/** The clocks of two instances differ by less. */
const CLOCK_DIFFERENCE_MS = 5 * 60 * 1000

/** Removals from a collection that the members of referenced collections have caused. */
type CausedRemovals = {
  readonly collection: Pick<Collection, 'id' | 'tenantId' | 'objectType' | 'refersTo'>
  readonly events: readonly MemberEvent[]
}

type ActDependencies = Pick<CollectionDependencies, 'collections' | 'history' | 'snapshots'>

/**
 * Who has caused removals by acts in the referenced collections, or in those that these refer to: the last change before
 * a removal of the removed object, or of another one on its rows.
 * @param path The collections whose removals are followed.
 */
export async function referencedActors(
  { collection, events }: CausedRemovals,
  rows: RowSnapshot,
  deps: ActDependencies,
  path: readonly string[] = [collection.id],
): Promise<ReadonlySet<string>> {
  const actorIds = new Set<string>()
  if (events.length === 0) return actorIds
  const { tenantId, objectType, refersTo } = collection
  const ofType = CORE_TYPE[objectType as CriteriaObjectType]
  const timesMs = await deps.snapshots.reading(rows, timesOfObjects(events, ofType, rows))
  for (const id of refersTo) {
    const referenced = (await deps.collections.find(tenantId, id))?.value
    if (referenced === undefined || path.includes(id)) continue
    const caused: MemberEvent[] = []
    const isBehind = changesBehind(timesMs)
    for await (const page of deps.history[referenced.kind].newestFirst(tenantId, id, rangeOf(events))) {
      for (const event of page) {
        if (!isBehind(event)) continue
        if (ACTS.has(event.cause)) actorIds.add(event.actorId)
        if (event.cause === 'DefinitionChanged') actorIds.add(referenced.definedBy)
        if (event.cause === 'ReferencedCollection') caused.push(event)
      }
    }
    const further = await referencedActors({ collection: referenced, events: caused }, rows, deps, [...path, id])
    for (const actorId of further) actorIds.add(actorId)
  }
  return actorIds
}

/**
 * Whether an event can be behind a removal, asked for events of one collection, newest first: the last one before the
 * removal, and those that another clock has dated after it.
 */
export function changesBehind(
  timesMs: ReadonlyMap<string, ReadonlySet<number>>,
): (event: Pick<MemberEvent, 'objectId' | 'atMs'>) => boolean {
  const found = new Set<string>()
  return ({ objectId, atMs }) => {
    let isBehind = false
    for (const removedAtMs of timesMs.get(objectId) ?? []) {
      const removal = `${objectId} ${removedAtMs}`
      if (found.has(removal) || atMs > removedAtMs + CLOCK_DIFFERENCE_MS) continue
      if (atMs <= removedAtMs) found.add(removal)
      if (atMs >= removedAtMs - EVALUATED_WITHIN_MS) isBehind = true
    }
    return isBehind
  }
}

function rangeOf(events: readonly MemberEvent[]): HistoryRange {
  const times = events.map(({ atMs }) => atMs)
  const firstMs = times.reduce((left, right) => Math.min(left, right))
  const lastMs = times.reduce((left, right) => Math.max(left, right))
  return { fromMs: firstMs - EVALUATED_WITHIN_MS, toMs: lastMs + CLOCK_DIFFERENCE_MS + 1 }
}

/** Takes a millisecond. */
const EVENTS_PER_STEP_COUNT = 500

/** By the objects whose changes can have caused the removal of others, the times of these removals. */
function* timesOfObjects(
  events: readonly MemberEvent[],
  objectType: ObjectType,
  rows: RowSnapshot,
): Task<ReadonlyMap<string, ReadonlySet<number>>> {
  const times = new Map<string, Set<number>>()
  for (const [index, { objectId, atMs }] of events.entries()) {
    if (index % EVENTS_PER_STEP_COUNT === 0) yield
    for (const id of idsBeside(objectType, objectId, rows)) times.set(id, (times.get(id) ?? new Set()).add(atMs))
  }
  return times
}

/** The ids on the rows of an object, and on the other rows of the people there: a condition can test any position. */
function idsBeside(objectType: ObjectType, id: string, rows: RowSnapshot): ReadonlySet<string> {
  const ids = new Set([id])
  for (const own of rows.rowsOf(objectType, id)) {
    const [identity] = own
    const all = identity === 0 ? [own] : rows.rowsOf('identity', rows.tables.identity.ids.idOf(identity))
    for (const row of all) {
      for (const type of OBJECT_TYPES) {
        const slot = row[ROW_PLACE[type]] ?? 0
        if (slot !== 0) ids.add(rows.tables[type].ids.idOf(slot))
      }
    }
  }
  return ids
}
