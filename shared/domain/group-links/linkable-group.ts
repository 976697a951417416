import type { RefusalCode } from '../../kernel/refusals.ts'
import type { DirectoryGroup } from './directory.ts'

/** Why a group cannot be linked, first reason first; undefined when it can. Decisions, section 8. */
export function groupRefusal(group: DirectoryGroup | undefined): RefusalCode | undefined {
  if (group === undefined) return 'GroupNotFound'
  if (group.groupTypes.includes('DynamicMembership')) return 'GroupMembershipIsDynamic'
  if (group.mailEnabled && !group.groupTypes.includes('Unified')) return 'GroupIsMailEnabled'
  if (group.onPremisesSyncEnabled === true) return 'GroupIsSyncedFromOnPremises'
  if (group.isAssignableToRole === true) return 'GroupIsRoleAssignable'
  if (group.visibility === 'HiddenMembership') return 'GroupHasHiddenMembership'
  return undefined
}
