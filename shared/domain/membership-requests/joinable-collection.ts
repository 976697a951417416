import { type Static, Type } from 'typebox'
import type { Caller } from '../../kernel/caller.ts'
import { type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, Nullable } from '../../kernel/schema.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import {
  type Collection,
  CollectionObjectType,
  CollectionRecord,
  Description,
  Metadata,
  Name,
} from '../collections/collection.ts'
import { collectionRecord } from '../collections/collection-record.ts'
import { deleteCollection } from '../collections/delete-collection.ts'
import { addCollection, changeCollection, type Definition } from '../collections/write-collection.ts'
import { type Creation, singleAttempt } from '../idempotency/run-once.ts'
import {
  checkJoinPolicy,
  JoinPolicyDto,
  JoinPolicyInput,
  type PolicyReference,
  policyOf,
  policyReferences,
} from './join-policy.ts'
import { freshOrgChart, notifyMembershipChanges, type RequestDependencies } from './request-dependencies.ts'
import { applyPolicyToWaiting, endRequests } from './settle-requests.ts'

export const NewJoinableCollection = Type.Object({
  objectType: CollectionObjectType,
  name: Name,
  joinPolicy: JoinPolicyInput,
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type NewJoinableCollection = Static<typeof NewJoinableCollection>

/** What is left out keeps its value: decisions, section 10. */
export const JoinableCollectionUpdate = Type.Object({
  objectType: CollectionObjectType,
  name: Type.Optional(Name),
  joinPolicy: Type.Optional(JoinPolicyInput),
  description: Type.Optional(Nullable(Description)),
  metadata: Type.Optional(Metadata),
})
export type JoinableCollectionUpdate = Static<typeof JoinableCollectionUpdate>

export const JoinableCollectionDto = Closed({ ...CollectionRecord.properties, joinPolicy: JoinPolicyDto })
export type JoinableCollectionDto = Static<typeof JoinableCollectionDto>

/** The record under the prefix of joinable collections: with the join policy. */
export function toJoinableCollectionDto(collection: Collection): JoinableCollectionDto {
  const { approvalRequired, approvalGates, joinableBy } = policyOf(collection)
  return {
    ...collectionRecord(collection),
    joinPolicy: {
      approvalRequired,
      approvalGates: approvalGates.map((gate) => ({ ...gate, approvers: [...gate.approvers] })),
      joinableBy: { collectionIds: [...joinableBy.collectionIds] },
    },
  }
}

/**
 * Makes a joinable collection, without members.
 * @throws Refusal `ObjectTypeNotSupported`, `DuplicateTag`, `CollectionUnknown`, `IdentityUnknown` and those of the
 * policy, all at once.
 */
export async function createJoinableCollection(
  body: NewJoinableCollection,
  caller: Caller,
  deps: RequestDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  const readDefinition = (faults: readonly RefusalEntry[]) =>
    parseDefinition(caller.tenantId, body.joinPolicy, [...objectTypeFaults(body.objectType), ...faults], deps)
  return addCollection({ kind: 'joinable', caller, creation }, body, readDefinition, deps)
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
  const { tenantId } = caller
  const { joinPolicy } = body
  const readDefinition =
    joinPolicy === undefined
      ? undefined
      : (faults: readonly RefusalEntry[], before?: Collection) =>
          parseDefinition(tenantId, joinPolicy, faults, deps, before)
  const change = { kind: 'joinable', id, ifMatch, caller } as const
  const collection = await changeCollection(change, body, { readDefinition }, deps)
  // Also where the policy is as before: an earlier try may have come no further than that.
  if (joinPolicy !== undefined) {
    await applyPolicyToWaiting(collection.value, await deps.requests.allWaitingIn(tenantId, id), deps)
  }
  return collection
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
  await notifyMembershipChanges(caller.tenantId, await endRequests(live, 'The collection was deleted', deps), deps)
}

function objectTypeFaults(objectType: CollectionObjectType): RefusalEntry[] {
  if (objectType === 'Identity' || objectType === 'Relationship') return []
  const message = `Joinable collections hold Identity or Relationship objects, not ${objectType}`
  return [refusalEntry('ObjectTypeNotSupported', message, '/objectType')]
}

/**
 * The policy as it is stored, and the collections that it names. Whoever is newly named has to exist. Approvers who were
 * deleted since may be named on at their gate, so that a record can be sent back as it was read; they decide nothing.
 * @param faults what is wrong with the rest of the body, to be told along.
 * @param before whose policy this one replaces.
 */
async function parseDefinition(
  tenantId: string,
  given: JoinPolicyInput,
  faults: readonly RefusalEntry[],
  deps: RequestDependencies,
  before?: Collection,
): Promise<Definition> {
  const checked = checkJoinPolicy(given)
  const unknown = await unknownReferences(tenantId, newReferences(checked.references, before), deps)
  throwIfRefused([...faults, ...checked.faults, ...unknown])
  const named = checked.references.flatMap(({ to, id }) => (to === 'collection' ? [id] : []))
  return { definition: checked.policy, refersTo: [...new Set(named)] }
}

/** Those that the policy did not have, in the same place, before. */
function newReferences(references: readonly PolicyReference[], before?: Collection): readonly PolicyReference[] {
  if (before === undefined) return references
  const keyOf = ({ place, id }: PolicyReference) => `${place} ${id}`
  const kept = new Set(policyReferences(policyOf(before)).map(keyOf))
  return references.filter((reference) => !kept.has(keyOf(reference)))
}

async function unknownReferences(
  tenantId: string,
  references: readonly PolicyReference[],
  deps: RequestDependencies,
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
