import type { Static } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { requireIfMatch, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import {
  type Collection,
  type CollectionKind,
  type CollectionObjectType,
  type Metadata,
  NO_METADATA,
  readMetadata,
} from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

type WriteDependencies = Pick<CollectionDependencies, 'collections' | 'nowMs'>

/** The part of a collection that decides its members: the condition or the join policy, and the collections it refers to. */
export type Definition = Pick<Collection, 'definition' | 'refersTo'>

/** The members of a request body that collections of either kind have. */
type CollectionBody = {
  readonly objectType: CollectionObjectType
  readonly name?: string
  readonly description?: string
  readonly metadata?: Static<typeof Metadata>
}

/**
 * Runs a change that may add or remove references between collections. `change` receives the tenant's reference version,
 * read before anything else, and quotes it when it writes. When another change of references comes first, `change` runs
 * again; within this process such changes then run one at a time.
 */
export function withReferenceGuard<T>(
  tenantId: string,
  { collections }: Pick<WriteDependencies, 'collections'>,
  change: (referenceVersion: string) => Promise<T>,
): Promise<T> {
  return retryOnConflict(
    async () => change(await collections.referenceVersion(tenantId)),
    (run) => collections.serialize(tenantId, run),
  )
}

/** Stores a new collection. Its body and definition have been checked. */
export function addCollection(
  { kind, id, caller }: { readonly kind: CollectionKind; readonly id: string; readonly caller: Caller },
  body: CollectionBody & { readonly name: string },
  { definition, refersTo }: Definition,
  referenceVersion: string,
  deps: WriteDependencies,
): Promise<Versioned<Collection>> {
  const nowMs = deps.nowMs()
  const collection: Collection = {
    id,
    tenantId: caller.tenantId,
    kind,
    objectType: body.objectType,
    name: body.name,
    description: body.description ?? null,
    definition,
    refersTo,
    definitionVersion: 1,
    metadata: { ...NO_METADATA, ...readMetadata(body.metadata).metadata },
    createdBy: caller.objectId,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  return deps.collections.add(collection, refersTo.length > 0 ? referenceVersion : undefined)
}

/**
 * The stored collection, if this body may change it. Invalid input is refused before a missing collection.
 * @throws Refusal with `faults`, `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`.
 */
export function changeable(
  stored: Versioned<Collection> | undefined,
  { id, ifMatch }: { readonly id: string; readonly ifMatch: string | undefined },
  { objectType }: CollectionBody,
  faults: readonly RefusalEntry[],
): Versioned<Collection> {
  throwIfRefused(faults)
  const collection = found(stored, id)
  requireIfMatch(collection.version, ifMatch)
  throwIfRefused(typeChangeFaults(collection.value, objectType))
  return collection
}

/** Refuses another object type than the collection has. */
export function typeChangeFaults(
  collection: Pick<Collection, 'objectType'> | undefined,
  objectType: CollectionObjectType,
  target = '/objectType',
): RefusalEntry[] {
  if (collection === undefined || objectType === collection.objectType) return []
  const message = `The object type of a collection cannot be changed from ${collection.objectType}`
  return [refusalEntry('ObjectTypeFixed', message, target)]
}

/**
 * Stores a changed collection. What the body leaves out keeps its value.
 * @param given Undefined when the body has no definition.
 */
export function replaceCollection(
  { value: before, version }: Versioned<Collection>,
  body: CollectionBody,
  given: Definition | undefined,
  referenceVersion: string,
  deps: WriteDependencies,
): Promise<Versioned<Collection>> {
  const { definition, refersTo } = given ?? before
  const isRedefined = JSON.stringify(definition) !== JSON.stringify(before.definition)
  const after: Collection = {
    ...before,
    definition,
    refersTo,
    definitionVersion: before.definitionVersion + (isRedefined ? 1 : 0),
    name: body.name ?? before.name,
    description: body.description ?? before.description,
    metadata: { ...before.metadata, ...readMetadata(body.metadata).metadata },
    updatedAtMs: deps.nowMs(),
  }
  const mayChangeReferences = given !== undefined && before.refersTo.length + refersTo.length > 0
  return deps.collections.replace(after, version, mayChangeReferences ? referenceVersion : undefined)
}

/** @throws Refusal `CollectionNotFound` */
export function found(collection: Versioned<Collection> | undefined, id: string): Versioned<Collection> {
  if (collection === undefined) throw new Refusal('CollectionNotFound', `There is no collection ${id}`)
  return collection
}
