import type { GroupKind, GroupSeed } from '../directory/seed.ts'
import { derivedGuid } from './seeded-random.ts'

const SECURITY = { groupTypes: [], mailEnabled: false, securityEnabled: true, visibility: null }
const DYNAMIC = { membershipRule: '(user.department -eq "Demo")', membershipRuleProcessingState: 'On' }

/** Properties of each kind of group. https://learn.microsoft.com/graph/api/resources/groups-overview */
const PROPERTIES: Record<GroupKind, Readonly<Record<string, unknown>>> = {
  security: SECURITY,
  populated: SECURITY,
  unified: { groupTypes: ['Unified'], mailEnabled: true, securityEnabled: false, visibility: 'Private' },
  dynamic: { ...SECURITY, groupTypes: ['DynamicMembership'], ...DYNAMIC },
  'dynamic-paused': {
    ...SECURITY,
    groupTypes: ['DynamicMembership'],
    ...DYNAMIC,
    membershipRuleProcessingState: 'Paused',
  },
  distribution: { ...SECURITY, mailEnabled: true, securityEnabled: false },
  'mail-security': { ...SECURITY, mailEnabled: true },
  'on-premises': { ...SECURITY, onPremisesSyncEnabled: true },
  'role-assignable': { ...SECURITY, isAssignableToRole: true },
  'hidden-membership': {
    groupTypes: ['Unified'],
    mailEnabled: true,
    securityEnabled: false,
    visibility: 'HiddenMembership',
  },
  owned: SECURITY,
}

/** Six security groups, and one of each other kind. */
const KINDS = (Object.keys(PROPERTIES) as GroupKind[]).flatMap((kind) =>
  Array<GroupKind>(kind === 'security' ? 6 : 1).fill(kind),
)

type GroupOptions = {
  readonly seed: string
  readonly tenantId: string
  readonly domain: string
  /** Users who are not in any collection. */
  readonly strangerIds: readonly string[]
  readonly servicePrincipalId: string
  /** The service's own service principal. */
  readonly ownerId: string
}

/** The demo groups of a tenant, and a group that is nested in the populated group. */
export function demoGroups({
  seed,
  tenantId,
  domain,
  strangerIds,
  servicePrincipalId,
  ownerId,
}: GroupOptions): GroupSeed[] {
  const idOf = (name: string) => derivedGuid(seed, tenantId, 'group', name)
  const nestedId = idOf('nested')
  const members: Partial<Record<GroupKind, readonly string[]>> = {
    populated: [...strangerIds, nestedId, servicePrincipalId],
    dynamic: strangerIds,
    'hidden-membership': strangerIds,
  }
  const groups = KINDS.map((kind, index): GroupSeed => {
    const number = KINDS.slice(0, index).filter((earlier) => earlier === kind).length + 1
    const name = kind === 'security' ? `${kind}-${number}` : kind
    const mail = PROPERTIES[kind].mailEnabled === true ? { mail: `demo-${name}@${domain}` } : {}
    return {
      id: idOf(name),
      displayName: `Demo ${name}`,
      kind,
      properties: { ...PROPERTIES[kind], mailNickname: `demo-${name}`, ...mail },
      memberIds: members[kind] ?? [],
      ...(kind === 'owned' ? { ownerIds: [ownerId] } : {}),
    }
  })
  const nested = { ...SECURITY, mailNickname: 'demo-nested' }
  return [{ id: nestedId, displayName: 'Demo nested', properties: nested, memberIds: [] }, ...groups]
}
