import type { DirectoryObject, DirectoryObjects } from '../objects.ts'
import {
  answered,
  badRequest,
  type GraphAnswer,
  type GraphCall,
  type GraphCaller,
  type GraphRefusal,
  insufficientPrivileges,
  notFound,
} from './exchange.ts'
import { page } from './pages.ts'
import { objectBody, selection, shownWithType } from './properties.ts'
import { holdsOneOf, USER_WRITERS } from './rights.ts'

/** https://learn.microsoft.com/graph/api/group-post-members */
const MEMBERS_PER_PATCH_COUNT = 20

/** Number of remembered removals: a repeated removal has another response. */
const REMEMBERED_REMOVALS_COUNT = 10_000

const ALREADY_MEMBER =
  "One or more added object references already exist for the following modified properties: 'members'."
const NO_LONGER_MEMBER =
  "One or more removed object references do not exist for the following modified properties: 'members'."

/** The operations on the members of a group. Remembers recent removals. */
export function memberCalls() {
  const recentRemovals = new Set<string>()

  function removeReference(call: GraphCall): GraphAnswer {
    const group = writableGroup(call)
    const memberId = parameter(call, 'memberId')
    const member = call.objects.find(call.caller.tenantId, memberId)
    const pair = `${group.key} ${member?.key}`
    if (member === undefined || !call.objects.removeMember(group, member)) {
      // Graph names the group here, not the member. The response to a repeated removal is different.
      throw recentRemovals.has(pair) ? badRequest(NO_LONGER_MEMBER) : notFound(group.id)
    }
    if (recentRemovals.size >= REMEMBERED_REMOVALS_COUNT) recentRemovals.clear()
    recentRemovals.add(pair)
    return answered(204)
  }

  return { listMembers, listServicePrincipals, addReference, removeReference, deleteMember }
}

function listMembers(call: GraphCall): GraphAnswer {
  const group = existingGroup(call)
  const selected = selection(call.query, 'directoryObject')
  const idsOnly = selected?.every((name) => name === 'id') === true
  const list = memberList(call, group, idsOnly)
  return answered(
    200,
    page(call, 'directoryObjects', list, (member) => shownWithType(member, selected)),
  )
}

/** The cast of the list. Its items have no type. Reads are never stale here. */
function listServicePrincipals(call: GraphCall): GraphAnswer {
  const group = existingGroup(call)
  const selected = selection(call.query, 'directoryObject')
  const list = (afterKey: number, count: number) => call.objects.listServicePrincipals(group, afterKey, count)
  return answered(
    200,
    page(call, 'directoryObjects', list, (member) => {
      const { '@odata.type': _type, ...shown } = shownWithType(member, selected)
      return shown
    }),
  )
}

/** The members of a group as the caller sees them, or as they were when the answer is stale. */
export function memberList(call: GraphCall, group: DirectoryObject, idsOnly: boolean) {
  const { objects, changes, nowMs, flaw } = call
  const listNow = (afterKey: number, count: number): readonly DirectoryObject[] => {
    if (looksEmpty(group, call.caller)) return []
    return idsOnly ? objects.listMemberIds(group, afterKey, count) : objects.listMembers(group, afterKey, count)
  }
  return flaw.staleMs > 0 ? changes.asOf(group, nowMs - flaw.staleMs, listNow) : listNow
}

function addReference(call: GraphCall): GraphAnswer {
  const group = writableGroup(call)
  const member = referredObject(call, objectBody(call.body)['@odata.id'], '@odata.id')
  if (!call.objects.addMember(group, member)) throw badRequest(ALREADY_MEMBER)
  return answered(204)
}

/** Without `/$ref`, the URL identifies the member itself: the request deletes the user. */
function deleteMember(call: GraphCall): GraphAnswer {
  const memberId = parameter(call, 'memberId')
  const member = call.objects.find(call.caller.tenantId, memberId)
  if (!holdsOneOf(call.caller, USER_WRITERS)) throw insufficientPrivileges()
  existingGroup(call)
  if (member === undefined) throw notFound(memberId)
  call.objects.remove(member)
  return answered(204)
}

