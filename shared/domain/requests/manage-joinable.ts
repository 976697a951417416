import type { Caller } from '../caller.ts'
import type { Collection, CollectionObjectType } from '../collections/collection.ts'
import { deleteCollection } from '../collections/delete-collection.ts'
import { NO_METADATA, readMetadata } from '../collections/metadata.ts'
import { found, whileStale } from '../collections/read-then-write.ts'
import { type Creation, leftBefore, onlyTry } from '../idempotency/creation.ts'
import { refuseOtherVersion } from '../if-match.ts'
import { Refusal, type RefusalEntry, refusalEntry, refuseAll } from '../refusal.ts'
import type { Versioned } from '../versioned.ts'
import { checkJoinPolicy, type PolicyReference } from './check-join-policy.ts'
import type { JoinPolicy, JoinPolicyInput } from './join-policy.ts'
import type { JoinableCollectionUpdate, NewJoinableCollection } from './joinable-collection.ts'
import { freshPeople, type RequestDependencies, tellOfMemberships } from './request-dependencies.ts'
import { endRequests, moveToPolicy } from './settle-requests.ts'

/**
 * Makes a joinable collection, without members.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown`, `IdentityUnknown` and those of the
 * policy, all at once.
 */
export async function createJoinableCollection(
  body: NewJoinableCollection,
  caller: Caller,
  deps: RequestDependencies,
  creation: Creation = onlyTry(deps),
): Promise<Collection> {
  const { metadata, faults } = readMetadata(body.metadata)
  const allFaults = [...objectTypeFaults(body.objectType), ...faults]
  const nowMs = deps.nowMs()
  const id = creation.newId()
  // First: a tenant that is remembered for nothing does no harm, one that the sweep does not know does.
  await deps.tenants.remember(caller.tenantId)
  const { value } = await whileStale(async () => {
    const earlier = await leftBefore(creation, () => deps.collections.find(caller.tenantId, id, 'joinable'))
    if (earlier !== undefined) return earlier
    const referenceVersion = await deps.collections.referenceVersion(caller.tenantId)
    const { policy, refersTo } = await readJoinPolicy(caller.tenantId, body.joinPolicy, allFaults, deps)
    const collection: Collection = {
      id,
      tenantId: caller.tenantId,
      kind: 'joinable',
      objectType: body.objectType,
      name: body.name,
      description: body.description ?? null,
      definition: policy,
      definitionVersion: 1,
      metadata: { ...NO_METADATA, ...metadata },
      refersTo,
      createdBy: caller.objectId,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }
    return deps.collections.add(collection, refersTo.length > 0 ? referenceVersion : undefined)
  })
  return value
}

/**
 * Changes what the body names and keeps the rest. Requests that wait under another policy are brought to where this one
 * has them wait.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed` and as creation does.
 */
export async function updateJoinableCollection(
  id: string,
  body: JoinableCollectionUpdate,
  ifMatch: string | undefined,
  caller: Caller,
  deps: RequestDependencies,
): Promise<Versioned<Collection>> {
  const { metadata, faults } = readMetadata(body.metadata)
  let isMoved = false
  const updated = await whileStale(async () => {
    const referenceVersion = await deps.collections.referenceVersion(caller.tenantId)
    const given = await readGivenPolicy(body, faults, caller.tenantId, deps)
    const { value: before, version } = found(await deps.collections.find(caller.tenantId, id, 'joinable'), id)
    refuseOtherVersion(version, ifMatch)
    refuseOtherType(before, body.objectType)
    const definition = given === undefined ? before : definitionBy(given, before)
    const after: Collection = {
      ...before,
      ...definition,
      name: body.name ?? before.name,
      description: body.description === undefined ? before.description : body.description,
      metadata: { ...before.metadata, ...metadata },
      updatedAtMs: deps.nowMs(),
    }
    isMoved = after.definitionVersion !== before.definitionVersion
    const isRelated = before.refersTo.length + after.refersTo.length > 0
    return deps.collections.replace(after, version, isRelated ? referenceVersion : undefined)
  })
  if (isMoved) await moveToPolicy(updated.value, await deps.requests.liveIn(caller.tenantId, id), deps)
  return updated
}

