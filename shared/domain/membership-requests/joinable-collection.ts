import { type Static, Type } from 'typebox'
import { actorIdOf, type KnownCaller } from '../../kernel/caller.ts'
import { type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, membersNamedIn } from '../../kernel/schema.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type Collection,
  CollectionDto,
  CollectionObjectType,
  NEW_COLLECTION,
  toCollectionDto,
} from '../collections/collection.ts'
import type { CollectionDependencies } from '../collections/collection-dependencies.ts'
import { deleteCollection } from '../collections/delete-collection.ts'
import {
  createCollection,
  type Definition,
  type ReadDefinition,
  updateCollection,
} from '../collections/write-collection.ts'
import { type Creation, singleAttempt } from '../idempotency/run-once.ts'
import { applyPolicyToWaiting, endRequests } from './apply-policy.ts'
import { checkJoinPolicy, type PolicyReference, policyReferences } from './check-join-policy.ts'
import { JoinPolicyDto, JoinPolicyInput, policyOf } from './join-policy.ts'
import {
  freshOrgChart,
  type MemberNotifier,
  type OrgChartSource,
  type RequestDependencies,
} from './request-dependencies.ts'

export const NewJoinableCollection = Type.Object({ ...NEW_COLLECTION, joinPolicy: JoinPolicyInput })
export type NewJoinableCollection = Static<typeof NewJoinableCollection>

/** Members left out keep their values. */
export const JoinableCollectionUpdate = Type.Object({
  ...Type.Partial(NewJoinableCollection).properties,
  objectType: CollectionObjectType,
})
export type JoinableCollectionUpdate = Static<typeof JoinableCollectionUpdate>

export const JoinableCollectionDto = Closed({ ...CollectionDto.properties, joinPolicy: JoinPolicyDto })
export type JoinableCollectionDto = Static<typeof JoinableCollectionDto>

export function toJoinableCollectionDto(collection: Collection): JoinableCollectionDto {
  return {
    ...toCollectionDto(collection),
    joinPolicy: membersNamedIn(JoinPolicyDto, collection.definition as JoinPolicyDto),
  }
}

/** What shows whether the collections and people of a policy exist. */
type ReferenceDependencies = OrgChartSource & Pick<CollectionDependencies, 'collections'>

type CreationDependencies = ReferenceDependencies &
  Pick<CollectionDependencies, 'collectionQuota' | 'definitionQuota' | 'tenants' | 'newId'>

type DeletionDependencies = MemberNotifier &
  Pick<CollectionDependencies, 'collections' | 'memberships' | 'nowMs'> &
  Pick<RequestDependencies, 'requests'>

/**
 * Creates a joinable collection without members.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown`, `IdentityUnknown` and those of the
 * policy, all at once.
 */
export async function createJoinableCollection(
  body: NewJoinableCollection,
  caller: KnownCaller,
  deps: CreationDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  const readDefinition: ReadDefinition = (faults) =>
    parseDefinition(caller.tenantId, body.joinPolicy, [...objectTypeFaults(body.objectType), ...faults], deps)
  return createCollection('joinable', body, readDefinition, caller, deps, creation)
}

/**
 * Updates the members that the body contains. Waiting requests move to the gates of the new policy.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `ObjectTypeFixed` and as creation does.
 */
export async function updateJoinableCollection(
  id: string,
  body: JoinableCollectionUpdate,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: RequestDependencies & Pick<CollectionDependencies, 'definitionQuota'>,
): Promise<Versioned<Collection>> {
  const { tenantId } = caller
  const { joinPolicy } = body
  const readDefinition: ReadDefinition | undefined =
    joinPolicy && ((faults, before) => parseDefinition(tenantId, joinPolicy, faults, deps, before))
  const target = { kind: 'joinable', id, tenantId, ifMatch, actorId: actorIdOf(caller) } as const
  const collection = await updateCollection(target, body, { readDefinition }, deps)
  // Also when the policy is unchanged: an earlier attempt may have been interrupted before this step.
  if (joinPolicy !== undefined) {
    await applyPolicyToWaiting(collection.value, await deps.requests.allWaitingIn(tenantId, id), deps)
  }
  return collection
}

/**
 * Deletes a collection without references to it. Open requests are cancelled and memberships end.
 * @throws Refusal `CollectionNotFound`, `PreconditionFailed`, `CollectionInUse`.
 */
export async function deleteJoinableCollection(
  id: string,
  ifMatch: string | undefined,
  caller: KnownCaller,
  deps: DeletionDependencies,
): Promise<void> {
  await deleteCollection('joinable', id, ifMatch, caller, deps)
  const live = await deps.requests.liveIn(caller.tenantId, id)
  await endRequests(live, 'The collection was deleted', deps)
}

function objectTypeFaults(objectType: CollectionObjectType): RefusalEntry[] {
  if (objectType === 'Identity' || objectType === 'Relationship') return []
  const message = `A joinable collection holds Identity or Relationship objects, not ${objectType}`
  return [refusalEntry('ObjectTypeNotSupported', message, '/objectType')]
}

/**
 * Returns the policy to store and the collections that it refers to. New references must exist. Deleted approvers may
 * stay at their gate, so that clients can send back a policy as they read it.
 */
async function parseDefinition(
  tenantId: string,
  input: JoinPolicyInput,
  faults: readonly RefusalEntry[],
  deps: ReferenceDependencies,
  before?: Collection,
): Promise<Definition> {
  const checked = checkJoinPolicy(input)
  const unknown = await unknownReferences(tenantId, newReferences(checked.references, before), deps)
  throwIfRefused([...faults, ...checked.faults, ...unknown])
  const named = checked.references.flatMap(({ to, id }) => (to === 'collection' ? [id] : []))
  return { definition: checked.policy, refersTo: [...new Set(named)] }
}

/** Returns the references that the previous policy did not have in the same place. */
function newReferences(references: readonly PolicyReference[], before?: Collection): readonly PolicyReference[] {
  if (before === undefined) return references
  const keyOf = ({ place, id }: PolicyReference) => `${place} ${id}`
  const kept = new Set(policyReferences(policyOf(before)).map(keyOf))
  return references.filter((reference) => !kept.has(keyOf(reference)))
}

async function unknownReferences(
  tenantId: string,
  references: readonly PolicyReference[],
  deps: ReferenceDependencies,
): Promise<RefusalEntry[]> {
  if (references.length === 0) return []
  const named = references.flatMap(({ to, id }) => (to === 'collection' ? [id] : []))
  const [orgChart, collections] = await Promise.all([
    freshOrgChart(tenantId, deps),
    deps.collections.existing(tenantId, [...new Set(named)]),
  ])
  const known = new Set(collections.map(({ id }) => id))
  return references.flatMap(({ to, id, pointer }) => {
    if (to === 'collection') {
      return known.has(id) ? [] : [refusalEntry('CollectionUnknown', `There is no collection ${id}`, pointer)]
    }
    return orgChart.has('identity', id) ? [] : [refusalEntry('IdentityUnknown', `There is no identity ${id}`, pointer)]
  })
}
