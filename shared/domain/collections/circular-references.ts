import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { groupsReadBy } from '../criteria/condition.ts'
import { findCycle } from '../criteria/evaluation-order.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

export type CircleDependencies = Pick<CollectionDependencies, 'collections' | 'links' | 'scheduler'>

/** The part of a criteria collection on which its members depend. */
type Dependent = Pick<Collection, 'id' | 'refersTo' | 'definition'>

/**
 * The circle of collections that a new definition would close: its ids, the changed one first and last. A criteria
 * collection depends on those that its condition refers to, and on those that fill a group whose members it reads. The
 * members of a joinable collection depend on no condition.
 */
export async function findCircle(
  tenantId: string,
  changed: Dependent,
  deps: CircleDependencies,
): Promise<string[] | undefined> {
  if (changed.refersTo.length === 0 && groupsReadBy(changed.definition).length === 0) return undefined
  const others = await deps.collections.list(tenantId, 'criteria')
  const referencesOf = await dependencies(tenantId, [...others, changed], deps)
  return findCycle(changed.id, referencesOf(changed.id), referencesOf)
}

/** The circle that a link would close: of a collection to a group whose members a condition reads. */
export async function findCircleOfLink(
  { tenantId, collectionId, directoryGroupId }: LinkToCheck,
  deps: CircleDependencies,
): Promise<string[] | undefined> {
  const collections = await deps.collections.list(tenantId, 'criteria')
  const readers = (await deps.scheduler.run(readersTask(collections))).get(directoryGroupId.toLowerCase()) ?? []
  if (readers.length === 0) return undefined
  const stored = await dependencies(tenantId, collections, deps)
  const referencesOf = (id: string) => [...stored(id), ...(readers.includes(id) ? [collectionId] : [])]
  return findCycle(collectionId, referencesOf(collectionId), referencesOf)
}

type LinkToCheck = { readonly tenantId: string; readonly collectionId: string; readonly directoryGroupId: string }

/** The collections that each one depends on directly. Of two with the same id, the later one counts. */
async function dependencies(
  tenantId: string,
  collections: readonly Dependent[],
  { links, scheduler }: CircleDependencies,
): Promise<(id: string) => readonly string[]> {
  const references = new Map(collections.map(({ id, refersTo }) => [id, [...refersTo]]))
  const current = [...new Map(collections.map((collection) => [collection.id, collection])).values()]
  const readers = await scheduler.run(readersTask(current))
  for (const [groupId, collectionId] of await links.collectionsFilling(tenantId, [...readers.keys()])) {
    for (const reader of readers.get(groupId) ?? []) references.get(reader)?.push(collectionId)
  }
  return (id) => references.get(id) ?? []
}

/** The ids of the collections that read each group. */
function* readersTask(collections: readonly Dependent[]): Task<Map<string, string[]>> {
  const readers = new Map<string, string[]>()
  for (const { id, definition } of collections) {
    yield
    for (const groupId of groupsReadBy(definition)) {
      const known = readers.get(groupId)
      if (known === undefined) readers.set(groupId, [id])
      else known.push(id)
    }
  }
  return readers
}
