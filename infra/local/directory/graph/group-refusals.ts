import type { DirectoryObject } from '../objects.ts'
import { badRequest, type GraphCaller, type GraphRefusal, insufficientPrivileges } from './exchange.ts'

/** Properties that determine the kind of a group. https://learn.microsoft.com/graph/api/resources/group */
type GroupProperties = {
  readonly groupTypes?: readonly string[] | null
  readonly mailEnabled?: boolean | null
  readonly onPremisesSyncEnabled?: boolean | null
  readonly isAssignableToRole?: boolean | null
  readonly visibility?: string | null
}

/**
 * The refusal of a write to the members of a group, or undefined. Graph returns the same 403 for all kinds of groups and
 * for a missing permission. Only the properties of the group distinguish them.
 */
export function memberWriteRefusal(group: DirectoryObject, caller: GraphCaller): GraphRefusal | undefined {
  const { groupTypes, mailEnabled, onPremisesSyncEnabled, isAssignableToRole } = group.properties as GroupProperties
  if (onPremisesSyncEnabled === true) {
    return badRequest(
      'Unable to update the specified properties for on-premises mastered Directory Sync objects or objects currently undergoing migration.',
    )
  }
  const isDynamic = groupTypes?.includes('DynamicMembership') === true
  const isMailGroup = mailEnabled === true && groupTypes?.includes('Unified') !== true
  const isOutOfReach = isAssignableToRole === true && !caller.roles.has('RoleManagement.ReadWrite.Directory')
  return isDynamic || isMailGroup || isOutOfReach ? insufficientPrivileges() : undefined
}

/** A group with hidden membership appears empty without the permission Member.Read.Hidden. */
export const looksEmpty = (group: DirectoryObject, caller: GraphCaller): boolean =>
  (group.properties as GroupProperties).visibility === 'HiddenMembership' && !caller.roles.has('Member.Read.Hidden')
