import type { Static } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { requireIfMatch, retryOnConflict } from '../../kernel/versioned.ts'
import { type Creation, findFromEarlierAttempt } from '../idempotency/run-once.ts'
import type { Collection, CollectionKind, CollectionObjectType, Metadata } from './collection.ts'
import { NO_METADATA, readMetadata } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { found, serializedBy } from './read-then-write.ts'

type WriteDependencies = Pick<CollectionDependencies, 'collections' | 'tenants' | 'nowMs'>

/** What decides the members: the condition or the join policy, and the collections that it names. */
export type Definition = Pick<Collection, 'definition' | 'refersTo'>

/**
 * Reads what the body defines.
 * @param faults of the rest of the body, told along with its own.
 * @param before the collection as it stands: what it names already may be named again, even if that is no more.
 * @throws Refusal with all.
 */
type ReadDefinition = (faults: readonly RefusalEntry[], before?: Collection) => Promise<Definition>

/** What a body says of a collection besides its definition. */
type Described = {
  readonly objectType: CollectionObjectType
  readonly description?: string | null
  readonly metadata?: Static<typeof Metadata>
}

/**
 * Makes a collection of either kind; one that an earlier try has made is answered as it is.
 * @throws Refusal `DuplicateTag` and those of the definition, all at once.
 */
export async function addCollection(
  { kind, caller, creation }: { kind: CollectionKind; caller: Caller; creation: Creation },
  body: Described & { readonly name: string },
  readDefinition: ReadDefinition,
  deps: WriteDependencies,
): Promise<Collection> {
  const { tenantId, objectId: createdBy } = caller
  const { metadata, faults } = readMetadata(body.metadata)
  const nowMs = deps.nowMs()
  const id = creation.newId()
  // First: a tenant that is remembered for nothing does no harm, one that the sweep does not know does.
  await deps.tenants.remember(tenantId)
  const { value } = await retryOnConflict(
    async () => {
      const earlier = await findFromEarlierAttempt(creation, () => deps.collections.find(tenantId, id, kind))
      if (earlier !== undefined) return earlier
      const referenceVersion = await deps.collections.referenceVersion(tenantId)
      const definition = await readDefinition(faults)
      const collection: Collection = {
        id,
        tenantId,
        kind,
        objectType: body.objectType,
        name: body.name,
        description: body.description ?? null,
        ...definition,
        definitionVersion: 1,
        metadata: { ...NO_METADATA, ...metadata },
        createdBy,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      return deps.collections.add(collection, definition.refersTo.length > 0 ? referenceVersion : undefined)
    },
    serializedBy(tenantId, deps),
  )
  return value
}

export type CollectionChange = {
  readonly kind: CollectionKind
  readonly id: string
  readonly ifMatch: string | undefined
  readonly caller: Caller
}

type ChangeRules = {
  /** Left out where the body defines nothing. */
  readonly readDefinition: ReadDefinition | undefined
  /** What only the record as it stands can refuse. */
  refuse?(before: Collection, given: Definition): Promise<void>
}

/**
 * Changes what the body names and keeps the rest. Faulty input is told also of a collection that is not there.
 * @throws Refusal as creation does, and `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`.
 */
export async function changeCollection(
  { kind, id, ifMatch, caller }: CollectionChange,
  body: Described & { readonly name?: string },
  { readDefinition, refuse }: ChangeRules,
  deps: WriteDependencies,
): Promise<Versioned<Collection>> {
  const { metadata, faults } = readMetadata(body.metadata)
  return retryOnConflict(
    async () => {
      const referenceVersion = await deps.collections.referenceVersion(caller.tenantId)
      const stored = await deps.collections.find(caller.tenantId, id, kind)
      const given = await readDefinition?.(faults, stored?.value)
      throwIfRefused(faults)
      const { value: before, version } = found(stored, id)
      requireIfMatch(version, ifMatch)
      refuseOtherType(before, body.objectType)
      const definition = given ?? before
      if (given !== undefined) await refuse?.(before, definition)
      const isRedefined = JSON.stringify(definition.definition) !== JSON.stringify(before.definition)
      const after: Collection = {
        ...before,
        definition: definition.definition,
        refersTo: definition.refersTo,
        definitionVersion: before.definitionVersion + (isRedefined ? 1 : 0),
        name: body.name ?? before.name,
        description: body.description === undefined ? before.description : body.description,
        metadata: { ...before.metadata, ...metadata },
        updatedAtMs: deps.nowMs(),
      }
      // What refers to the same collections as before changes no reference.
      const isRereferenced = given !== undefined && before.refersTo.length + after.refersTo.length > 0
      return deps.collections.replace(after, version, isRereferenced ? referenceVersion : undefined)
    },
    serializedBy(caller.tenantId, deps),
  )
}

function refuseOtherType(before: Collection, objectType: CollectionObjectType): void {
  if (objectType === before.objectType) return
  const message = `The collection holds ${before.objectType} objects and always will`
  throw new Refusal('ObjectTypeFixed', message, '/objectType')
}
