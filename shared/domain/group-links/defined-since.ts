import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import type { Collection } from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import type { AuditRecord, AuditTrail } from '../history/audit.ts'

/**
 * Records of the audit that are read of a collection, the newest. If all of them were made since and are of something
 * else, the definition counts as changed since.
 */
const MAX_RECORDS_COUNT = 20

/** A search for the last change of the definitions that decide the members of a collection. */
export type DefinitionSearch = {
  readonly tenantId: string
  readonly collectionId: string
  /** See `actorIdOf`. */
  readonly actorIds: readonly string[]
  readonly sinceMs: number
}

export type DefinitionDependencies = Pick<CollectionDependencies, 'collections'> & { readonly auditTrail: AuditTrail }

/**
 * Whether one of these actors made the last change of the definition of a collection, or of one that its members depend
 * on, since a time. A change that adds and removes no member is in the audit only. The audit is read of collections that
 * were saved since, and whose definition is by one of the actors, or by the service, which puts merged identities into
 * the definition of a person.
 */
export async function hasDefinedSince(
  { tenantId, collectionId, actorIds, sinceMs }: DefinitionSearch,
  { collections, auditTrail }: DefinitionDependencies,
): Promise<boolean> {
  for (const { id, definedBy, updatedAtMs } of reachable(collectionId, await collections.list(tenantId))) {
    if (updatedAtMs < sinceMs || ![...actorIds, SYSTEM_ACTOR].includes(definedBy)) continue
    const { items } = await auditTrail.page(tenantId, id, undefined, MAX_RECORDS_COUNT)
    const newer = items.filter(({ at }) => Date.parse(at) >= sinceMs)
    const last = newer.find(isDefinedByPerson)
    if (last === undefined ? newer.length === MAX_RECORDS_COUNT : actorIds.includes(last.actorId)) return true
  }
  return false
}

function isDefinedByPerson({ actorId, after }: AuditRecord): boolean {
  return actorId !== SYSTEM_ACTOR && ('condition' in after || 'joinPolicy' in after)
}

/** The collection, and those that its condition refers to, directly or not. No policy decides who stays a member. */
function reachable(collectionId: string, all: readonly Collection[]): Collection[] {
  const byId = new Map(all.map((collection) => [collection.id, collection]))
  const ids = new Set([collectionId])
  for (const id of ids) {
    const collection = byId.get(id)
    if (collection?.kind === 'criteria') for (const other of collection.refersTo) ids.add(other)
  }
  return [...ids].flatMap((id) => byId.get(id) ?? [])
}
