import type { Static } from 'typebox'
import { actorIdOf, type KnownCaller } from '../../kernel/caller.ts'
import { Refusal, type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { requireIfMatch, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import { groupsReadBy } from '../criteria/condition.ts'
import { type Creation, findFromEarlierAttempt } from '../idempotency/run-once.ts'
import { auditOfCollection } from './audit-collection.ts'
import {
  type Collection,
  type CollectionKind,
  type CollectionObjectType,
  type Metadata,
  NO_METADATA,
  readMetadata,
} from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'

type WriteDependencies = Pick<CollectionDependencies, 'collections' | 'newId' | 'nowMs'>

/**
 * The part of a collection that decides its members: the condition or the join policy, and the collections it refers
 * to.
 */
export type Definition = Pick<Collection, 'definition' | 'refersTo'>

/** The members of a request body that collections of either kind have. */
type CollectionBody = {
  readonly objectType: CollectionObjectType
  readonly name?: string
  readonly description?: string
  readonly metadata?: Static<typeof Metadata>
}

/**
 * Runs a change that may add or remove references between collections. `change` receives the tenant's reference
 * version, read before anything else, and quotes it when it writes. When another change of references comes first,
 * `change` runs again; within this process such changes then run one at a time.
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

/**
 * Parses and checks the definition in a body.
 * @param faults Those of the rest of the body, refused together with the definition's.
 * @param before The collection whose definition is replaced.
 */
export type ReadDefinition = (faults: readonly RefusalEntry[], before?: Collection) => Promise<Definition>

/** Creates a collection of either kind. @throws Refusal with the faults of the body, `QuotaExceeded` */
export async function createCollection(
  kind: CollectionKind,
  body: CollectionBody & { readonly name: string },
  readDefinition: ReadDefinition,
  caller: KnownCaller,
  deps: WriteDependencies & Pick<CollectionDependencies, 'tenants' | QuotaName>,
  creation: Creation,
): Promise<Collection> {
  const { tenantId } = caller
  const id = creation.newId()
  // Before the collection: the sweep must know every tenant that has one, and a tenant without one does no harm.
  await deps.tenants.register(tenantId)
  const { value } = await withReferenceGuard(tenantId, deps, async (referenceVersion) => {
    const earlier = await findFromEarlierAttempt(creation, () => deps.collections.find(tenantId, id, kind))
    if (earlier !== undefined) return earlier
    const collection = await checkedCreation({ kind, id }, body, readDefinition, caller, deps)
    const audit = auditOfCollection('Created', undefined, collection, actorIdOf(caller), deps)
    const add = () =>
      deps.collections.add(collection, collection.refersTo.length > 0 ? referenceVersion : undefined, audit)
    const addDefinition = () => deps.definitionQuota.adding(tenantId, add, definitionBytes(collection.definition))
    return deps.collectionQuota.adding(tenantId, addDefinition)
  })
  return value
}

/**
 * The collection that a creation would store, after all checks. Writes nothing.
 * @throws Refusal as `createCollection`.
 */
export async function prepareCreation(
  { kind, id }: Pick<Collection, 'kind' | 'id'>,
  body: CollectionBody & { readonly name: string },
  readDefinition: ReadDefinition,
  caller: KnownCaller,
  deps: Pick<CollectionDependencies, QuotaName | 'nowMs'>,
): Promise<Collection> {
  const collection = await checkedCreation({ kind, id }, body, readDefinition, caller, deps)
  await deps.collectionQuota.requireRoom(caller.tenantId)
  await deps.definitionQuota.requireRoom(caller.tenantId, definitionBytes(collection.definition))
  return collection
}

type QuotaName = 'collectionQuota' | 'definitionQuota'

/** Bytes of a definition as stored: compact JSON in UTF-8. */
function definitionBytes(definition: object): number {
  return Buffer.byteLength(JSON.stringify(definition))
}

/** The collection that a creation would store, after the checks of its body. */
async function checkedCreation(
  { kind, id }: Pick<Collection, 'kind' | 'id'>,
  body: CollectionBody & { readonly name: string },
  readDefinition: ReadDefinition,
  caller: KnownCaller,
  { nowMs }: Pick<CollectionDependencies, 'nowMs'>,
): Promise<Collection> {
  const { metadata, faults } = readMetadata(body.metadata)
  const { definition, refersTo } = await readDefinition(faults)
  const createdAtMs = nowMs()
  return {
    id,
    tenantId: caller.tenantId,
    kind,
    objectType: body.objectType,
    name: body.name,
    description: body.description ?? null,
    definition,
    refersTo,
    definitionVersion: 1,
    definedBy: actorIdOf(caller),
    metadata: { ...NO_METADATA, ...metadata },
    createdBy: caller.objectId,
    createdAtMs,
    updatedAtMs: createdAtMs,
  }
}

/** What an update of a collection checks. */
export type UpdateChecks = {
  /** Absent when the body has no definition. */
  readonly readDefinition?: ReadDefinition | undefined
  /** Refuses a definition that is valid by itself. */
  readonly check?: (before: Collection, definition: Definition) => Promise<void>
}

/**
 * Changes a collection of either kind. What the body leaves out keeps its value.
 * @param confirm Called before the collection is written, in each attempt. It may refuse the change for its effect on
 * other collections. A change of references between collections that is made at the same time then repeats the attempt.
 * @throws Refusal with the faults of the body, `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed`.
 */
export function updateCollection(
  target: UpdateTarget,
  body: CollectionBody,
  checks: UpdateChecks,
  deps: WriteDependencies & Pick<CollectionDependencies, 'definitionQuota'>,
  confirm?: (update: PreparedUpdate) => Promise<void>,
): Promise<Versioned<Collection>> {
  return withReferenceGuard(target.tenantId, deps, async (referenceVersion) => {
    const update = await prepareUpdate(target, body, checks, deps)
    await confirm?.(update)
    const { before, after, mayChangeReferences } = update
    const quotesReferences = mayChangeReferences || confirm !== undefined
    const audit = auditOfCollection('Updated', before.value, after, target.actorId, deps)
    const replace = () =>
      deps.collections.replace(after, before.version, quotesReferences ? referenceVersion : undefined, audit)
    const addedBytes = definitionBytes(after.definition) - definitionBytes(before.value.definition)
    return addedBytes > 0 ? deps.definitionQuota.adding(target.tenantId, replace, addedBytes) : replace()
  })
}

/** A collection, and as it would be stored. */
export type PreparedUpdate = {
  readonly before: Versioned<Collection>
  readonly after: Collection
  readonly mayChangeReferences: boolean
}

/** The change that an update would write, after all checks. Writes nothing. @throws Refusal as `updateCollection`. */
export async function prepareUpdate(
  target: UpdateTarget,
  body: CollectionBody,
  { readDefinition, check }: UpdateChecks,
  deps: WriteDependencies,
): Promise<PreparedUpdate> {
  const { faults } = readMetadata(body.metadata)
  const stored = await deps.collections.find(target.tenantId, target.id, target.kind)
  const definition = await readDefinition?.(faults, stored?.value)
  const before = changeable(stored, target, body, faults)
  if (definition !== undefined) await check?.(before.value, definition)
  const mayChangeReferences = definition !== undefined && (refers(before.value) || refers(definition))
  return { before, after: changed(before.value, body, definition, target.actorId, deps.nowMs()), mayChangeReferences }
}

/** Whether the members depend on other collections: by reference, or through a group that they may be linked to. */
function refers({ refersTo, definition }: Definition): boolean {
  return refersTo.length > 0 || groupsReadBy(definition).length > 0
}

export type UpdateTarget = {
  readonly kind: CollectionKind
  readonly tenantId: string
  readonly id: string
  /** See `actorIdOf`. */
  readonly actorId: string
  readonly ifMatch: string | undefined
}

/** The stored collection, if this body may change it. Invalid input is refused before a missing collection. */
function changeable(
  stored: Versioned<Collection> | undefined,
  { id, ifMatch }: UpdateTarget,
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

/** The collection after a change. What the body leaves out keeps its value. */
function changed(
  before: Collection,
  body: CollectionBody,
  input: Definition | undefined,
  actorId: string,
  nowMs: number,
): Collection {
  const { definition, refersTo } = input ?? before
  const isRedefined = JSON.stringify(definition) !== JSON.stringify(before.definition)
  return {
    ...before,
    definition,
    refersTo,
    definitionVersion: before.definitionVersion + (isRedefined ? 1 : 0),
    definedBy: isRedefined ? actorId : before.definedBy,
    name: body.name ?? before.name,
    description: body.description ?? before.description,
    metadata: { ...before.metadata, ...readMetadata(body.metadata).metadata },
    updatedAtMs: nowMs,
  }
}

/** @throws Refusal `CollectionNotFound` */
export function found(collection: Versioned<Collection> | undefined, id: string): Versioned<Collection> {
  if (collection === undefined) throw new Refusal('CollectionNotFound', `There is no collection ${id}`)
  return collection
}