/** Adds up to 20 members, all or none. `members` is `members@odata.bind` of the body. */
export function bindMembers(call: GraphCall, group: DirectoryObject, references: unknown): void {
  if (!Array.isArray(references))
    throw badRequest("Invalid value specified for property 'members' of resource 'Group'.")
  if (references.length > MEMBERS_PER_PATCH_COUNT) {
    throw badRequest(`A resource cannot contain more than ${MEMBERS_PER_PATCH_COUNT} link changes`)
  }
  const members = references.map((reference) => referredObject(call, reference, 'members@odata.bind'))
  if (new Set(members.map(({ key }) => key)).size < members.length) {
    throw badRequest('Request contains a property with duplicate values.')
  }
  call.objects.atomically(() => {
    for (const member of members) if (!call.objects.addMember(group, member)) throw badRequest(ALREADY_MEMBER)
  })
}

/** @throws GraphRefusal 404, or the refusal of the kind of group */
function writableGroup(call: GraphCall): DirectoryObject {
  const group = existingGroup(call)
  const refusal = memberWriteRefusal(group, call.caller)
  if (refusal !== undefined) throw refusal
  return group
}

/** @throws GraphRefusal 404 unless the tenant has the group of the path */
export function existingGroup(call: GraphCall): DirectoryObject {
  const id = parameter(call, 'id')
  const group = call.objects.find(call.caller.tenantId, id)
  if (group?.type !== 'group') throw notFound(id)
  return group
}

export function parameter(call: GraphCall, name: string): string {
  const value = call.parameters[name]
  if (value === undefined) throw new Error(`${call.path} has no parameter ${name}`)
  return value
}

/** `https://graph.microsoft.com/v1.0/directoryObjects/{id}`: the host is ignored, the object belongs to this tenant. */
export function referredObject(
  call: GraphCall,
  reference: unknown,
  member: string,
): ReturnType<DirectoryObjects['find']> & {} {
  const [, id] =
    /^https:\/\/[^/?#]+\/[\w.]+\/(?:directoryObjects|users|groups)\/([\w-]+)$/.exec(String(reference)) ?? []
  if (typeof reference !== 'string' || id === undefined) {
    throw badRequest(`Invalid URL format specified in the payload: '${String(reference)}' in '${member}'.`)
  }
  const object = call.objects.find(call.caller.tenantId, id)
  if (object === undefined) throw notFound(id)
  return object
}

/** Properties that determine the kind of a group. https://learn.microsoft.com/graph/api/resources/group */
type GroupProperties = {
  readonly groupTypes?: readonly string[] | null
  readonly mailEnabled?: boolean | null
  readonly onPremisesSyncEnabled?: boolean | null
  readonly isAssignableToRole?: boolean | null
  readonly visibility?: string | null
  readonly isManagementRestricted?: boolean | null
}

/**
 * The refusal of a write to the members of a group, or undefined. Graph returns the same 403 for all kinds of groups
 * and for a missing permission. Only the properties of the group distinguish them.
 */
export function memberWriteRefusal(group: DirectoryObject, caller: GraphCaller): GraphRefusal | undefined {
  const { groupTypes, mailEnabled, onPremisesSyncEnabled, ...others } = group.properties as GroupProperties
  const { isAssignableToRole, isManagementRestricted } = others
  if (onPremisesSyncEnabled === true) {
    return badRequest(
      'Unable to update the specified properties for on-premises mastered Directory Sync objects or objects currently undergoing migration.',
    )
  }
  const isDynamic = groupTypes?.includes('DynamicMembership') === true
  const isMailGroup = mailEnabled === true && groupTypes?.includes('Unified') !== true
  const isOutOfReach = isAssignableToRole === true && !caller.roles.has('RoleManagement.ReadWrite.Directory')
  return isDynamic || isMailGroup || isOutOfReach || isManagementRestricted === true
    ? insufficientPrivileges()
    : undefined
}

/** A group with hidden membership appears empty without the permission Member.Read.Hidden. */
export const looksEmpty = (group: DirectoryObject, caller: GraphCaller): boolean =>
  (group.properties as GroupProperties).visibility === 'HiddenMembership' && !caller.roles.has('Member.Read.Hidden')
