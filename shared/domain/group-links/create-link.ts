import { REFUSALS, type RefusalCode } from '../../kernel/refusal-register.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { CollectionKind } from '../collections/collection.ts'
import { type Creation, findFromEarlierAttempt, singleAttempt } from '../idempotency/run-once.ts'
import { auditOfLink, type LinkActor, linkFields } from './audit-link.ts'
import { collectionUnknown } from './collection-accounts.ts'
import { DirectoryFault, type DirectoryGroup, groupRefusal, notOwnedMessage } from './directory.ts'
import { type GroupLink, type NewGroupLink, newLink } from './group-link.ts'
import type { LinkDependencies } from './link-dependencies.ts'
import { queueJob } from './queue-job.ts'
import { SERVICE_ORIGIN } from './sync-job.ts'

/** Collections whose members can have directory accounts. Org units have none. */
const LINKABLE_OBJECT_TYPES: readonly string[] = ['Identity', 'Relationship']

/** Refusals of creation and preview, in the order of the checks. */
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
  'GroupManagementIsRestricted',
  'GroupNotOwned',
  'GroupNotVerified',
] as const satisfies readonly RefusalCode[]

/** A link to create. @param createdBy object id of the caller in the directory. */
export type LinkCreation = NewGroupLink & LinkActor & { readonly createdBy?: string | null }

/**
 * Links a collection to a group and queues the first sync. After a crash between the two, the sweep queues it.
 * @returns The new link's id.
 * @throws Refusal of `VERIFICATION_REFUSALS`, `GroupAlreadyLinked`, `CircularReference` and `QuotaExceeded`.
 */
export async function createLink(
  tenantId: string,
  input: LinkCreation,
  deps: LinkDependencies,
  creation: Creation = singleAttempt(deps),
): Promise<string> {
  const [id, jobId] = [creation.newId(), creation.newId()]
  const findOwnLink = () => deps.links.find(tenantId, id)
  // An earlier attempt that is still running may have linked the group since the check below.
  const recoverOwnLink = async (error: unknown): Promise<GroupLink> => {
    const own = isGroupTaken(error) ? await findFromEarlierAttempt(creation, findOwnLink) : undefined
    if (own === undefined) throw error
    return own.value
  }
  const earlier = await findFromEarlierAttempt(creation, findOwnLink)
  const link = earlier?.value ?? (await addLink(tenantId, id, input, deps).catch(recoverOwnLink))
  const origin = { ...SERVICE_ORIGIN, requestedBy: link.createdBy }
  await queueJob(link, 'LinkCreated', deps, { id: jobId, origin })
  return id
}

async function addLink(tenantId: string, id: string, input: LinkCreation, deps: LinkDependencies): Promise<GroupLink> {
  const { collectionId, directoryGroupId, createdBy = null, actorId = createdBy ?? undefined } = input
  const collectionKind = await verifyCollection(tenantId, collectionId, deps)
  const taken = await deps.links.ofGroup(tenantId, directoryGroupId)
  if (taken !== undefined) throw groupTaken(directoryGroupId, taken.value)
  await refuseCircle({ tenantId, collectionId, directoryGroupId }, deps)
  const group = await verifyGroup({ tenantId, groupId: directoryGroupId, target: '/directoryGroupId' }, deps)
  const link = newLink(
    {
      ...{ id, tenantId, collectionId, collectionKind, directoryGroupId, createdBy },
      directoryGroupDisplayName: group.displayName,
    },
    deps.nowMs(),
  )
  return deps.linkQuota.adding(tenantId, () => storeLink(link, actorId, deps))
}

async function storeLink(link: GroupLink, actorId: string | undefined, deps: LinkDependencies): Promise<GroupLink> {
  const { id, tenantId, collectionId, directoryGroupId } = link
  await Promise.all([deps.tenants.register(tenantId), deps.settings.register(tenantId)])
  const audit = auditOfLink(link, 'LinkCreated', { before: {}, after: linkFields(link) }, { actorId }, deps)
  const added = await deps.links.add(link, audit).catch(async (error: unknown) => {
    if (!isGroupTaken(error)) throw error
    throw groupTaken(directoryGroupId, (await deps.links.ofGroup(tenantId, directoryGroupId))?.value, error)
  })
  await confirmLink(link, deps).catch(async (refusal: unknown) => {
    if (!(refusal instanceof Refusal)) throw refusal
    const undone = auditOfLink(link, 'LinkDeleted', { before: linkFields(link), after: {} }, {}, deps)
    await deps.links.remove(added.value, added.version, undone)
    throw refusal
  })
  deps.log.info('link.created', { tenantId, linkId: id, collectionId, directoryGroupId })
  return added.value
}

