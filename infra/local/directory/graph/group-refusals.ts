import type { DirectoryObject } from '../objects.ts'
import { badRequest, type GraphCaller, type GraphRefusal, insufficientPrivileges } from './exchange.ts'

/** A group as far as its kind goes. https://learn.microsoft.com/graph/api/resources/group */
type GroupProperties = {
  readonly groupTypes?: readonly string[] | null
  readonly mailEnabled?: boolean | null
  readonly onPremisesSyncEnabled?: boolean | null
  readonly isAssignableToRole?: boolean | null
  readonly visibility?: string | null
}

/**
 * Why the members of a group cannot be written by this caller, or undefined. The 403 is the same for all kinds and for
 * a missing permission: only the group's properties tell them apart.
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

/** Reads of a group with hidden membership look empty to whoever lacks the permission for it. */
export const looksEmpty = (group: DirectoryObject, caller: GraphCaller): boolean =>
  (group.properties as GroupProperties).visibility === 'HiddenMembership' && !caller.roles.has('Member.Read.Hidden')