/**
 * Deletes a collection that nothing refers to; open requests are cancelled and memberships end.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `CollectionInUse`.
 */
export async function deleteJoinableCollection(
  id: string,
  ifMatch: string | undefined,
  caller: Caller,
  deps: RequestDependencies,
): Promise<void> {
  await deleteCollection('joinable', id, ifMatch, caller, deps)
  const live = await deps.requests.liveIn(caller.tenantId, id)
  await tellOfMemberships(caller.tenantId, await endRequests(live, 'The collection was deleted', deps), deps)
}

function objectTypeFaults(objectType: CollectionObjectType): RefusalEntry[] {
  if (objectType === 'Identity' || objectType === 'Relationship') return []
  const message = `Joinable collections hold Identity or Relationship objects, not ${objectType}`
  return [refusalEntry('ObjectTypeNotSupported', message, '/objectType')]
}

function refuseOtherType(before: Collection, objectType: CollectionObjectType): void {
  if (objectType === before.objectType) return
  const message = `The collection holds ${before.objectType} objects and always will`
  throw new Refusal('ObjectTypeFixed', message, '/objectType')
}

type KnownPolicy = { readonly policy: JoinPolicy; readonly refersTo: readonly string[] }

/** Looked at before the record is: faulty input is told also of a collection that is not there. */
async function readGivenPolicy(
  { joinPolicy }: JoinableCollectionUpdate,
  faults: readonly RefusalEntry[],
  tenantId: string,
  deps: RequestDependencies,
): Promise<KnownPolicy | undefined> {
  if (joinPolicy !== undefined) return readJoinPolicy(tenantId, joinPolicy, faults, deps)
  refuseAll(faults)
  return undefined
}

function definitionBy(
  { policy, refersTo }: KnownPolicy,
  before: Collection,
): Pick<Collection, 'definition' | 'definitionVersion' | 'refersTo'> {
  const isSame = JSON.stringify(policy) === JSON.stringify(before.definition)
  return { definition: policy, definitionVersion: before.definitionVersion + (isSame ? 0 : 1), refersTo }
}

/**
 * The policy as it is stored, and the collections that it names.
 * @param faults what is wrong with the rest of the body, to be told along.
 */
async function readJoinPolicy(
  tenantId: string,
  given: JoinPolicyInput,
  faults: readonly RefusalEntry[],
  deps: RequestDependencies,
): Promise<KnownPolicy> {
  const checked = checkJoinPolicy(given)
  const unknown = await unknownReferences(tenantId, checked.references, deps)
  refuseAll([...faults, ...checked.faults, ...unknown])
  const named = checked.references.flatMap(({ to, id }) => (to === 'collection' ? [id] : []))
  return { policy: checked.policy, refersTo: [...new Set(named)] }
}

async function unknownReferences(
  tenantId: string,
  references: readonly PolicyReference[],
  deps: RequestDependencies,
): Promise<RefusalEntry[]> {
  if (references.length === 0) return []
  const named = references.flatMap(({ to, id }) => (to === 'collection' ? [id] : []))
  const [people, collections] = await Promise.all([
    freshPeople(tenantId, deps),
    deps.collections.existing(tenantId, [...new Set(named)]),
  ])
  const known = new Set(collections.map(({ id }) => id))
  return references.flatMap(({ to, id, pointer }) => {
    if (to === 'collection') {
      return known.has(id) ? [] : [refusalEntry('CollectionUnknown', `There is no collection ${id}`, pointer)]
    }
    return people.has('identity', id) ? [] : [refusalEntry('IdentityUnknown', `There is no identity ${id}`, pointer)]
  })
}