/** Checks again what a concurrent change of a collection may have changed before the link was written. */
async function confirmLink(link: GroupLink, deps: Pick<LinkDependencies, 'collections'>): Promise<void> {
  const { tenantId, collectionId } = link
  if (!(await deps.collections.confirmReference(tenantId, collectionId))) throw collectionUnknown(collectionId)
  await refuseCircle(link, deps)
}

/** @throws Refusal `CircularReference`, as a conflict: the request is valid by itself. */
async function refuseCircle(
  link: Pick<GroupLink, 'tenantId' | 'collectionId' | 'directoryGroupId'>,
  deps: Pick<LinkDependencies, 'collections'>,
): Promise<void> {
  const circle = await deps.collections.findCircle(link)
  if (circle === undefined) return
  const by = circle.join(' -> ')
  const message = `The collection would depend on the members of group ${link.directoryGroupId}, which it fills: ${by}`
  throw Refusal.conflict('CircularReference', message, '/directoryGroupId')
}

const isGroupTaken = (error: unknown): boolean => error instanceof Refusal && error.code === 'GroupAlreadyLinked'

/** @param link The link of the group; undefined when it was deleted in the meantime. */
function groupTaken(groupId: string, link: GroupLink | undefined, cause?: unknown): Refusal {
  const holder = link === undefined ? 'a collection' : `collection ${link.collectionId} by link ${link.id}`
  const message = `The directory group ${groupId} is already linked to ${holder}.`
  return new Refusal('GroupAlreadyLinked', message, '/directoryGroupId', cause)
}

/**
 * @returns The kind of the collection.
 * @throws Refusal `CollectionUnknown`, `ObjectTypeNotLinkable`; `CollectionNotVerified` when the check itself fails.
 */
export async function verifyCollection(
  tenantId: string,
  collectionId: string,
  deps: Pick<LinkDependencies, 'collections' | 'log'>,
): Promise<CollectionKind> {
  const target = '/collectionId'
  const collection = await deps.collections.find(tenantId, collectionId).catch((fault: unknown) => {
    deps.log.error('link.collection-check-failed', fault, { tenantId, collectionId })
    throw new Refusal('CollectionNotVerified', `The collection ${collectionId} could not be read.`, target, fault)
  })
  if (collection === undefined) throw collectionUnknown(collectionId)
  if (!LINKABLE_OBJECT_TYPES.includes(collection.objectType)) {
    const message = `Members of collections of object type ${collection.objectType} have no directory accounts.`
    throw new Refusal('ObjectTypeNotLinkable', message, target)
  }
  return collection.kind
}

type GroupToVerify = { readonly tenantId: string; readonly groupId: string; readonly target: string }

/** @throws Refusal with the reason why the group cannot be linked; `GroupNotVerified` when the check itself fails. */
export async function verifyGroup(
  checked: GroupToVerify,
  deps: Pick<LinkDependencies, 'directory' | 'log' | 'settings'>,
): Promise<DirectoryGroup> {
  const { tenantId, groupId, target } = checked
  const group = await callDirectory(checked, deps, () => deps.directory.readGroup(tenantId, groupId))
  const refusal = groupRefusal(group)
  if (group !== undefined && refusal === undefined) {
    await verifyOwnership(checked, deps)
    return group
  }
  const code = refusal ?? 'GroupNotFound'
  throw new Refusal(code, `Directory group ${groupId}: ${REFUSALS[code].message}`, target)
}

/** @throws Refusal `GroupNotOwned` when the tenant's settings require ownership, `GroupNotVerified`. */
async function verifyOwnership(
  checked: GroupToVerify,
  deps: Pick<LinkDependencies, 'directory' | 'log' | 'settings'>,
): Promise<void> {
  const { tenantId, groupId, target } = checked
  const { value: settings } = await deps.settings.find(tenantId)
  if (settings.linkableGroups === 'Any') return
  const ownership = await callDirectory(checked, deps, () => deps.directory.readOwnership(tenantId, groupId))
  if (!ownership.isOwned) throw new Refusal('GroupNotOwned', notOwnedMessage(groupId, ownership), target)
}

/** Calls the directory to check a group. @throws Refusal `GroupNotVerified` in place of a DirectoryFault. */
export async function callDirectory<T>(
  { tenantId, groupId, target }: GroupToVerify,
  deps: Pick<LinkDependencies, 'log'>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call()
  } catch (fault) {
    if (!(fault instanceof DirectoryFault)) throw fault
    deps.log.warn('link.group-check-failed', { tenantId, groupId, kind: fault.kind, reason: fault.message })
    const message = `The directory group ${groupId} could not be verified. ${remedyFor(fault)}`
    throw new Refusal('GroupNotVerified', message, target, fault)
  }
}

function remedyFor({ kind }: DirectoryFault): string {
  if (kind === 'refused') {
    return 'The directory refused the service: consent or a permission is missing in this tenant, and a retry does not help.'
  }
  return 'The directory failed or is throttling requests: retry later.'
}
