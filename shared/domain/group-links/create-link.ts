import { REFUSALS, Refusal, type RefusalCode } from '../../kernel/refusals.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import { DirectoryFault, type DirectoryGroup } from './directory.ts'
import { type LinkRecord, type NewGroupLink, newLink } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { groupRefusal } from './linkable-group.ts'
import { queueJob } from './queue-job.ts'

/** Collections whose members can have directory accounts. Org units have none. */
const LINKABLE_OBJECT_TYPES: readonly string[] = ['Identity', 'Relationship']

/** What creation and preview can refuse, in the order in which they look. */
export const VERIFICATION_REFUSALS = [
  'CollectionUnknown',
  'ObjectTypeNotLinkable',
  'CollectionNotVerified',
  'GroupNotFound',
  'GroupMembershipIsDynamic',
  'GroupIsMailEnabled',
  'GroupIsSyncedFromOnPremises',
  'GroupIsRoleAssignable',
  'GroupHasHiddenMembership',
  'GroupNotVerified',
] as const satisfies readonly RefusalCode[]

/**
 * Links a collection to a group and queues the first sync. Should the service die in between, the sweep queues it.
 * @returns The new link's id.
 * @throws Refusal of `VERIFICATION_REFUSALS`, and `GroupAlreadyLinked`.
 */
export async function createLink(
  tenantId: string,
  input: NewGroupLink,
  deps: LinkDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<string> {
  const [id, jobId] = [creation.newId(), creation.newId()]
  const ownLink = () => deps.links.find(tenantId, id)
  // An earlier try that is slow, not dead, may have linked the group since this one looked.
  const whichMayBeOurs = async (error: unknown): Promise<LinkRecord> => {
    const own = isTaken(error) ? await findFromEarlierAttempt(creation, ownLink) : undefined
    if (own === undefined) throw error
    return own.value
  }
  const earlier = await findFromEarlierAttempt(creation, ownLink)
  const link = earlier?.value ?? (await addLink(tenantId, id, input, deps).catch(whichMayBeOurs))
  await queueJob(link, 'LinkCreated', deps, jobId)
  return id
}

async function addLink(tenantId: string, id: string, input: NewGroupLink, deps: LinkDependencies): Promise<LinkRecord> {
  const { collectionId, directoryGroupId } = input
  await verifyCollection(tenantId, collectionId, deps)
  if ((await deps.links.ofGroup(tenantId, directoryGroupId)) !== undefined) {
    throw groupTaken(directoryGroupId)
  }
  const group = await verifyGroup({ tenantId, groupId: directoryGroupId, target: '/directoryGroupId' }, deps)
  const link = newLink(
    { id, tenantId, collectionId, directoryGroupId, directoryGroupDisplayName: group.displayName },
    deps.nowMs(),
  )
  await deps.tenants.remember(tenantId)
  const { version } = await deps.links.add(link).catch((error: unknown) => {
    throw isTaken(error) ? groupTaken(directoryGroupId, error) : error
  })
  if (!(await deps.collections.keepForLink(tenantId, collectionId))) {
    await deps.links.remove(tenantId, id, version)
    throw collectionUnknown(collectionId)
  }
  deps.log.info('link.created', { tenantId, linkId: id, collectionId, directoryGroupId })
  return link
}

const isTaken = (error: unknown): boolean => error instanceof Refusal && error.code === 'GroupAlreadyLinked'

function collectionUnknown(collectionId: string): Refusal {
  return new Refusal('CollectionUnknown', `The collection ${collectionId} does not exist`, '/collectionId')
}

/** The same answer whether the other link was there already or came at the same moment. */
function groupTaken(groupId: string, cause?: unknown): Refusal {
  const message = `The directory group ${groupId} is already linked to a collection`
  return new Refusal('GroupAlreadyLinked', message, '/directoryGroupId', cause)
}

/** @throws Refusal `CollectionUnknown`, `ObjectTypeNotLinkable`, and `CollectionNotVerified` when the check itself fails. */
export async function verifyCollection(tenantId: string, collectionId: string, deps: LinkDependencies): Promise<void> {
  const target = '/collectionId'
  const collection = await deps.collections.find(tenantId, collectionId).catch((fault: unknown) => {
    deps.log.error('link.collection-check-failed', fault, { tenantId, collectionId })
    throw new Refusal('CollectionNotVerified', `The collection ${collectionId} could not be verified`, target, fault)
  })
  if (collection === undefined) throw collectionUnknown(collectionId)
  if (!LINKABLE_OBJECT_TYPES.includes(collection.objectType)) {
    const message = `A collection of object type ${collection.objectType} has no directory accounts`
    throw new Refusal('ObjectTypeNotLinkable', message, target)
  }
}

type GroupToVerify = { readonly tenantId: string; readonly groupId: string; readonly target: string }

/** @throws Refusal that names what is wrong with the group, and `GroupNotVerified` when the check itself fails. */
export async function verifyGroup(asked: GroupToVerify, deps: LinkDependencies): Promise<DirectoryGroup> {
  const group = await askDirectory(asked, deps, () => deps.directory.readGroup(asked.tenantId, asked.groupId))
  const refusal = groupRefusal(group)
  if (group !== undefined && refusal === undefined) return group
  const code = refusal ?? 'GroupNotFound'
  throw new Refusal(code, `${REFUSALS[code].message}: ${asked.groupId}`, asked.target)
}

/** Turns what the directory failed to do into the refusal `GroupNotVerified`. */
export async function askDirectory<T>(asked: GroupToVerify, deps: LinkDependencies, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (fault) {
    if (!(fault instanceof DirectoryFault)) throw fault
    const { tenantId, groupId, target } = asked
    deps.log.warn('link.group-check-failed', { tenantId, groupId, kind: fault.kind, reason: fault.message })
    throw new Refusal('GroupNotVerified', `The directory did not let group ${groupId} be verified`, target, fault)
  }
}
