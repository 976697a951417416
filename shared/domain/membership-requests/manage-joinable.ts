import type { Caller } from '../../kernel/caller.ts'
import { type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { type Collection, type CollectionObjectType, readMetadata } from '../collections/collection.ts'
import { deleteCollection } from '../collections/delete-collection.ts'
import {
  addCollection,
  changeable,
  type Definition,
  replaceCollection,
  withReferenceGuard,
} from '../collections/write-collection.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import { checkJoinPolicy, type PolicyReference, policyReferences } from './check-join-policy.ts'
import { type JoinPolicyInput, policyOf } from './join-policy.ts'
import type { JoinableCollectionUpdate, NewJoinableCollection } from './joinable-collection.ts'
import { freshOrgChart, notifyMembershipChanges, type RequestDependencies } from './request-dependencies.ts'
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
  creation: Creation = singleAttempt(deps),
): Promise<Collection> {
  const { tenantId } = caller
  const faults = [...objectTypeFaults(body.objectType), ...readMetadata(body.metadata).faults]
  const id = creation.newId()
  await deps.tenants.remember(tenantId)
  const { value } = await withReferenceGuard(tenantId, deps, async (referenceVersion) => {
    const earlier = await findFromEarlierAttempt(creation, () => deps.collections.find(tenantId, id, 'joinable'))
    if (earlier !== undefined) return earlier
    const definition = await readDefinition(tenantId, body.joinPolicy, faults, deps)
    return addCollection({ kind: 'joinable', id, caller }, body, definition, referenceVersion, deps)
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
  const { tenantId } = caller
  const { joinPolicy } = body
  const { faults } = readMetadata(body.metadata)
  const collection = await withReferenceGuard(tenantId, deps, async (referenceVersion) => {
    const stored = await deps.collections.find(tenantId, id, 'joinable')
    const given = joinPolicy && (await readDefinition(tenantId, joinPolicy, faults, deps, stored?.value))
    const before = changeable(stored, { id, ifMatch }, body, faults)
    return replaceCollection(before, body, given, referenceVersion, deps)
  })
  // Also where the policy is as before: an earlier try may have come no further than that.
  if (joinPolicy !== undefined) {
    await moveToPolicy(collection.value, await deps.requests.allWaitingIn(tenantId, id), deps)
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
async function readDefinition(
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
