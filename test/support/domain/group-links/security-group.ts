import type { DirectoryGroup } from '../../../../shared/domain/group-links/directory.ts'

/** A security group that may be linked. */
export const securityGroup = (id: string): DirectoryGroup => ({
  id,
  displayName: 'A group',
  groupTypes: [],
  mailEnabled: false,
  onPremisesSyncEnabled: null,
  isAssignableToRole: null,
  visibility: null,
  isManagementRestricted: null,
})
